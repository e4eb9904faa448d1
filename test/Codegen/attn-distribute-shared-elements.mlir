// attn-distribute: what all of a diagonal, or of a column, reads is read once, and what is added to one element of memory is added up before. Of a 64 x 16 tile a thread holds elements
// 0, 1, 4 and 5 of a row, at columns 0, 1, 8 and 9, and the others eight rows below: those at distances 0 and 0, 1 and 1 are one.
// RUN: attn-opt %s --attn-distribute | FileCheck %s

!acc = tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!int = tensor<64x16xi32, #tile.layout<atom = wgmma_acc, repeats = 2>>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// CHECK-LABEL: ws.kernel @diagonals
// CHECK: %[[TILE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK: %[[INDEX:.*]] = arith.select
// CHECK: %[[A:.*]] = vector.extract %[[TILE]][0] : f32 from vector<8xf32>
// CHECK: %[[B:.*]] = vector.extract %[[TILE]][6] : f32 from vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[NEXT:.*]] = nvvm.shfl.sync down %{{.*}}, %[[SUM]]
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]], %[[NEXT]]
// CHECK: %[[TWO:.*]] = arith.select %{{.*}}, %[[MORE]], %[[SUM]]
// CHECK: nvvm.shfl.sync down %{{.*}}, %[[TWO]]
// CHECK: %[[SUMS:.*]] = vector.from_elements {{.*}} : vector<6xf32>
// CHECK: %[[PLACES:.*]] = vector.shuffle %[[INDEX]], %[[INDEX]] [0, 1, 2, 3, 4, 5]
// CHECK: tile.scatter %[[SUMS]], %{{.*}} add[%{{.*}}, %[[PLACES]] : i32, vector<6xi32>]
ws.kernel @diagonals machine "sm_90a" args ["o" accumulate, "n"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?xf32>, %n: i32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %x = arith.constant dense<1.0> : !acc
    %zero = arith.constant dense<0> : !int
    %i = tile.coords %me dim 0 : !int
    %j = tile.coords %me dim 1 : !int
    %middle = tensor.splat %n : !int
    %moved = arith.addi %i, %middle : !int
    %apart = arith.subi %moved, %j : !int
    %below = arith.cmpi slt, %apart, %zero : !int
    %index = arith.select %below, %zero, %apart : tensor<64x16xi1, #tile.layout<atom = wgmma_acc, repeats = 2>>, !int
    tile.scatter %x, %o add[%n, %index : i32, !int] : !acc, tensor<?x?xf32>
  }
}

// Nothing is known of other indices, and stores are not added up.
// CHECK-LABEL: ws.kernel @others
// CHECK-COUNT-5: tile.scatter %{{.*}}, {{.*}} : vector<8xf32>, tensor<?x?xf32>
ws.kernel @others machine "sm_90a" args ["o" accumulate, "p" write, "ids", "n"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?xf32>, %p: tensor<?x?xf32>, %ids: tensor<?xi32>, %n: i32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %x = arith.constant dense<1.0> : !acc
    %i = tile.coords %me dim 0 : !int
    %j = tile.coords %me dim 1 : !int
    %sum = arith.addi %i, %j : !int
    tile.scatter %x, %o add[%n, %sum : i32, !int] : !acc, tensor<?x?xf32>
    %apart = arith.subi %i, %j : !int
    tile.scatter %x, %o add[%i, %apart : !int, !int] : !acc, tensor<?x?xf32>
    %id = tile.gather %ids[%i : !int] : tensor<?xi32> -> !int
    tile.scatter %x, %o add[%n, %id : i32, !int] : !acc, tensor<?x?xf32>
    %twice = arith.addi %apart, %i : !int
    tile.scatter %x, %o add[%n, %twice : i32, !int] : !acc, tensor<?x?xf32>
    tile.scatter %x, %p[%n, %apart : i32, !int] : !acc, tensor<?x?xf32>
  }
}

