// attn-subtile: a product of the rows of all sub-tiles, of which each makes a share.
// RUN: sed 's/AXIS/D/' %s | attn-opt --attn-subtile | FileCheck %s --check-prefixes=CHECK,COLUMNS
// RUN: sed 's/AXIS/N/' %s | attn-opt --attn-subtile | FileCheck %s --check-prefixes=CHECK,ROWS
// A second run of the pass cuts nothing.
// RUN: sed 's/AXIS/D/' %s | attn-opt --attn-subtile --attn-subtile | FileCheck %s --check-prefixes=CHECK,COLUMNS

#map = affine_map<(b, h, i, c) -> (b, h, i, c)>
tile.kernel @across args ["k", "sums" accumulate, "n"]
    problem <kind = bwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"across" machine "sm_90a" { split M 2 whole(k) also(dq : AXIS) role wg[2] warps 4 regs 240 }> {
^bb0(%k: tensor<128x64xbf16>, %sums: tensor<?x?x?x64xf32>, %n: i32):
  tile.work {
    // CHECK: %[[DS:.*]] = tile.step @cvt_ds() : () -> tensor<64x128xbf16>
    %ds = tile.step @cvt_ds () : () -> tensor<128x128xbf16> {
      %x = arith.constant dense<0.0> : tensor<128x128xbf16>
      tile.yield %x : tensor<128x128xbf16>
    }
    // Each sub-tile gives its rows; the result has all.
    // CHECK: %[[SHARED:.*]] = tile.step @put_ds(%[[DS]]) : (tensor<64x128xbf16>) -> tensor<128x128xbf16>
    // CHECK: tile.share %{{.*}} : tensor<64x128xbf16> -> tensor<128x128xbf16>
    %shared = tile.step @put_ds (%ds) : (tensor<128x128xbf16>) -> tensor<128x128xbf16> {
    ^bb0(%a: tensor<128x128xbf16>):
      %x = tile.share %a : tensor<128x128xbf16> -> tensor<128x128xbf16>
      tile.yield %x : tensor<128x128xbf16>
    }
    // CHECK: tile.step @mm_dq(%[[SHARED]], %{{.*}}) : (tensor<128x128xbf16>, tensor<128x64xbf16>)
    // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<128x128xbf16>, %[[B:.*]]: tensor<128x64xbf16>):
    // CHECK-NEXT: %[[ME:.*]] = tile.subtile_id
    // COLUMNS-NEXT: %[[SHARE:.*]] = tile.piece %[[B]][%[[ME]]] columns : tensor<128x64xbf16> -> tensor<128x32xbf16>
    // COLUMNS-NEXT: tile.mma %[[A]], %[[SHARE]] transpose_a : tensor<128x128xbf16>, tensor<128x32xbf16> -> tensor<128x32xf32>
    // ROWS-NEXT: %[[SHARE:.*]] = tile.piece %[[A]][%[[ME]]] columns : tensor<128x128xbf16> -> tensor<128x64xbf16>
    // ROWS-NEXT: tile.mma %[[SHARE]], %[[B]] transpose_a : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
    %dq = tile.step @mm_dq (%shared, %k) : (tensor<128x128xbf16>, tensor<128x64xbf16>) -> tensor<128x64xf32> {
    ^bb0(%a: tensor<128x128xbf16>, %b: tensor<128x64xbf16>):
      %x = tile.mma %a, %b transpose_a : tensor<128x128xbf16>, tensor<128x64xbf16> -> tensor<128x64xf32>
      tile.yield %x : tensor<128x64xf32>
    }
    // Each adds its share where it belongs.
    // CHECK: tile.step @red_dq
    // CHECK: %[[ME:.*]] = tile.subtile_id
    // COLUMNS: %[[SIZE:.*]] = arith.constant 32 : i32
    // COLUMNS: %[[FIRST:.*]] = arith.muli %[[ME]], %[[SIZE]]
    // COLUMNS: tile.reduce_add %{{.*}}, %{{.*}} at(%[[N:.*]], %[[N]], %[[N]], %[[FIRST]]) #{{.*}} grouped : tensor<128x32xf32>
    // ROWS: %[[SIZE:.*]] = arith.constant 64 : i32
    // ROWS: %[[LATER:.*]] = arith.muli %[[ME]], %[[SIZE]]
    // ROWS: %[[FIRST:.*]] = arith.addi %[[N:.*]], %[[LATER]]
    // ROWS: tile.reduce_add %{{.*}}, %{{.*}} at(%[[N]], %[[N]], %[[FIRST]]) #{{.*}} grouped : tensor<64x64xf32>
    tile.step @red_dq (%dq) : (tensor<128x64xf32>) -> () {
    ^bb0(%a: tensor<128x64xf32>):
      tile.reduce_add %a, %sums at(%n, %n, %n) #map grouped : tensor<128x64xf32>, tensor<?x?x?x64xf32>
      tile.yield
    }
  }
}
