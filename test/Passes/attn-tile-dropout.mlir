// Dropout and sinks are steps of their own, which attn-fuse-online-softmax moves into those of the softmax. The factor of the pairs that are kept is
// applied to O.
// RUN: attn-opt %s --attn-tile | FileCheck %s -enable-var-scope
// RUN: attn-opt %s --attn-tile --attn-fuse-online-softmax | FileCheck %s -enable-var-scope --check-prefix=FUSED
// RUN: sed 's/work = grid/work = grid, pack_gqa = 2/' %s | not attn-opt --attn-tile 2>&1 | FileCheck %s --check-prefix=PACKED
// PACKED: error: 'attn.attention' op expected no regions, dropout or sinks with 'pack_gqa' above 1, because their head would differ by row, got 2

!t = tensor<?x?x?x64xbf16>
// CHECK-LABEL: tile.kernel @f args ["q" query ("b", "sq", "hq", "d"), "k" key {{.*}}, "scale" scale {{.*}}, "dropout_rate" dropout_rate from 0.000000e+00 to 1.000000e+00, "dropout_state" dropout_state, "sinks" sinks ("hq"), "o" output
// CHECK-SAME: "lse" lse{{.*}} dropout = true>
// CHECK: ^bb0({{.*}}: f32, %[[RATE:.*]]: f32, %[[STATE:.*]]: tensor<2xi64>, %[[SINKS:.*]]: tensor<?xf32>, %
// CHECK: arith.mulf %[[RATE]], %{{.*}} : f32
// CHECK: %[[DROP:.*]] = arith.minsi
// CHECK: %[[FACTOR:.*]] = arith.select
// CHECK: tile.step @mask
// CHECK: %[[KEEP:.*]] = tile.step @keep(%[[W:.*]]) : (!tile.work) -> tensor<64x64xi1> {
// CHECK: %[[BLOCK:.*]], %[[HEAD:.*]], %[[BATCH:.*]] = tile.work_coords
// CHECK: %[[SEED:.*]] = tile.gather %[[STATE]][%{{.*}} : i32] : tensor<2xi64> -> i64
// CHECK: %[[OFFSET:.*]] = tile.gather %[[STATE]]
// CHECK: %[[W0:.*]], %[[W1:.*]], %[[W2:.*]] = tile.dropout_key %[[SEED]], %[[OFFSET]] at(%[[BATCH]], %[[HEAD]])
// CHECK: %[[QUERIES:.*]] = tile.coords %{{.*}} dim 0
// CHECK: %[[KEYS:.*]] = tile.coords %{{.*}} dim 1
// CHECK: tile.keep %[[QUERIES]], %[[KEYS]] key(%[[W0]], %[[W1]], %[[W2]]) drop(%[[DROP]])
// CHECK: tile.step @attend(%{{.*}}, %{{.*}}, %{{.*}}, %[[KEEP]])
// CHECK: tile.attend {{.*}} keep(
// CHECK: tile.step @sink(%[[W]]) : (!tile.work) -> tensor<64xf32> {
// CHECK: tile.gather %[[SINKS]][%{{.*}} : i32] : tensor<?xf32> -> f32
// CHECK: tile.attend_result {{.*}} sinks(
// CHECK: tile.step @cvt_o
// CHECK: tensor.splat %[[FACTOR]]
// CHECK: arith.mulf

// FUSED-LABEL: tile.kernel @f
// FUSED-NOT: tile.step @keep
// FUSED-NOT: tile.step @sink
// FUSED: tile.step @sum
// FUSED-NOT: tile.keep
// FUSED: tile.step @cvt(%{{.*}}, %{{.*}}) : (tensor<64x64xf32>, !tile.work) -> tensor<64x64xbf16> {
// FUSED: %[[KEPT:.*]] = tile.keep
// FUSED: %[[P:.*]] = arith.select %[[KEPT]], %{{.*}}, %{{.*}} : tensor<64x64xi1>, tensor<64x64xf32>
// FUSED: arith.truncf %[[P]]
// FUSED: tile.step @fin(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<64xf32>, tensor<64xf32>, !tile.work) -> (tensor<64xf32>, tensor<64xf32>) {
// FUSED: tile.gather
// FUSED: arith.maximumf
func.func @f(%q: !t, %k: !t, %v: !t, %scale: f32, %rate: f32, %state: tensor<2xi64>, %sinks: tensor<?xf32>) -> (!t, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) dropout(%rate, %state) sinks(%sinks : tensor<?xf32>)
      config <tile_m = 64, tile_n = 64, work = grid> : (!t, !t, !t) -> (!t, tensor<?x?x?xf32>)
  return %o, %lse : !t, tensor<?x?x?xf32>
}
