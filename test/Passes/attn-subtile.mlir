// attn-subtile: steps that compute are cut, loads stay whole.
// RUN: attn-opt %s --attn-subtile | FileCheck %s
// RUN: attn-opt %s --attn-subtile --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// A second run of the pass cuts nothing.
// RUN: attn-opt %s --attn-subtile --attn-subtile | FileCheck %s

// REMARK: [Passed] subtile | Category:attn | {{.*}}2 sub-tiles of 64 rows

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
// CHECK-LABEL: tile.kernel @small
// CHECK: ^bb0(%{{.*}}, %[[N:.*]]: i32, %{{.*}}: tensor<?x?x?xf32>):
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n", "bias"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" { split M 2 whole(q) role wg[2] warps 4 regs 240 }> {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<128x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %n: i32, %bias: tensor<?x?x?xf32>):
  tile.work {
    // CHECK: tile.step @ld_q{{.*}} -> tensor<128x64xbf16>
    // CHECK: tile.load %{{.*}} at(%[[N]], %[[N]], %[[N]]) {{.*}} -> tensor<128x64xbf16>
    %qt = tile.step @ld_q () : () -> tensor<128x64xbf16> {
      %t = tile.load %q at(%n, %n, %n) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %t : tensor<128x64xbf16>
    }
    // CHECK: arith.constant dense<0.000000e+00> : tensor<64xf32>
    %zero = arith.constant dense<0.0> : tensor<128xf32>
    // CHECK: tile.for {{.*}} : (tensor<64xf32>) -> tensor<64xf32>
    // CHECK-NEXT: ^bb0(%[[J:.*]]: i32, %{{.*}}: tensor<64xf32>):
    %l = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<128xf32>) -> tensor<128xf32> {
    ^bb0(%j: i32, %l0: tensor<128xf32>):
      // A sub-tile reads its piece of a whole tile.
      // CHECK: tile.step @qk{{.*}} : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
      // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<128x64xbf16>, %[[B:.*]]: tensor<128x64xbf16>):
      // CHECK-NEXT: %[[ME:.*]] = tile.subtile_id
      // CHECK-NEXT: %[[PIECE:.*]] = tile.piece %[[A]][%[[ME]]] : tensor<128x64xbf16> -> tensor<64x64xbf16>
      // CHECK-NEXT: tile.mma %[[PIECE]], %[[B]] transpose_b
      %s = tile.step @qk (%qt, %k) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
        tile.yield %x : tensor<128x128xf32>
      }
      // A vector of columns is the same for all sub-tiles.
      // CHECK: tile.step @ld_bias{{.*}} -> tensor<128xf32>
      // CHECK-NEXT: tile.load_row %{{.*}} at(%[[N]], %[[N]], %[[J]]) : tensor<?x?x?xf32> -> tensor<128xf32>
      %columns = tile.step @ld_bias () : () -> tensor<128xf32> {
        %t = tile.load_row %bias at(%n, %n, %j) : tensor<?x?x?xf32> -> tensor<128xf32>
        tile.yield %t : tensor<128xf32>
      }
      // CHECK: tile.step @score{{.*}} : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
      // CHECK: tile.broadcast %{{.*}} dim 0 : tensor<128xf32> -> tensor<64x128xf32>
      %biased = tile.step @score (%s, %columns) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32> {
      ^bb0(%x: tensor<128x128xf32>, %row: tensor<128xf32>):
        %wide = tile.broadcast %row dim 0 : tensor<128xf32> -> tensor<128x128xf32>
        %y = arith.addf %x, %wide : tensor<128x128xf32>
        tile.yield %y : tensor<128x128xf32>
      }
      // Its rows begin 64 below those of the sub-tile before; its columns are
      // the same.
      // CHECK: tile.step @mask masked{{.*}} : (tensor<64x128xf32>) -> tensor<64x128xf32>
      // CHECK: %[[ME:.*]] = tile.subtile_id
      // CHECK-NEXT: %[[ROWS:.*]] = arith.constant 64 : i32
      // CHECK-NEXT: %[[OFFSET:.*]] = arith.muli %[[ME]], %[[ROWS]] : i32
      // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[J]], %[[OFFSET]] : i32
      // CHECK-NEXT: tile.coords %[[ROW]] dim 0 : tensor<64x128xi32>
      // CHECK-NEXT: tile.coords %[[J]] dim 1 : tensor<64x128xi32>
      %m = tile.step @mask masked (%biased) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%x: tensor<128x128xf32>):
        %row = tile.coords %j dim 0 : tensor<128x128xi32>
        %column = tile.coords %j dim 1 : tensor<128x128xi32>
        %f = arith.sitofp %row : tensor<128x128xi32> to tensor<128x128xf32>
        %y = arith.addf %x, %f : tensor<128x128xf32>
        tile.yield %y : tensor<128x128xf32>
      }
      // CHECK: tile.reduce add %{{.*}} dim 1 : tensor<64x128xf32> -> tensor<64xf32>
      %l1 = tile.step @sum (%m, %l0) : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128xf32> {
      ^bb0(%x: tensor<128x128xf32>, %old: tensor<128xf32>):
        %r = tile.reduce add %x dim 1 : tensor<128x128xf32> -> tensor<128xf32>
        %new = arith.addf %old, %r : tensor<128xf32>
        tile.yield %new : tensor<128xf32>
      }
      tile.yield %l1 : tensor<128xf32>
    }
    // CHECK: tile.broadcast %{{.*}} dim 1 : tensor<64xf32> -> tensor<64x64xf32>
    %oe = tile.step @cvt_o (%l) : (tensor<128xf32>) -> tensor<128x64xbf16> {
    ^bb0(%x: tensor<128xf32>):
      %wide = tile.broadcast %x dim 1 : tensor<128xf32> -> tensor<128x64xf32>
      %y = arith.truncf %wide : tensor<128x64xf32> to tensor<128x64xbf16>
      tile.yield %y : tensor<128x64xbf16>
    }
    // CHECK: tile.step @st_o
    // CHECK: %[[OFFSET:.*]] = arith.muli
    // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[N]], %[[OFFSET]] : i32
    // CHECK-NEXT: tile.store %{{.*}} at(%[[N]], %[[N]], %[[ROW]]) {{.*}} : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
    tile.step @st_o (%oe) : (tensor<128x64xbf16>) -> () {
    ^bb0(%x: tensor<128x64xbf16>):
      tile.store %x, %o at(%n, %n, %n) #bshd : tensor<128x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    // CHECK: tile.step @st_lse
    // CHECK: %[[OFFSET:.*]] = arith.muli
    // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[N]], %[[OFFSET]] : i32
    // CHECK-NEXT: tile.store_row %{{.*}} at(%[[N]], %[[N]], %[[ROW]]) : tensor<64xf32>, tensor<?x?x?xf32>
    tile.step @st_lse (%l) : (tensor<128xf32>) -> () {
    ^bb0(%x: tensor<128xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<128xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
