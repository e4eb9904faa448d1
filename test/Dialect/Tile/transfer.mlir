// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// CHECK-LABEL: func.func @moves
func.func @moves(%rows: tensor<?x?x?xf32>, %memory: tensor<?x?x?x64xf32>, %x: tensor<16x64xf32>, %half: tensor<64x32xf32>, %i: i32) -> tensor<16xf32> {
  // CHECK: %[[R:.*]] = tile.load_row %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?x?x?xf32> -> tensor<16xf32>
  %r = tile.load_row %rows at(%i, %i, %i) : tensor<?x?x?xf32> -> tensor<16xf32>
  // CHECK: tile.reduce_add %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #map : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  tile.reduce_add %x, %memory at(%i, %i, %i) #bshd : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  // CHECK: tile.reduce_add %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) #map grouped : tensor<64x32xf32>, tensor<?x?x?x64xf32>
  tile.reduce_add %half, %memory at(%i, %i, %i, %i) #bshd grouped : tensor<64x32xf32>, tensor<?x?x?x64xf32>
  // CHECK: tile.load %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #map grouped : tensor<?x?x?x64xf32> -> tensor<64x64xf32>
  %grouped = tile.load %memory at(%i, %i, %i) #bshd grouped : tensor<?x?x?x64xf32> -> tensor<64x64xf32>
  // CHECK: tile.load {{.*}} grouped transposed(16) : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  %transposed = tile.load %memory at(%i, %i, %i) #bshd grouped transposed(16) : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  // CHECK: tile.reduce_add %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) first(%{{.*}}) #map : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  %yes = arith.constant true
  tile.reduce_add %x, %memory at(%i, %i, %i) first(%yes) #bshd : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  // CHECK: tile.reduce_add {{.*}} grouped transposed : tensor<64x32xf32>, tensor<?x?x?x64xf32>
  tile.reduce_add %half, %memory at(%i, %i, %i, %i) #bshd grouped transposed : tensor<64x32xf32>, tensor<?x?x?x64xf32>
  // CHECK: tile.store_reg %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) #map : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  tile.store_reg %x, %memory at(%i, %i, %i) #bshd : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  return %r : tensor<16xf32>
}

// CHECK-LABEL: func.func @turns
func.func @turns(%turns: tensor<?x?x?xi32>, %i: i32, %waits: i1) {
  // CHECK: tile.turn_wait %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) until %{{.*}} if %{{.*}} : tensor<?x?x?xi32>
  tile.turn_wait %turns at(%i, %i, %i) until %i if %waits : tensor<?x?x?xi32>
  // CHECK: tile.turn_pass %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) to %{{.*}} : tensor<?x?x?xi32>
  tile.turn_pass %turns at(%i, %i, %i) to %i : tensor<?x?x?xi32>
  return
}

// CHECK-LABEL: func.func @parts
func.func @parts(%rows: tensor<?x?x?x?xf32>, %memory: tensor<?x?x?x?x64xf32>, %i: i32) {
  // CHECK: %[[R:.*]] = tile.load_row %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) part(%{{.*}}) : tensor<?x?x?x?xf32> -> tensor<16xf32>
  %r = tile.load_row %rows at(%i, %i, %i) part(%i) : tensor<?x?x?x?xf32> -> tensor<16xf32>
  // CHECK: tile.store_row %[[R]], %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) part(%{{.*}}) pack 4 : tensor<16xf32>, tensor<?x?x?x?xf32>
  tile.store_row %r, %rows at(%i, %i, %i) part(%i) pack 4 : tensor<16xf32>, tensor<?x?x?x?xf32>
  // CHECK: %[[T:.*]] = tile.load %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) part(%{{.*}}) #map : tensor<?x?x?x?x64xf32> -> tensor<16x64xf32>
  %t = tile.load %memory at(%i, %i, %i) part(%i) #bshd : tensor<?x?x?x?x64xf32> -> tensor<16x64xf32>
  // CHECK: tile.store_reg %[[T]], %{{.*}} at(%{{.*}}, %{{.*}}, %{{.*}}) part(%{{.*}}) #map : tensor<16x64xf32>, tensor<?x?x?x?x64xf32>
  tile.store_reg %t, %memory at(%i, %i, %i) part(%i) #bshd : tensor<16x64xf32>, tensor<?x?x?x?x64xf32>
  return
}

// CHECK-LABEL: func.func @transposed_a
func.func @transposed_a(%a: tensor<128x64xbf16>, %b: tensor<128x32xbf16>) -> tensor<64x32xf32> {
  // CHECK: tile.mma %{{.*}}, %{{.*}} transpose_a : tensor<128x64xbf16>, tensor<128x32xbf16> -> tensor<64x32xf32>
  %x = tile.mma %a, %b transpose_a : tensor<128x64xbf16>, tensor<128x32xbf16> -> tensor<64x32xf32>
  return %x : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @elements
func.func @elements(%memory: tensor<?x?xbf16>, %sums: tensor<?xf32>, %x: tensor<16x64xf32>, %i: i32, %at: tensor<16x64xi32>, %begins: i1) -> tensor<16x64xf32> {
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}} : i32, tensor<16x64xi32>] : tensor<16x64xf32>, tensor<?x?xbf16>
  tile.scatter %x, %memory[%i, %at : i32, tensor<16x64xi32>] : tensor<16x64xf32>, tensor<?x?xbf16>
  // CHECK: tile.scatter %{{.*}}, %{{.*}} add[%{{.*}} : tensor<16x64xi32>] : tensor<16x64xf32>, tensor<?xf32>
  tile.scatter %x, %sums add [%at : tensor<16x64xi32>] : tensor<16x64xf32>, tensor<?xf32>
  // CHECK: tile.accumulate %{{.*}}, %{{.*}} first(%{{.*}}) : tensor<16x64xf32>
  %next = tile.accumulate %x, %x first(%begins) : tensor<16x64xf32>
  return %next : tensor<16x64xf32>
}
