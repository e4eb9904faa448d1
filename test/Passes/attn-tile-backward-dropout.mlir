// The sign bit of P says which pairs are dropped: P is rounded as max(P, 0), and dP counts where P is greater than 0.
// RUN: attn-opt %s --attn-tile-backward | FileCheck %s -enable-var-scope

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
// CHECK-LABEL: tile.kernel @f
// CHECK: %[[FACTOR:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: tile.step @exp(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<64x32xf32>, tensor<32xf32>, !tile.work) -> tensor<64x32xf32> {
// CHECK: %[[P:.*]] = math.exp2
// The head is that of the query.
// CHECK: %[[HEAD:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: tile.dropout_key %{{.*}}, %{{.*}} at(%{{.*}}, %[[HEAD]])
// CHECK: %[[QUERIES:.*]] = tile.coords %{{.*}} dim 1
// CHECK: %[[KEYS:.*]] = tile.coords %{{.*}} dim 0
// CHECK: %[[KEPT:.*]] = tile.keep %[[QUERIES]], %[[KEYS]] transposed
// CHECK: %[[MINUS:.*]] = arith.negf %[[P]]
// CHECK: arith.select %[[KEPT]], %[[P]], %[[MINUS]]
// CHECK: tile.step @cvt_p
// CHECK: arith.maxnumf
// CHECK: tile.step @dsoft
// CHECK: tensor.splat %[[FACTOR]]
// CHECK: %[[FULL:.*]] = math.fma
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt
// CHECK: %[[D:.*]] = arith.select %[[POSITIVE]], %[[FULL]],
// CHECK: %[[A:.*]] = math.absf
// CHECK: arith.mulf %[[A]], %[[D]]
// CHECK: tile.step @cvt_dv
// CHECK: tensor.splat %[[FACTOR]]
func.func @f(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!t, !t) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dk_dv)
      config <tile_m = 64, tile_n = 32, work = grid> dropout(%rate, %state) : (!t, !t, !t, !t, !l)
  return %dk, %dv : !t, !t
}
