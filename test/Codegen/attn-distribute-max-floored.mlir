// attn-distribute: a maximum with a floor of 0 compares the bits as signed integers.
// RUN: attn-opt %s --attn-distribute | FileCheck %s

!acc = tensor<64x16xf32, #tile.layout<atom = wgmma_acc, repeats = 2>>
!row = tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @floored machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: f32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %x = tensor.splat %n : !acc
    %m = tile.reduce max_floored %x dim 1 : !acc -> !row
    %y = math.exp2 %m : !row
  }
}

// CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK-NEXT: %[[BITS:.*]] = vector.bitcast %[[X]] : vector<8xf32> to vector<8xi32>
// CHECK-NEXT: %[[LOW:.*]] = vector.extract_strided_slice %[[BITS]] {offsets = [0], sizes = [4], strides = [1]}
// CHECK-NEXT: %[[HIGH:.*]] = vector.extract_strided_slice %[[BITS]] {offsets = [4], sizes = [4], strides = [1]}
// CHECK-NEXT: %[[CHAINS:.*]] = arith.maxsi %[[LOW]], %[[HIGH]] : vector<4xi32>
// CHECK-NEXT: %[[A:.*]] = vector.extract %[[CHAINS]][0]
// CHECK-NEXT: %[[B:.*]] = vector.extract %[[CHAINS]][1]
// CHECK-NEXT: %[[ROW0:.*]] = arith.maxsi %[[A]], %[[B]] : i32
// CHECK: %[[ROW1:.*]] = arith.maxsi
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: arith.maxsi %[[ROW0]], %[[ZERO]] : i32
// CHECK-NEXT: %[[ZERO1:.*]] = arith.constant 0 : i32
// CHECK-NEXT: arith.maxsi %[[ROW1]], %[[ZERO1]] : i32
// CHECK: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
// CHECK: %[[ROWS:.*]] = vector.from_elements {{.*}} : vector<2xi32>
// CHECK: %[[M:.*]] = vector.bitcast %{{.*}} : vector<2xi32> to vector<2xf32>
// CHECK: math.exp2 %[[M]] : vector<2xf32>
