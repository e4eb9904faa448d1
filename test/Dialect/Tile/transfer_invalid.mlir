// RUN: attn-opt %s --split-input-file --verify-diagnostics

// C1
func.func @f(%rows: tensor<?x?xf32>, %i: i32) {
  // expected-error @+1 {{expected a result of rank 1 and 'source' of rank 3 with one element type, got 'tensor<16xf32>' and 'tensor<?x?xf32>'}}
  %r = tile.load_row %rows at(%i, %i, %i) : tensor<?x?xf32> -> tensor<16xf32>
  return
}

// -----

// C1
func.func @f(%x: tensor<16x64xf32>, %memory: tensor<?x?x?x?xf32>, %i: i32) {
  // expected-error @+1 {{expected 'dest' to have rank 4 and a static last dimension, got 'tensor<?x?x?x?xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<16x64xf32>, tensor<?x?x?x?xf32>
  return
}

// -----

// C2
func.func @f(%x: tensor<16x64xf32>, %memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>}}
  tile.store_reg %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, h, c, i)> : tensor<16x64xf32>, tensor<?x?x?x64xf32>
  return
}

// -----

// C3
func.func @f(%x: tensor<16x32xf32>, %memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{expected a tile of rank 2 with the element type and at least the last dimension of 'dest', got 'tensor<16x32xf32>' and 'tensor<?x?x?x64xf32>'}}
  tile.store_reg %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<16x32xf32>, tensor<?x?x?x64xf32>
  return
}

// -----

// C4
func.func @f(%x: tensor<16x64xbf16>, %memory: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @+1 {{expected 'tile' to have elements f32, got 'bf16'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<16x64xbf16>, tensor<?x?x?x64xbf16>
  return
}

// -----

// C1
func.func @f(%memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{expected 'source' to have rank 5 and a static last dimension, got 'tensor<?x?x?x64xf32>'}}
  %t = tile.load %memory at(%i, %i, %i) part(%i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  return
}

// -----

// C1
func.func @f(%rows: tensor<?x?x?xf32>, %x: tensor<16xf32>, %i: i32) {
  // expected-error @+1 {{expected 'tile' of rank 1 and 'dest' of rank 4 with one element type, got 'tensor<16xf32>' and 'tensor<?x?x?xf32>'}}
  tile.store_row %x, %rows at(%i, %i, %i) part(%i) : tensor<16xf32>, tensor<?x?x?xf32>
  return
}

// -----

// C1 of tile.mma
func.func @f(%a: tensor<128x64xbf16>, %b: tensor<64x32xbf16>) {
  // expected-error @+1 {{expected 'a' and 'b' of rank 2 and one 16-bit float type that agree in the contracted dimension, got 'tensor<128x64xbf16>' transposed and 'tensor<64x32xbf16>'}}
  %x = tile.mma %a, %b transpose_a : tensor<128x64xbf16>, tensor<64x32xbf16> -> tensor<64x32xf32>
  return
}
