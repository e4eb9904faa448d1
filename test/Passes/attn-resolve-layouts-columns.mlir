// attn-resolve-layouts: a vector has the layout of a tile without the dimension
// along which it was reduced or is broadcast. Vectors that are computed from
// one another share it, through steps, loops and branches.
// RUN: attn-opt %s --attn-resolve-layouts -split-input-file -verify-diagnostics | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
tile.kernel @columns args ["n", "s"] problem #p
    schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
^bb0(%n: i32, %scale: f32):
  tile.work {
    // CHECK: arith.constant dense<0.000000e+00> : tensor<64x32xf32, #tile.layout<atom = wgmma_acc, repeats = 4>>
    %x = arith.constant dense<0.0> : tensor<64x32xf32>
    // CHECK: arith.constant dense<1.000000e+00> : tensor<32xf32, #tile.layout<atom = wgmma_acc, repeats = 4, slice = 2>>
    %one = arith.constant dense<1.0> : tensor<32xf32>
    // CHECK: tile.for {{.*}} -> tensor<32xf32, #tile.layout<atom = wgmma_acc, repeats = 4, slice = 2>>
    %l = tile.for ranges <down [full]> bounds(%n, %n) init(%one) : (tensor<32xf32>) -> tensor<32xf32> {
    ^bb0(%j: i32, %l0: tensor<32xf32>):
      %l1 = tile.step @sum (%x, %l0) : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<32xf32> {
      ^bb0(%t: tensor<64x32xf32>, %old: tensor<32xf32>):
        %new = tile.reduce add %t dim 0 partial : tensor<64x32xf32> -> tensor<32xf32>
        %sum = arith.addf %old, %new : tensor<32xf32>
        tile.yield %sum : tensor<32xf32>
      }
      tile.yield %l1 : tensor<32xf32>
    }
    // A vector without rows and one without columns, of one tile.
    %y = tile.step @norm (%x, %l) : (tensor<64x32xf32>, tensor<32xf32>) -> tensor<64x32xf32> {
    ^bb0(%t: tensor<64x32xf32>, %sum: tensor<32xf32>):
      // CHECK: tile.reduce max {{.*}} -> tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
      %m = tile.reduce max %t dim 1 : tensor<64x32xf32> -> tensor<64xf32>
      %rows = tile.broadcast %m dim 1 : tensor<64xf32> -> tensor<64x32xf32>
      // CHECK: tile.broadcast {{.*}} dim 0 : tensor<32xf32, #tile.layout<atom = wgmma_acc, repeats = 4, slice = 2>>
      %columns = tile.broadcast %sum dim 0 : tensor<32xf32> -> tensor<64x32xf32>
      %r = arith.mulf %rows, %columns : tensor<64x32xf32>
      tile.yield %r : tensor<64x32xf32>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
tile.kernel @both args ["s"] problem #p
    schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
^bb0(%scale: f32):
  tile.work {
    %x = arith.constant dense<0.0> : tensor<64x64xf32>
    %y = tile.step @norm (%x) : (tensor<64x64xf32>) -> tensor<64xf32> {
    ^bb0(%t: tensor<64x64xf32>):
      // expected-note @below {{one of the others}}
      %rows = tile.reduce add %t dim 1 : tensor<64x64xf32> -> tensor<64xf32>
      // expected-error @below {{'tile.reduce' op attn-resolve-layouts: expected a vector along dimension 0, as others that it is computed with, got one along dimension 1}}
      %columns = tile.reduce add %t dim 0 partial : tensor<64x64xf32> -> tensor<64xf32>
      %r = arith.addf %rows, %columns : tensor<64xf32>
      tile.yield %r : tensor<64xf32>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
// expected-error @below {{'tile.kernel' op attn-resolve-layouts: no lowering for machine 'sm_100a'}}
tile.kernel @machine args ["s"] problem #p schedule <"s" machine "sm_100a" { role wg warps 4 regs 240 }> {
^bb0(%scale: f32):
  tile.work {
  }
}
