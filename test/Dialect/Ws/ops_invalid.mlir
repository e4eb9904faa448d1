// Constraints of copies and products, by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
!a = !ws.slot<@k, tensor<64x64xbf16>>
!b = !ws.slot<@k, tensor<128x64xbf16>>
!s = !ws.slot<@k, tensor<128x64xbf16>>
!work = !ws.slot<@work, tensor<4xi32>>

// -----

func.func @copy_c1_rank(%x: tensor<?x?x64xbf16>, %n: i32, %s: !s) {
  // expected-error @below {{'ws.copy' op expected a map for a tile of a tensor of rank 4, or none for a row vector of one of rank 3, got one for 'tensor<128x64xbf16>' of 'tensor<?x?x64xbf16>'}}
  ws.copy %x at(%n, %n, %n) #bshd to %s : tensor<?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c1_dynamic(%x: tensor<?x?x?x?xbf16>, %n: i32, %s: !s) {
  // expected-error @below {{'ws.copy' op operand #0 must be tensor of rank 4 with a static last dimension or tensor of rank 3, but got 'tensor<?x?x?x?xbf16>'}}
  ws.copy %x at(%n, %n, %n) #bshd to %s : tensor<?x?x?x?xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c2(%x: tensor<?x?x?x64xbf16>, %n: i32, %s: !s) {
  // expected-error @below {{'ws.copy' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>}}
  ws.copy %x at(%n, %n, %n) affine_map<(b, h, i, c) -> (c, h, i, b)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c3(%x: tensor<?x?x?x96xbf16>, %n: i32, %s: !s) {
  // expected-error @below {{'ws.copy' op expected the slot's tile to have the element type and at least the last dimension of 'source', got 'tensor<128x64xbf16>' and 'tensor<?x?x?x96xbf16>'}}
  ws.copy %x at(%n, %n, %n) #bshd to %s : tensor<?x?x?x96xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c3_row(%x: tensor<?x?x?xf16>, %n: i32, %s: !ws.slot<@l, tensor<64xf32>>) {
  // expected-error @below {{'ws.copy' op expected the slot's row vector to have the element type of 'source', got 'tensor<64xf32>' and 'tensor<?x?x?xf16>'}}
  ws.copy %x at(%n, %n, %n) to %s : tensor<?x?x?xf16>, <@l, tensor<64xf32>>
  return
}

// -----

func.func @read_row_slot(%s: !s) {
  // expected-error @below {{'ws.read_row' op operand #0 must be slot of row vectors, but got '!ws.slot<@k, tensor<128x64xbf16>>'}}
  %r = ws.read_row %s : <@k, tensor<128x64xbf16>> -> tensor<128xf32>
  return
}

// -----

func.func @read_row_c1(%s: !ws.slot<@l, tensor<64xf32>>) {
  // expected-error @below {{'ws.read_row' op expected the row vector of the slot, 'tensor<64xf32>', got 'tensor<32xf32>'}}
  %r = ws.read_row %s : <@l, tensor<64xf32>> -> tensor<32xf32>
  return
}

// -----

func.func @reduce_add_c1(%d: tensor<?x?x?x64xbf16>, %n: i32) {
  // expected-error @below {{'ws.reduce_add' op expected 'dest' of elements f32, got 'tensor<?x?x?x64xbf16>'}}
  ws.reduce_add @h[%n], %d at(%n, %n, %n) #bshd : tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @reduce_add_c2(%d: tensor<?x?x?x64xf32>, %n: i32) {
  // expected-error @below {{'ws.reduce_add' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1) -> (d0, d1)>}}
  ws.reduce_add @h[%n], %d at(%n, %n, %n) affine_map<(b, h) -> (b, h)> : tensor<?x?x?x64xf32>
  return
}

// -----

func.func @store_c1(%o: tensor<?x?x64xbf16>, %n: i32) {
  // expected-error @below {{'ws.store' op operand #1 must be tensor of rank 4 with a static last dimension, but got 'tensor<?x?x64xbf16>'}}
  ws.store @h[%n], %o at(%n, %n, %n) #bshd : tensor<?x?x64xbf16>
  return
}

// -----

func.func @store_c2(%o: tensor<?x?x?x64xbf16>, %n: i32) {
  // expected-error @below {{'ws.store' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1) -> (d0, d1)>}}
  ws.store @h[%n], %o at(%n, %n, %n) affine_map<(b, h) -> (b, h)> : tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @mma_c1_type(%a: i32, %b: !b, %n: i32) {
  // expected-error @below {{'ws.mma' op operand #0 must be slot of tiles or tile of rank 2 or a thread's share, but got 'i32'}}
  %r, %t = ws.mma %a, %b transpose_b : i32, !b -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c1_rank(%a: tensor<64xbf16>, %b: !b, %n: i32) {
  // expected-error @below {{'ws.mma' op operand #0 must be slot of tiles or tile of rank 2 or a thread's share, but got 'tensor<64xbf16>'}}
  %r, %t = ws.mma %a, %b transpose_b : tensor<64xbf16>, !b -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c1_piece(%a: tensor<64x64xbf16>, %b: !b, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'piece' only with a slot as 'a', got 'tensor<64x64xbf16>'}}
  %r, %t = ws.mma %a piece(%n), %b transpose_b : tensor<64x64xbf16>, !b -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c2_acc(%a: !a, %b: !b, %n: i32, %x: tensor<64x64xf32>) {
  // expected-error @below {{'ws.mma' op failed to verify that 'acc' has the result's type}}
  %r, %t = ws.mma %a, %b acc(%x : tensor<64x64xf32>) transpose_b : !a, !b -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c3_element(%a: !ws.slot<@k, tensor<64x64xf16>>, %b: !b, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' and 'b' to agree in element type and in the contracted dimension, got 'tensor<64x64xf16>' and 'tensor<128x64xbf16>'}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xf16>>, !b -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c3_piece(%a: !ws.slot<@k, tensor<96x64xbf16>>, %b: !b, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' to be pieces of 64 rows, got 'tensor<96x64xbf16>'}}
  %r, %t = ws.mma %a piece(%n), %b transpose_b : !ws.slot<@k, tensor<96x64xbf16>>, !b -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c6(%a: tensor<64x64xbf16>, %b: !b, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' to be used by 'ws.mma' alone while in flight}}
  %r, %t = ws.mma %a, %b transpose_b : tensor<64x64xbf16>, !b -> tensor<64x128xf32>
  // expected-note @below {{used by 'arith.negf'}}
  %x = arith.negf %a : tensor<64x64xbf16>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @await_c1_token(%v: tensor<64x128xf32>, %t: !ws.token) {
  // expected-error @below {{'ws.await' op expected the token of a 'ws.mma'}}
  %d = ws.await %v, %t : tensor<64x128xf32>
  return
}

// -----

func.func @copy_c3_work(%x: tensor<?x?x?x64xbf16>, %n: i32, %work: !work) {
  // expected-error @below {{'ws.copy' op operand #4 must be slot of tiles or row vectors, but got '!ws.slot<@work, tensor<4xi32>>'}}
  ws.copy %x at(%n, %n, %n) #bshd to %work : tensor<?x?x?x64xbf16>, <@work, tensor<4xi32>>
  return
}

// -----

func.func @mma_c1_work(%a: vector<4xi32>, %work: !ws.slot<@work, tensor<4xi32>>) {
  // expected-error @below {{'ws.mma' op operand #1 must be slot of tiles, but got '!ws.slot<@work, tensor<4xi32>>'}}
  %r, %t = ws.mma %a, %work : vector<4xi32>, <@work, tensor<4xi32>> -> vector<4xf32>
  return
}

// =====

// A matrix product.
func.func @case(%a: !a, %b: !b, %n: i32, %c: i1, %v: tensor<64x128xf32>) {
...
  return
}

// -----

// mma_c2_result
// expected-error @below {{'ws.mma' op result #0 must be tile of rank 2 or a thread's share of f32, but got 'tensor<64x128xbf16>'}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x128xbf16>
%d = ws.await %r, %t : tensor<64x128xbf16>

// -----

// mma_c2_fresh
// expected-error @below {{'ws.mma' op expected 'fresh' only with 'acc', got no 'acc'}}
%r, %t = ws.mma %a, %b fresh(%c) transpose_b : !a, !b -> tensor<64x128xf32>
%d = ws.await %r, %t : tensor<64x128xf32>

// -----

// mma_c3_contracted
// expected-error @below {{'ws.mma' op expected 'a' and 'b' to agree in element type and in the contracted dimension, got 'tensor<64x64xbf16>' and 'tensor<128x64xbf16>'}}
%r, %t = ws.mma %a, %b : !a, !b -> tensor<64x128xf32>
%d = ws.await %r, %t : tensor<64x128xf32>

// -----

// mma_c3_result
// expected-error @below {{'ws.mma' op expected a result of 64 x 128, got 'tensor<64x64xf32>'}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x64xf32>
%d = ws.await %r, %t : tensor<64x64xf32>

// -----

// mma_c4_unused
// expected-error @below {{'ws.mma' op expected one use of the token, by a 'ws.await' in the same block, got none}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x128xf32>

// -----

// mma_c4_twice
// expected-error @below {{'ws.mma' op expected one use of the token, by a 'ws.await' in the same block}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x128xf32>
// expected-note @below {{a use}}
%d = ws.await %r, %t : tensor<64x128xf32>
// expected-note @below {{a use}}
%e = ws.await %r, %t : tensor<64x128xf32>

// -----

// mma_c4_block
// expected-error @below {{'ws.mma' op expected one use of the token, by a 'ws.await' in the same block}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x128xf32>
scf.if %c {
  // expected-note @below {{a use}}
  %d = ws.await %r, %t : tensor<64x128xf32>
}

// -----

// mma_c5
// expected-error @below {{'ws.mma' op expected the result to be used by its 'ws.await' alone while in flight}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x128xf32>
// expected-note @below {{used by 'arith.negf'}}
%x = arith.negf %r : tensor<64x128xf32>
%d = ws.await %r, %t : tensor<64x128xf32>

// -----

// await_c1_value
// expected-note @below {{the 'ws.mma'}}
%r, %t = ws.mma %a, %b transpose_b : !a, !b -> tensor<64x128xf32>
// expected-error @below {{'ws.await' op expected the result of the 'ws.mma' whose token it takes}}
%d = ws.await %v, %t : tensor<64x128xf32>

// =====

// An op by itself.
func.func @case(%n: i32, %w: !tile.work, %s: !s, %work: !work) {
...
  return
}

// -----

// put_c1
// expected-error @below {{'ws.put' op operand #0 must be ranked tensor of any type values or vector of any type values, but got 'i32'}}
ws.put %n in @h[%n] : i32

// -----

// put_work_c1
// expected-error @below {{'ws.put_work' op operand #1 must be slot of work items, but got '!ws.slot<@k, tensor<128x64xbf16>>'}}
ws.put_work %w to %s : <@k, tensor<128x64xbf16>>

// -----

// get_work_c1
// expected-error @below {{'ws.get_work' op operand #0 must be slot of work items, but got '!ws.slot<@k, tensor<128x64xbf16>>'}}
%x = ws.get_work %s : <@k, tensor<128x64xbf16>>

// -----

// end_outside
// expected-error @below {{'ws.end_unless_work' op expects parent op 'ws.work_loop'}}
ws.end_unless_work %w
