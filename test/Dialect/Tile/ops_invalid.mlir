// Constraints of the ops on tiles, by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

func.func @load_c1_rank(%x: tensor<?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op operand #0 must be tensor of rank 4, or 5 with parts, with a static last dimension, but got 'tensor<?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) #bshd : tensor<?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c1_dynamic(%x: tensor<?x?x?x?xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op operand #0 must be tensor of rank 4, or 5 with parts, with a static last dimension, but got 'tensor<?x?x?x?xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) #bshd : tensor<?x?x?x?xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c2_permutation(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d0, d2, d3)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, b, i, c)> : tensor<?x?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c2_last(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (b, h, c, i)> : tensor<?x?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c2_rank(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2) -> (d0, d1, d2)>}}
  %t = tile.load %x at(%i, %i, %i) affine_map<(b, h, i) -> (b, h, i)> : tensor<?x?x?x64xbf16> -> tensor<32x64xbf16>
  return
}

// -----

func.func @load_c3_rank(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op result #0 must be tile of rank 2 or a thread's share, but got 'tensor<64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) #bshd : tensor<?x?x?x64xbf16> -> tensor<64xbf16>
  return
}

// -----

func.func @load_c3_element(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected a tile with the element type and at least the last dimension of 'source', got 'tensor<32x64xf16>' and 'tensor<?x?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) #bshd : tensor<?x?x?x64xbf16> -> tensor<32x64xf16>
  return
}

// -----

func.func @load_c3_head_dim(%x: tensor<?x?x?x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.load' op expected a tile with the element type and at least the last dimension of 'source', got 'tensor<32x32xbf16>' and 'tensor<?x?x?x64xbf16>'}}
  %t = tile.load %x at(%i, %i, %i) #bshd : tensor<?x?x?x64xbf16> -> tensor<32x32xbf16>
  return
}

// -----

func.func @store_c1_rank(%x: tensor<?x64xbf16>, %t: tensor<32x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.store' op operand #1 must be tensor of rank 4 with a static last dimension, but got 'tensor<?x64xbf16>'}}
  tile.store %t, %x at(%i, %i, %i) #bshd : tensor<32x64xbf16>, tensor<?x64xbf16>
  return
}

// -----

