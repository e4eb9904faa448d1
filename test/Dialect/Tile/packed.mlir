// Rows of several heads of one position.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

#packed = affine_map<(b, h, i, c) -> (b, i floordiv 4, h * 4 + i mod 4, c)>
#heads_first = affine_map<(b, h, i, c) -> (b, h * 64 + i mod 64, i floordiv 64, c)>

// CHECK-DAG: #[[$PACKED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 4, d1 * 4 + d2 mod 4, d3)>
// CHECK-DAG: #[[$HEADS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 64 + d2 mod 64, d2 floordiv 64, d3)>
// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<?x?x?x64xbf16>, %l: tensor<?x?x?xf32>, %row: tensor<64xf32>, %i: i32) {
  // CHECK: %[[T:.*]] = tile.load {{.*}} #[[$PACKED]]
  %t = tile.load %x at(%i, %i, %i) #packed : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
  // CHECK: tile.store %[[T]], {{.*}} #[[$HEADS]]
  tile.store %t, %x at(%i, %i, %i) #heads_first : tensor<128x64xbf16>, tensor<?x?x?x64xbf16>
  // CHECK: tile.store_row {{.*}} pack 4 : tensor<64xf32>
  tile.store_row %row, %l at(%i, %i, %i) pack 4 : tensor<64xf32>, tensor<?x?x?xf32>
  return
}
