// attn-subtile: a product whose rows are columns of a loaded tile, of which each sub-tile makes some. It reads all rows of a shared tile.
// RUN: attn-opt %s --attn-subtile | FileCheck %s

#map = affine_map<(b, h, i, c) -> (b, h, i, c)>
tile.kernel @across args ["k", "sums" accumulate, "n"]
    problem <kind = bwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 80, work = grid, share_rows = columns>
    schedule <"across" machine "sm_90a" { split M 2 whole(k) also(dqt : D) role wg[2] warps 4 regs 240 }> {
^bb0(%k: tensor<128x128xbf16>, %sums: tensor<?x?x?x128xf32>, %n: i32):
  tile.work {
    %ds = tile.step @cvt_ds () : () -> tensor<128x80xbf16> {
      %x = arith.constant dense<0.0> : tensor<128x80xbf16>
      tile.yield %x : tensor<128x80xbf16>
    }
    // CHECK: tile.share %{{.*}} : tensor<64x80xbf16> -> tensor<128x80xbf16>
    %shared = tile.step @put_ds (%ds) : (tensor<128x80xbf16>) -> tensor<128x80xbf16> {
    ^bb0(%a: tensor<128x80xbf16>):
      %x = tile.share %a : tensor<128x80xbf16> -> tensor<128x80xbf16>
      tile.yield %x : tensor<128x80xbf16>
    }
    // CHECK: tile.step @mm_dqt({{.*}}) : (tensor<128x80xbf16>, tensor<128x128xbf16>) -> tensor<64x80xf32>
    // CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<128x80xbf16>, %[[A:.*]]: tensor<128x128xbf16>):
    // CHECK-NEXT: %[[ME:.*]] = tile.subtile_id
    // CHECK-NEXT: %[[SHARE:.*]] = tile.piece %[[A]][%[[ME]]] columns : tensor<128x128xbf16> -> tensor<128x64xbf16>
    // CHECK-NEXT: tile.mma %[[SHARE]], %[[B]] transpose_a : tensor<128x64xbf16>, tensor<128x80xbf16> -> tensor<64x80xf32>
    %dq = tile.step @mm_dqt (%shared, %k) : (tensor<128x80xbf16>, tensor<128x128xbf16>) -> tensor<128x80xf32> {
    ^bb0(%b: tensor<128x80xbf16>, %a: tensor<128x128xbf16>):
      %x = tile.mma %a, %b transpose_a : tensor<128x128xbf16>, tensor<128x80xbf16> -> tensor<128x80xf32>
      tile.yield %x : tensor<128x80xf32>
    }
    // Its rows are columns of the sums.
    // CHECK: tile.step @red_dq
    // CHECK: %[[ME:.*]] = tile.subtile_id
    // CHECK: %[[SIZE:.*]] = arith.constant 64 : i32
    // CHECK: %[[FIRST:.*]] = arith.muli %[[ME]], %[[SIZE]]
    // CHECK: tile.reduce_add %{{.*}}, %{{.*}} at(%[[N:.*]], %[[N]], %[[N]], %[[FIRST]]) #{{.*}} grouped transposed : tensor<64x80xf32>
    tile.step @red_dq (%dq) : (tensor<128x80xf32>) -> () {
    ^bb0(%a: tensor<128x80xf32>):
      tile.reduce_add %a, %sums at(%n, %n, %n) #map grouped transposed : tensor<128x80xf32>, tensor<?x?x?x128xf32>
      tile.yield
    }
  }
}
