// attn-resolve-layouts: tiles in registers have the layout of the accumulator,
// row vectors a slice of it; loaded tiles have no layout.
// RUN: attn-opt %s --attn-resolve-layouts | FileCheck %s
// RUN: attn-opt %s --attn-resolve-layouts --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// Tiles that have layouts keep them.
// RUN: attn-opt %s --attn-resolve-layouts --attn-resolve-layouts | FileCheck %s

// REMARK: [Passed] resolve-layouts | Category:attn | {{.*}}0 register operands converted

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
// CHECK-LABEL: tile.kernel @small
tile.kernel @small args ["q", "k", "o" write, "lse" write, "n"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"small" machine "sm_90a" { split M 2 whole(q) role wg[2] warps 4 regs 240 }> {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %n: i32):
  tile.work {
    // CHECK: tile.step @ld_q() : () -> tensor<128x64xbf16> {
    %qt = tile.step @ld_q () : () -> tensor<128x64xbf16> {
      %t = tile.load %q at(%n, %n, %n) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %t : tensor<128x64xbf16>
    }
    %kt = tile.step @ld_k () : () -> tensor<128x64xbf16> {
      %t = tile.load %k at(%n, %n, %n) #bshd : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
      tile.yield %t : tensor<128x64xbf16>
    }
    // A value for each row, carried by a loop.
    // CHECK: arith.constant dense<0.000000e+00> : tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    // CHECK: tile.for {{.*}} : (tensor<64xf32, #[[ROW:tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>]]>) -> tensor<64xf32, #[[ROW]]> {
    // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: tensor<64xf32, #[[ROW]]>):
    %l = tile.for ranges <down [full]> bounds(%n, %n) init(%zero) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%j: i32, %l0: tensor<64xf32>):
      // The product is an accumulator; its operands lie in shared memory.
      // CHECK: tile.step @qk({{.*}}) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32, #[[ACC:tile.layout<atom = wgmma_acc, repeats = 16>]]> {
      // CHECK: tile.piece %{{.*}} : tensor<128x64xbf16> -> tensor<64x64xbf16>
      // CHECK: tile.mma %{{.*}} transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32, #[[ACC]]>
      %s = tile.step @qk (%qt, %kt) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
        %me = tile.subtile_id
        %piece = tile.piece %a[%me] : tensor<128x64xbf16> -> tensor<64x64xbf16>
        %x = tile.mma %piece, %b transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      // Tiles that are computed with it have the same layout.
      // CHECK: tile.step @mask masked(%{{.*}}) : (tensor<64x128xf32, #[[ACC]]>) -> tensor<64x128xf32, #[[ACC]]> {
      // CHECK: tile.coords %{{.*}} dim 0 : tensor<64x128xi32, #[[ACC]]>
      // CHECK: arith.sitofp %{{.*}} : tensor<64x128xi32, #[[ACC]]> to tensor<64x128xf32, #[[ACC]]>
      // CHECK: arith.addf %{{.*}} : tensor<64x128xf32, #[[ACC]]>
      %m = tile.step @mask masked (%s) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%x: tensor<64x128xf32>):
        %i = tile.coords %j dim 0 : tensor<64x128xi32>
        %f = arith.sitofp %i : tensor<64x128xi32> to tensor<64x128xf32>
        %y = arith.addf %x, %f : tensor<64x128xf32>
        tile.yield %y : tensor<64x128xf32>
      }
      // CHECK: tile.reduce add %{{.*}} dim 1 : tensor<64x128xf32, #[[ACC]]> -> tensor<64xf32, #[[ROW]]>
      // CHECK: arith.addf %{{.*}} : tensor<64xf32, #[[ROW]]>
      %l1 = tile.step @sum (%m, %l0) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%x: tensor<64x128xf32>, %old: tensor<64xf32>):
        %r = tile.reduce add %x dim 1 : tensor<64x128xf32> -> tensor<64xf32>
        %new = arith.addf %old, %r : tensor<64xf32>
        tile.yield %new : tensor<64xf32>
      }
      tile.yield %l1 : tensor<64xf32>
    }
    // CHECK: tile.broadcast %{{.*}} dim 1 : tensor<64xf32, #[[ROW]]> -> tensor<64x64xf32, #[[OUT:tile.layout<atom = wgmma_acc, repeats = 8>]]>
    // CHECK: arith.truncf %{{.*}} : tensor<64x64xf32, #[[OUT]]> to tensor<64x64xbf16, #[[OUT]]>
    %oe = tile.step @cvt_o (%l) : (tensor<64xf32>) -> tensor<64x64xbf16> {
    ^bb0(%x: tensor<64xf32>):
      %wide = tile.broadcast %x dim 1 : tensor<64xf32> -> tensor<64x64xf32>
      %y = arith.truncf %wide : tensor<64x64xf32> to tensor<64x64xbf16>
      tile.yield %y : tensor<64x64xbf16>
    }
    // CHECK: tile.store %{{.*}} : tensor<64x64xbf16, #[[OUT]]>, tensor<?x?x?x64xbf16>
    tile.step @st_o (%oe) : (tensor<64x64xbf16>) -> () {
    ^bb0(%x: tensor<64x64xbf16>):
      tile.store %x, %o at(%n, %n, %n) #bshd : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
      tile.yield
    }
    // CHECK: tile.store_row %{{.*}} : tensor<64xf32, #[[ROW]]>, tensor<?x?x?xf32>
    tile.step @st_lse (%l) : (tensor<64xf32>) -> () {
    ^bb0(%x: tensor<64xf32>):
      tile.store_row %x, %lse at(%n, %n, %n) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
