// RUN: attn-opt %s --split-input-file --verify-diagnostics

// C1
func.func @f(%rows: tensor<?x?xf32>, %i: i32) {
  // expected-error @+1 {{'tile.load_row' op operand #0 must be tensor of rank 3, or 4 with parts, but got 'tensor<?x?xf32>'}}
  %r = tile.load_row %rows at(%i, %i, %i) : tensor<?x?xf32> -> tensor<16xf32>
  return
}

// -----

// C1
func.func @f(%x: tensor<16x64xf32>, %memory: tensor<?x?x?x?xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op operand #1 must be tensor of rank 4 with a static last dimension, but got 'tensor<?x?x?x?xf32>'}}
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
  // expected-error @+1 {{'tile.store_reg' op expected a tile with the element type and at least the last dimension of 'dest', got 'tensor<16x32xf32>' and 'tensor<?x?x?x64xf32>'}}
  tile.store_reg %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<16x32xf32>, tensor<?x?x?x64xf32>
  return
}

// -----

// C4
func.func @f(%x: tensor<16x64xbf16>, %memory: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op operand #0 must be tile of rank 2 or a thread's share of f32, but got 'tensor<16x64xbf16>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<16x64xbf16>, tensor<?x?x?x64xbf16>
  return
}

// -----

// C1
func.func @f(%memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.load' op expected 'source' to have rank 5 with 'part', got 'tensor<?x?x?x64xf32>'}}
  %t = tile.load %memory at(%i, %i, %i) part(%i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  return
}

// -----

// C1
func.func @f(%rows: tensor<?x?x?xf32>, %x: tensor<16xf32>, %i: i32) {
  // expected-error @+1 {{'tile.store_row' op expected 'dest' to have rank 4 with 'part', got 'tensor<?x?x?xf32>'}}
  tile.store_row %x, %rows at(%i, %i, %i) part(%i) : tensor<16xf32>, tensor<?x?x?xf32>
  return
}

// -----

// C1 of tile.mma
func.func @f(%a: tensor<128x64xbf16>, %b: tensor<64x32xbf16>) {
  // expected-error @+1 {{'tile.mma' op expected 'a' and 'b' to agree in the contracted dimension, got 'tensor<128x64xbf16>' transposed and 'tensor<64x32xbf16>'}}
  %x = tile.mma %a, %b transpose_a : tensor<128x64xbf16>, tensor<64x32xbf16> -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_c1(%memory: tensor<?x?xf32>, %x: tensor<16x64xf32>, %i: i32) {
  // expected-error @below {{'tile.scatter' op expected 2 indices for 'dest', got 1}}
  tile.scatter %x, %memory[%i : i32] : tensor<16x64xf32>, tensor<?x?xf32>
  return
}

// -----

func.func @scatter_c2(%memory: tensor<?xf32>, %x: tensor<16x64xf32>, %i: tensor<16x32xi32>) {
  // expected-error @below {{'tile.scatter' op expected index #0 to have the tile's shape, got 'tensor<16x32xi32>' for 'tensor<16x64xf32>'}}
  tile.scatter %x, %memory[%i : tensor<16x32xi32>] : tensor<16x64xf32>, tensor<?xf32>
  return
}

// -----

func.func @scatter_c3(%memory: tensor<?xi32>, %x: tensor<16x64xf32>, %i: i32) {
  // expected-error @below {{'tile.scatter' op expected 'dest' to have elements f32, f16 or bf16, got 'tensor<?xi32>'}}
  tile.scatter %x, %memory[%i : i32] : tensor<16x64xf32>, tensor<?xi32>
  return
}

// -----

func.func @scatter_c5(%memory: tensor<?xbf16>, %x: tensor<16x64xf32>, %i: i32) {
  // expected-error @below {{'tile.scatter' op expected 'dest' to have elements f32 with 'add', got 'tensor<?xbf16>'}}
  tile.scatter %x, %memory add [%i : i32] : tensor<16x64xf32>, tensor<?xbf16>
  return
}

// -----

// C1 to C3 of a share of the columns
func.func @f(%x: tensor<16x48xf32>, %memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op expected a tile with 'column' to have columns that divide those of 'dest', got 'tensor<16x48xf32>' and 'tensor<?x?x?x64xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<16x48xf32>, tensor<?x?x?x64xf32>
  return
}

// -----

// C4, of a share of the columns
func.func @f(%x: tensor<64x40xf32>, %memory: tensor<?x?x?x80xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op expected 'grouped' with 'column' only with a tile of a multiple of 16 columns, got 'tensor<64x40xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped : tensor<64x40xf32>, tensor<?x?x?x80xf32>
  return
}

// -----

// C4
func.func @f(%memory: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @+1 {{'tile.load' op expected 'grouped' only with f32 elements and a multiple of 16 columns, got 'tensor<?x?x?x64xbf16>'}}
  %t = tile.load %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped : tensor<?x?x?x64xbf16> -> tensor<16x64xbf16>
  return
}

// -----

// C4
func.func @f(%x: tensor<16x24xf32>, %memory: tensor<?x?x?x24xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op expected 'grouped' only with f32 elements and a multiple of 16 columns, got 'tensor<?x?x?x24xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped : tensor<16x24xf32>, tensor<?x?x?x24xf32>
  return
}

// -----

// C4, of the rows of a tile
func.func @f(%memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.load' op expected 'grouped' without 'transposed' only with a tile of a multiple of 64 rows, got 'tensor<16x64xf32>'}}
  %t = tile.load %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  return
}

// -----

// C4, the same of an addition
func.func @f(%x: tensor<80x64xf32>, %memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op expected 'grouped' without 'transposed' only with a tile of a multiple of 64 rows, got 'tensor<80x64xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped : tensor<80x64xf32>, tensor<?x?x?x64xf32>
  return
}

// -----

// C1
func.func @f(%turns: tensor<?x?x?xf32>, %i: i32, %waits: i1) {
  // expected-error @+1 {{'tile.turn_wait' op expected turns of i32, got 'tensor<?x?x?xf32>'}}
  tile.turn_wait %turns at(%i, %i, %i) until %i if %waits : tensor<?x?x?xf32>
  return
}

// -----

// C1
func.func @f(%turns: tensor<?x?x?xi64>, %i: i32) {
  // expected-error @+1 {{'tile.turn_pass' op expected turns of i32, got 'tensor<?x?x?xi64>'}}
  tile.turn_pass %turns at(%i, %i, %i) to %i : tensor<?x?x?xi64>
  return
}

// -----

// C5
func.func @f(%memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.load' op expected 'transposed' only with 'grouped'}}
  %t = tile.load %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> transposed(16) : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  return
}

// -----

func.func @f(%memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.load' op expected 'transposed' of a multiple of 16 rows, got 40}}
  %t = tile.load %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped transposed(40) : tensor<?x?x?x64xf32> -> tensor<16x64xf32>
  return
}

// -----

func.func @f(%memory: tensor<?x?x?x96xf32>, %i: i32) {
  // expected-error @+1 {{'tile.load' op expected 'transposed' only with a multiple of 64 columns, got 'tensor<?x?x?x96xf32>'}}
  %t = tile.load %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped transposed(16) : tensor<?x?x?x96xf32> -> tensor<16x96xf32>
  return
}

// -----

// C4 and C5, of the queries of a transposed tile
func.func @f(%x: tensor<64x40xf32>, %memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op expected 'transposed' only with a tile of a multiple of 16 columns, got 'tensor<64x40xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped transposed : tensor<64x40xf32>, tensor<?x?x?x64xf32>
  return
}

// -----

// C3, of the columns of the tensor, which are rows of the tile
func.func @f(%x: tensor<32x80xf32>, %memory: tensor<?x?x?x64xf32>, %i: i32) {
  // expected-error @+1 {{'tile.reduce_add' op expected a tile with the element type and at least the last dimension of 'dest', got 'tensor<80x32xf32>' and 'tensor<?x?x?x64xf32>'}}
  tile.reduce_add %x, %memory at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, i, h, c)> grouped transposed : tensor<32x80xf32>, tensor<?x?x?x64xf32>
  return
}
