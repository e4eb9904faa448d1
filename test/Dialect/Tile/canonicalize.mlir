// RUN: attn-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @broadcast_of_constant
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<64x16xf32>
// CHECK-NEXT: return %[[C]]
func.func @broadcast_of_constant() -> tensor<64x16xf32> {
  %c = arith.constant dense<2.0> : tensor<64xf32>
  %b = tile.broadcast %c dim 1 : tensor<64xf32> -> tensor<64x16xf32>
  return %b : tensor<64x16xf32>
}

// Constants of different elements stay.
// CHECK-LABEL: func.func @broadcast_of_vector
// CHECK: tile.broadcast
func.func @broadcast_of_vector() -> tensor<2x16xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = tile.broadcast %c dim 1 : tensor<2xf32> -> tensor<2x16xf32>
  return %b : tensor<2x16xf32>
}

// CHECK-LABEL: func.func @any_of_constant
// CHECK-NEXT: %[[T:.*]] = arith.constant true
// CHECK-NEXT: return %[[T]]
func.func @any_of_constant() -> i1 {
  %c = arith.constant dense<true> : tensor<64xi1>
  %a = tile.any %c : tensor<64xi1>
  return %a : i1
}

// CHECK-LABEL: func.func @any_of_value
// CHECK-NEXT: %[[A:.*]] = tile.any %{{.*}} : tensor<64xi1>
// CHECK-NEXT: return %[[A]]
func.func @any_of_value(%x: tensor<64xi1>) -> i1 {
  %a = tile.any %x : tensor<64xi1>
  return %a : i1
}

// CHECK-LABEL: func.func @piece_of_constant
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-NEXT: return %[[C]]
func.func @piece_of_constant(%i: i32) -> tensor<32xf32> {
  %c = arith.constant dense<1.0> : tensor<64xf32>
  %p = tile.piece %c[%i] : tensor<64xf32> -> tensor<32xf32>
  return %p : tensor<32xf32>
}

// CHECK-LABEL: func.func @piece_of_all_rows(
// CHECK-SAME: %[[X:.*]]: tensor<64xf32>
// CHECK-NEXT: return %[[X]]
func.func @piece_of_all_rows(%x: tensor<64xf32>, %i: i32) -> tensor<64xf32> {
  %p = tile.piece %x[%i] : tensor<64xf32> -> tensor<64xf32>
  return %p : tensor<64xf32>
}
