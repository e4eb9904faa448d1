// RUN: attn-opt %s --split-input-file --verify-diagnostics

// C1
func.func @f(%rows: tensor<?x?xf32>, %i: i32) {
  // expected-error @+1 {{expected a result of rank 1 and a 'source' of rank 3 with its element type, got 'tensor<16xf32>' and 'tensor<?x?xf32>'}}
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
  // expected-error @+1 {{expected 'tile' to have rank 2 and the element type and last dimension of 'dest', got 'tensor<16x32xf32>' and 'tensor<?x?x?x64xf32>'}}
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
