// A loaded tile has a layout if an op other than an MMA computes with it:
// its threads load it into registers.
// RUN: attn-opt %s --attn-resolve-layouts | FileCheck %s

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// CHECK-LABEL: tile.kernel @loads
tile.kernel @loads args ["k", "x"]
    problem <kind = combine, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 64, work = grid>
    schedule <"loads" machine "sm_90a" { role wg warps 4 regs 240 }> {
^bb0(%k: tensor<?x?x?x64xbf16>, %x: tensor<?x?x?x64xf32>):
  %c0 = arith.constant 0 : i32
  tile.work {
    // CHECK: tile.step @to_smem() : () -> tensor<64x64xbf16>
    %a = tile.step @to_smem () : () -> tensor<64x64xbf16> {
      // CHECK: tile.load {{.*}} -> tensor<64x64xbf16>{{$}}
      %t = tile.load %k at(%c0, %c0, %c0) #bshd : tensor<?x?x?x64xbf16> -> tensor<64x64xbf16>
      tile.yield %t : tensor<64x64xbf16>
    }
    // CHECK: tile.step @to_registers() : () -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
    %b = tile.step @to_registers () : () -> tensor<64x64xf32> {
      // CHECK: tile.load {{.*}} -> tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
      %t = tile.load %x at(%c0, %c0, %c0) #bshd : tensor<?x?x?x64xf32> -> tensor<64x64xf32>
      tile.yield %t : tensor<64x64xf32>
    }
    %c = tile.step @product (%a) : (tensor<64x64xbf16>) -> tensor<64x64xf32> {
    ^bb0(%u: tensor<64x64xbf16>):
      %t = tile.mma %u, %u : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      tile.yield %t : tensor<64x64xf32>
    }
    %d = tile.step @sum (%b, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%u: tensor<64x64xf32>, %v: tensor<64x64xf32>):
      %t = arith.addf %u, %v : tensor<64x64xf32>
      tile.yield %t : tensor<64x64xf32>
    }
  }
}
