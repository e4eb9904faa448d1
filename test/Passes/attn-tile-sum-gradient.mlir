// The tile program of the sums of a gradient: a row for each of its elements, and columns for what is summed to it.
// RUN: attn-opt %s --attn-configure --attn-tile-sum-gradient | FileCheck %s -enable-var-scope

// CHECK-LABEL: tile.kernel @slopes args ["slopes_sums" partial_sums, "dslopes" capture_gradient write ("slopes_d0")]
// CHECK-SAME: problem <kind = sum,
// CHECK-SAME: config <tile_m = 64, tile_n = 64, work = grid>
// CHECK: ^bb0(%[[SUMS:.*]]: tensor<?x?x?xf32>, %[[GRADIENT:.*]]: tensor<?xbf16>):
// CHECK: tile.step @next
// CHECK: tile.bounds
// CHECK: tile.for ranges <down [full]>
// CHECK: tile.step @add
// CHECK: %[[HEADS:.*]] = tile.coords %{{.*}} dim 0 : tensor<64x64xi32>
// CHECK: %[[NUMBERS:.*]] = tile.coords %{{.*}} dim 1 : tensor<64x64xi32>
// CHECK: %[[POSITIONS:.*]] = arith.remui %[[NUMBERS]]
// CHECK: %[[BATCHES:.*]] = arith.divui %[[NUMBERS]]
// CHECK: %[[SOME:.*]] = tile.gather %[[SUMS]][%[[BATCHES]], %[[HEADS]], %[[POSITIONS]] :
// CHECK: tile.reduce add %[[SOME]] dim 1 partial
// CHECK: tile.step @total
// CHECK: tile.step @st
// CHECK: %[[TILE:.*]] = tile.broadcast %{{.*}} dim 1 : tensor<64xf32> -> tensor<64x16xf32>
// CHECK: tile.scatter %[[TILE]], %[[GRADIENT]][
func.func @slopes(%sums: tensor<?x?x?xf32>) -> tensor<?xbf16> {
  %g = attn.sum_gradient %sums of "slopes" at affine_map<(b, h, p) -> (h)> : tensor<?x?x?xf32> -> tensor<?xbf16>
  return %g : tensor<?xbf16>
}

// The scale is divided by. Only element 0 has a sum.
// CHECK-LABEL: tile.kernel @scale args ["scale_sums" partial_sums, "scale" scale from {{.*}}, "dscale" capture_gradient write]
// CHECK: ^bb0(%{{.*}}: tensor<?x?x?xf32>, %[[SCALE:.*]]: f32, %{{.*}}: tensor<1xf32>):
// CHECK: tile.step @add
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xi1>, tensor<64x64xi32>
// CHECK: tile.gather
// CHECK: tile.step @st
// CHECK: %[[BY:.*]] = tensor.splat %[[SCALE]]
// CHECK: arith.divf %{{.*}}, %[[BY]]
func.func @scale(%sums: tensor<?x?x?xf32>, %scale: f32) -> tensor<1xf32> {
  %g = attn.sum_gradient %sums over(%scale) of "scale" at affine_map<(b, h, p) -> (0)> : tensor<?x?x?xf32> -> tensor<1xf32>
  return %g : tensor<1xf32>
}

// Sinks: minus delta times the probability of the sink, which is at most 1.
// CHECK-LABEL: tile.kernel @sinks args ["dl" delta ("b", "hq", "sr"), "lse2" lse2 ("b", "hq", "sr"), "sinks" sinks ("hq"), "dsinks" capture_gradient write ("hq")]
// CHECK: ^bb0(%[[DELTA:.*]]: tensor<?x?x?xf32>, %[[LSE2:.*]]: tensor<?x?x?xf32>, %[[SINKS:.*]]: tensor<?xf32>, %{{.*}}: tensor<?xf32>):
// CHECK: tile.step @add
// CHECK: %[[OF_ROWS:.*]] = tile.gather %[[DELTA]][%[[B:[0-9]+]], %[[H:[0-9]+]], %[[POSITION:[0-9]+]] :
// CHECK: %[[SINK:.*]] = tile.gather %[[SINKS]][%[[H]] :
// CHECK: %[[SCORE:.*]] = arith.mulf %[[SINK]], %{{.*}}
// CHECK: %[[LSE:.*]] = tile.gather %[[LSE2]][%[[B]], %[[H]], %[[POSITION]] :
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[SCORE]], %[[LSE]]
// CHECK: %[[EXPONENT:.*]] = arith.minimumf %[[DIFFERENCE]], %{{.*}}
// CHECK: %[[P:.*]] = math.exp2 %[[EXPONENT]]
// CHECK: %[[WEIGHT:.*]] = arith.negf %[[P]]
// CHECK: %[[SHARE:.*]] = arith.mulf %[[OF_ROWS]], %[[WEIGHT]]
// CHECK: tile.reduce add %[[SHARE]] dim 1 partial
func.func @sinks(%delta: tensor<?x?x?xf32>, %lse2: tensor<?x?x?xf32>, %sinks: tensor<?xf32>) -> tensor<?xf32> {
  %g = attn.sum_gradient %delta weights(%lse2, %sinks) of "sinks" at affine_map<(b, h, p) -> (h)> : tensor<?x?x?xf32> -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// CHECK-LABEL: func.func @none(
func.func @none(%x: f32) -> f32 {
  return %x : f32
}
