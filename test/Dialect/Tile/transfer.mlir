// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// CHECK-LABEL: func.func @moves
func.func @moves(%rows: tensor<?x?x?xf32>, %memory: tensor<?x?x?x64xf32>, %x: tensor<16x64xf32>, %i: i32) -> tensor<16xf32> {
  // CHECK: %[[R:.*]] = tile.load_row %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?x?x?xf32> -> tensor<16xf32>
  %r = tile.load_row %rows at(%i, %i, %i) : tensor<?x?x?xf32> -> tensor<16xf32>
  // CHECK: tile.reduce_add %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #map : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  tile.reduce_add %x, %memory at(%i, %i, %i) #bshd : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  // CHECK: tile.store_reg %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #map : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  tile.store_reg %x, %memory at(%i, %i, %i) #bshd : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  return %r : tensor<16xf32>
}