// A thread reads six elements in place of eight.
// CHECK-LABEL: ws.kernel @reads
// CHECK: %[[APART:.*]] = arith.subi {{.*}} : vector<8xi32>
// CHECK: %[[PLACES:.*]] = vector.shuffle %[[APART]], %[[APART]] [0, 1, 2, 3, 4, 5]
// CHECK: %[[READ:.*]] = tile.gather %{{.*}}[%{{.*}}, %[[PLACES]] : i32, vector<6xi32>] : tensor<?x?xf32> -> vector<6xf32>
// CHECK: %[[ALL:.*]] = vector.shuffle %[[READ]], %[[READ]] [0, 1, 2, 3, 4, 5, 0, 1] : vector<6xf32>, vector<6xf32>
// CHECK: tile.scatter %[[ALL]],
// Of a sum of row and column, or of one of the two, each element is read.
// CHECK: tile.gather {{.*}} -> vector<8xf32>
// CHECK: tile.gather {{.*}} -> vector<8xf32>
ws.kernel @reads machine "sm_90a" args ["o" write, "table", "n"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?xf32>, %table: tensor<?x?xf32>, %n: i32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %i = tile.coords %me dim 0 : !int
    %j = tile.coords %me dim 1 : !int
    %apart = arith.subi %j, %i : !int
    %x = tile.gather %table[%n, %apart : i32, !int] : tensor<?x?xf32> -> !acc
    tile.scatter %x, %o[%i, %j : !int, !int] : !acc, tensor<?x?xf32>
    %sum = arith.addi %i, %j : !int
    %y = tile.gather %table[%n, %sum : i32, !int] : tensor<?x?xf32> -> !acc
    tile.scatter %y, %o[%i, %j : !int, !int] : !acc, tensor<?x?xf32>
    %z = tile.gather %table[%i, %apart : !int, !int] : tensor<?x?xf32> -> !acc
    tile.scatter %z, %o[%i, %j : !int, !int] : !acc, tensor<?x?xf32>
  }
}

// The eight lanes with the same columns load different ones, two of every 64 columns each: here three columns apart in memory. Then each has those that it needs
// from the lane that has them: lane 4 r + q has columns 8 r + 2 q and the next.
// CHECK-LABEL: ws.kernel @columns
// CHECK: %[[OWN:.*]] = vector.extract %[[ALL:.*]][0] : i32 from vector<64xi32>
// CHECK: %[[APART:.*]] = arith.muli %{{.*}}, %c24_i32
// CHECK: %[[FIRST:.*]] = arith.addi %[[OWN]], %[[APART]]
// CHECK: arith.addi %[[FIRST]], %c0_i32
// CHECK: arith.addi %[[FIRST]], %c3_i32
// CHECK: arith.addi %[[FIRST]], %c192_i32
// CHECK: arith.addi %[[FIRST]], %c195_i32
// CHECK: %[[LOADED:.*]] = tile.gather %{{.*}}[%{{.*}}, %{{.*}} : i32, vector<4xi32>] : tensor<?x?xf32> -> vector<4xf32>
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %c0_i32{{.*}}, %c799_i32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %c0_i32{{.*}}, %c799_i32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %c4_i32
// CHECK-COUNT-13: nvvm.shfl.sync idx
// CHECK: %[[THIRD:.*]] = vector.extract %[[LOADED]][2]
// CHECK: nvvm.shfl.sync idx %{{.*}}, %[[THIRD]], %c0_i32
// CHECK: %[[FOURTH:.*]] = vector.extract %[[LOADED]][3]
// CHECK: nvvm.shfl.sync idx %{{.*}}, %[[FOURTH]], %c0_i32
// CHECK-COUNT-14: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: tile.scatter
// Few columns, or numbers that are no sums, are read by all.
// CHECK: tile.gather {{.*}} -> vector<8xf32>
// CHECK: tile.gather {{.*}} -> vector<64xf32>
!wide = tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
!wide_int = tensor<64x128xi32, #tile.layout<atom = wgmma_acc, repeats = 16>>
ws.kernel @columns machine "sm_90a" args ["o" write, "table", "n"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?xf32>, %table: tensor<?x?xf32>, %n: i32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %i = tile.coords %me dim 0 : !wide_int
    %j = tile.coords %me dim 1 : !wide_int
    %twice = arith.addi %j, %j : !wide_int
    %thrice = arith.addi %twice, %j : !wide_int
    %x = tile.gather %table[%n, %thrice : i32, !wide_int] : tensor<?x?xf32> -> !wide
    tile.scatter %x, %o[%i, %j : !wide_int, !wide_int] : !wide, tensor<?x?xf32>
    %ii = tile.coords %me dim 0 : !int
    %jj = tile.coords %me dim 1 : !int
    %y = tile.gather %table[%n, %jj : i32, !int] : tensor<?x?xf32> -> !acc
    tile.scatter %y, %o[%ii, %jj : !int, !int] : !acc, tensor<?x?xf32>
    %square = arith.muli %j, %j : !wide_int
    %z = tile.gather %table[%n, %square : i32, !wide_int] : tensor<?x?xf32> -> !wide
    tile.scatter %z, %o[%i, %j : !wide_int, !wide_int] : !wide, tensor<?x?xf32>
  }
}