func.func @store_c2_map(%x: tensor<?x?x?x64xbf16>, %t: tensor<32x64xbf16>, %i: i32) {
  // expected-error @below {{'tile.store' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>}}
  tile.store %t, %x at(%i, %i, %i) affine_map<(b, h, i, c) -> (c, h, i, b)> : tensor<32x64xbf16>, tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @store_c3_tile(%x: tensor<?x?x?x64xbf16>, %t: tensor<32x64xf32>, %i: i32) {
  // expected-error @below {{'tile.store' op failed to verify that all of {tile, dest} have same element type}}
  tile.store %t, %x at(%i, %i, %i) #bshd : tensor<32x64xf32>, tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @store_row_c1(%x: tensor<?x?xf32>, %t: tensor<64xf32>, %i: i32) {
  // expected-error @below {{'tile.store_row' op operand #1 must be tensor of rank 3, or 4 with parts, but got 'tensor<?x?xf32>'}}
  tile.store_row %t, %x at(%i, %i, %i) : tensor<64xf32>, tensor<?x?xf32>
  return
}

// -----

func.func @store_row_c1_memory(%x: tensor<?x?x?xf32>, %t: memref<2xf32>, %i: i32) {
  // expected-error @below {{'tile.store_row' op operand #0 must be vector of rank 1 or a thread's share, but got 'memref<2xf32>'}}
  tile.store_row %t, %x at(%i, %i, %i) : memref<2xf32>, tensor<?x?x?xf32>
  return
}

// -----

func.func @round_c1_source(%x: f64) {
  // expected-error @below {{'tile.round' op operand #0 must be f32 or a tile of them, but got 'f64'}}
  %r = tile.round %x to bf16 : f64
  return
}

// -----

func.func @convert_layout_c1(%x: tensor<64x32xf32>) {
  // expected-error @below {{'tile.convert_layout' op requires the same shape for all operands and results}}
  %r = tile.convert_layout %x : tensor<64x32xf32> -> tensor<32x64xf32>
  return
}

// -----

func.func @mma_c1_rank(%a: tensor<32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op operand #0 must be tile of rank 2 of bf16 or f16, but got 'tensor<32xbf16>'}}
  %r = tile.mma %a, %b : tensor<32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_type(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>) {
  // expected-error @below {{'tile.mma' op operand #0 must be tile of rank 2 of bf16 or f16, but got 'tensor<64x32xf32>'}}
  %r = tile.mma %a, %b : tensor<64x32xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_one_type(%a: tensor<64x32xbf16>, %b: tensor<32x16xf16>) {
  // expected-error @below {{'tile.mma' op failed to verify that all of {a, b} have same element type}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<32x16xf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_contracted(%a: tensor<64x32xbf16>, %b: tensor<64x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' to agree in the contracted dimension, got 'tensor<64x32xbf16>' and 'tensor<64x16xbf16>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<64x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c1_contracted_transposed(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected 'a' and 'b' to agree in the contracted dimension, got 'tensor<64x32xbf16>' and 'tensor<32x16xbf16>' transposed}}
  %r = tile.mma %a, %b transpose_b : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @mma_c2_result(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op result #0 must be tile of rank 2 of f32, but got 'tensor<64x16xbf16>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xbf16>
  return
}

// -----

func.func @mma_c2_shape(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>) {
  // expected-error @below {{'tile.mma' op expected the result to be 64x16xf32, got 'tensor<64x32xf32>'}}
  %r = tile.mma %a, %b : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
  return
}

// -----

func.func @mma_c2_acc(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x64xf32>) {
  // expected-error @below {{'tile.mma' op failed to verify that 'acc' has the result's type}}
  %r = tile.mma %a, %b acc(%c : tensor<16x64xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return
}

// -----

func.func @reduce_c1_rank(%a: tensor<64xf32>) {
  // expected-error @below {{'tile.reduce' op operand #0 must be tile of rank 2, but got 'tensor<64xf32>'}}
  %r = tile.reduce max %a dim 1 : tensor<64xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reduce_c1_dim(%a: tensor<64x16xf32>) {
  // expected-error @below {{'tile.reduce' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 1}}
  %r = tile.reduce max %a dim 2 : tensor<64x16xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reduce_c1_result(%a: tensor<64x16xf32>) {
  // expected-error @below {{'tile.reduce' op expected the vector to be 'tensor<64x16xf32>' without dimension 1, got 'tensor<16xf32>'}}
  %r = tile.reduce max %a dim 1 : tensor<64x16xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce_c2_partial(%a: tensor<64x16xf32>) {
  // expected-error @below {{'tile.reduce' op expected only 'add' to be partial, got 'max'}}
  %r = tile.reduce max %a dim 1 partial : tensor<64x16xf32> -> tensor<64xf32>
  return
}

// -----

func.func @broadcast_c1(%a: tensor<16xf32>) {
  // expected-error @below {{'tile.broadcast' op expected the vector to be 'tensor<64x16xf32>' without dimension 1, got 'tensor<16xf32>'}}
  %r = tile.broadcast %a dim 1 : tensor<16xf32> -> tensor<64x16xf32>
  return
}

// -----

func.func @coords_c1_type(%i: i32) {
  // expected-error @below {{'tile.coords' op result #0 must be ranked tensor of 32-bit signless integer values, but got 'tensor<64x16xf32>'}}
  %r = tile.coords %i dim 0 : tensor<64x16xf32>
  return
}

// -----

func.func @coords_c1_dim(%i: i32) {
  // expected-error @below {{'tile.coords' op expected a tile that has dimension 2, got 'tensor<64x16xi32>'}}
  %r = tile.coords %i dim 2 : tensor<64x16xi32>
  return
}

// -----

func.func @gather_c1(%t: tensor<?x?xf32>, %i: i32) {
  // expected-error @below {{'tile.gather' op expected 2 indices for 'source', got 1}}
  %r = tile.gather %t[%i : i32] : tensor<?x?xf32> -> f32
  return
}

// -----

func.func @gather_c2_shape(%t: tensor<?xf32>, %i: tensor<16xi32>) {
  // expected-error @below {{'tile.gather' op expected index #0 to have the result's shape, got 'tensor<16xi32>' for 'tensor<64xf32>'}}
  %r = tile.gather %t[%i : tensor<16xi32>] : tensor<?xf32> -> tensor<64xf32>
  return
}

// -----

func.func @gather_c2_type(%t: tensor<?xf32>, %i: index) {
  // expected-error @below {{'tile.gather' op operand #1 must be variadic of i32, or a tile or a thread's share of them, but got 'index'}}
  %r = tile.gather %t[%i : index] : tensor<?xf32> -> f32
  return
}

// -----

func.func @gather_c3(%t: tensor<?xf32>, %i: i32) {
  // expected-error @below {{'tile.gather' op expected the result to have element type 'f32', got 'i32' of 'tensor<?xf32>'}}
  %r = tile.gather %t[%i : i32] : tensor<?xf32> -> i32
  return
}

// -----

func.func @gather_c3_half(%t: tensor<?xbf16>, %i: i32) {
  // expected-error @below {{'tile.gather' op expected the result to have element type 'f32', got 'bf16' of 'tensor<?xbf16>'}}
  %r = tile.gather %t[%i : i32] : tensor<?xbf16> -> bf16
  return
}

// -----

func.func @round_c1(%x: f32) {
  // expected-error @below {{'tile.round' op attribute 'to' failed to satisfy constraint: type attribute of 16-bit float or bfloat16 type}}
  %r = tile.round %x to f32 : f32
  return
}

// -----

func.func @yield_parent() {
  // expected-error @below {{'tile.yield' op expects parent op to be one of 'tile.step, tile.for, tile.bounds, tile.join'}}
  tile.yield
}

// -----

tile.kernel @reject_c1 args ["n", "no"]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent> {
^bb0(%n: i32, %no: i1):
  tile.work {
    %w = tile.step @next () : () -> !tile.work {
      %x = tile.next_work extents(%n, %n, %n)
      tile.yield %x : !tile.work
    }
    tile.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
    ^bb0(%j: i32):
      tile.step @check (%w) : (!tile.work) -> () {
      ^bb0(%x: !tile.work):
        // expected-error @below {{'tile.reject' op expected to be in no loop but the one over work items, got 'tile.for'}}
        tile.reject %x if %no
        tile.yield
      }
      tile.yield
    }
  }
}

// -----

func.func @share_c1(%x: tensor<64x32xbf16>) {
  // expected-error @below {{'tile.share' op expected a tile of the source's columns and a multiple of its rows, got 'tensor<64x32xbf16>' and 'tensor<96x32xbf16>'}}
  %whole = tile.share %x : tensor<64x32xbf16> -> tensor<96x32xbf16>
  return
}

// -----

func.func @keep_c1(%i: tensor<64xi32>, %w: i32) {
  // expected-error @below {{'tile.keep' op expected positions of rank 2, got 'tensor<64xi32>'}}
  %kept = tile.keep %i, %i key(%w, %w, %w) drop(%w) : tensor<64xi32> -> tensor<64xi1>
  return
}

// -----

func.func @keep_c2(%i: tensor<64x32xi32>, %w: i32) {
  // expected-error @below {{'tile.keep' op expected a result of 'tensor<64x32xi1>', got 'tensor<64x16xi1>'}}
  %kept = tile.keep %i, %i key(%w, %w, %w) drop(%w) : tensor<64x32xi32> -> tensor<64x16xi1>
  return
}
