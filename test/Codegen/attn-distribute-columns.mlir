// attn-distribute: vectors with an element a column. A thread of a 64 x 16 tile has four
// columns, two in each repeat, and holds an element for each.
// RUN: attn-opt %s --attn-distribute | FileCheck %s

!acc = tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!int = tensor<64x16xi32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!column = tensor<16xf32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>>
!index = tensor<16xi32, #tile.layout<atom = wgmma_acc, repeats = 2, slice = 2>>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @columns machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: f32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %true = arith.constant true
    %x = tensor.splat %n : !acc
    %sum = tile.reduce add %x dim 0 partial : !acc -> !column
    %max = arith.maxnumf %sum, %sum : !column
    %wide = tile.broadcast %max dim 0 : !column -> !acc
    %j = tile.coords %me dim 0 : !index
    %jf = arith.sitofp %j : !index to !column
    %kept:2 = scf.if %true -> (!column, !acc) {
      scf.yield %jf, %wide : !column, !acc
    } else {
      scf.yield %max, %x : !column, !acc
    }
    %unread = arith.addf %kept#1, %x : !acc
  }
}

// CHECK-LABEL: ws.kernel @columns
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32 : i32
// CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// Elements 0, 1, 4, 5 are those of the thread's first row, the others of its second.
// CHECK: %[[UPPER:.*]] = vector.shuffle %[[X]], %[[X]] [0, 1, 4, 5] : vector<8xf32>, vector<8xf32>
// CHECK: %[[LOWER:.*]] = vector.shuffle %[[X]], %[[X]] [2, 3, 6, 7] : vector<8xf32>, vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[UPPER]], %[[LOWER]] : vector<4xf32>
// CHECK: %[[MAX:.*]] = arith.maxnumf %[[SUM]], %[[SUM]] : vector<4xf32>
// CHECK: %[[WIDE:.*]] = vector.shuffle %[[MAX]], %[[MAX]] [0, 1, 0, 1, 2, 3, 2, 3] : vector<4xf32>, vector<4xf32>
// Columns 2 * (lane mod 4) and the next one, and the same two of the next
// repeat.
// CHECK: %[[QUAD:.*]] = arith.andi %[[LANE]], %c3_i32{{.*}} : i32
// CHECK: arith.muli %[[QUAD]], %c2_i32 : i32
// CHECK: arith.constant dense<[0, 1, 8, 9]> : vector<4xi32>
// CHECK: scf.if %{{.*}} -> (vector<4xf32>, vector<8xf32>)
