// RUN: attn-opt %s -split-input-file -verify-diagnostics

llvm.func @wgmma_c1_columns(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C1: expected the result to have 4, 8, ..., or 128 elements, got 132}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>} : vector<132xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c1_multiple(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C1: expected the result to have 4, 8, ..., or 128 elements, got 6}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>} : vector<6xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c2_steps(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C2: expected 'b_offsets' to have at least 1 entry, got 0}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32>, b_offsets = array<i32>} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c3_descriptor(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C3: expected 'a_desc_hi' where 'a' is in shared memory}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {b_desc_hi = 0 : i32, a_offsets = array<i32: 0>,
    b_offsets = array<i32: 0>} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c3_offsets(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C3: expected 'a_offsets' to have 2 entries (one a k step), got 1}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0, 2>} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c4_fragments(%a: vector<4xi32>, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C4: expected 'a' to have 8 elements (4 a k step), got 4}}
  %d = nvx.wgmma bf16 a(%a : vector<4xi32>) b(%b) {b_desc_hi = 0 : i32, b_offsets = array<i32: 0, 2>} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c4_descriptor(%a: vector<4xi32>, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C4: expected no 'a_desc_hi', 'a_offsets' or 'transpose_a' where 'a' is in registers}}
  %d = nvx.wgmma bf16 a(%a : vector<4xi32>) b(%b) {b_desc_hi = 0 : i32, b_offsets = array<i32: 0>, transpose_a} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c5_eight_bit(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C5: expected no transposed operand of e5m2}}
  %d = nvx.wgmma e5m2 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>, transpose_b} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c6_accumulator(%a: i32, %b: i32, %c: vector<8xf32>) {
  // expected-error @+1 {{'nvx.wgmma' op C6: expected 'acc' to have type 'vector<4xf32>', got 'vector<8xf32>'}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) acc(%c : vector<8xf32>) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c6_fresh(%a: i32, %b: i32, %first: i1) {
  // expected-error @+1 {{'nvx.wgmma' op C6: expected 'fresh' only with 'acc', got no 'acc'}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) fresh(%first) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>} : vector<4xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c7_one_part(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C7: expected 'b_parts' to have 2 or more entries that divide 16 columns into multiples of 8, got 1}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>, b_parts = array<i32: 0>} : vector<8xf32>
  llvm.return
}

// -----

llvm.func @wgmma_c7_columns(%a: i32, %b: i32) {
  // expected-error @+1 {{'nvx.wgmma' op C7: expected 'b_parts' to have 2 or more entries that divide 24 columns into multiples of 8, got 2}}
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0 : i32, b_desc_hi = 0 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>, b_parts = array<i32: 0, 64>} : vector<12xf32>
  llvm.return
}

// -----

llvm.func @wgmma_wait_c1_pending() {
  // expected-error @+1 {{'nvx.wgmma_wait' op attribute 'pending' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 7}}
  nvx.wgmma_wait 8
  llvm.return
}

// -----

llvm.func @pack_c1_element(%a: vector<4xf32>) {
  // expected-error @+1 {{'nvx.pack' op C1: expected bf16 or f16, got e4m3}}
  %0 = nvx.pack e4m3 %a : vector<4xf32> -> vector<2xi32>
  llvm.return
}

// -----

llvm.func @pack_c2_length(%a: vector<4xf32>) {
  // expected-error @+1 {{'nvx.pack' op C2: expected the source to have 6 elements (twice the result's), got 4}}
  %0 = nvx.pack bf16 %a : vector<4xf32> -> vector<3xi32>
  llvm.return
}

// -----

llvm.func @exp2_poly_c1_degree(%a: f32) {
  // expected-error @+1 {{'nvx.exp2_poly' op attribute 'degree' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 3 whose maximum value is 5}}
  %0 = nvx.exp2_poly %a {degree = 6 : i32} : f32
  llvm.return
}

// -----

llvm.func @mbarrier_wait_address(%a: !llvm.ptr<1>, %b: i32) {
  // expected-error @+1 {{operand #0 must be LLVM pointer in address space 3}}
  nvx.mbarrier_wait %a, %b : !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @stamp_c1_id(%base: !llvm.ptr<1>, %cursor: i32) {
  // expected-error @below {{attribute 'id' failed to satisfy constraint}}
  %0 = nvx.stamp %base, %cursor {id = -1 : i32, limit = 1000 : i32, stride = 24 : i32} : !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @stamp_c1_limit(%base: !llvm.ptr<1>, %cursor: i32) {
  // expected-error @below {{attribute 'limit' failed to satisfy constraint}}
  %0 = nvx.stamp %base, %cursor {id = 1 : i32, limit = 0 : i32, stride = 24 : i32} : !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @bulk_reduce_add_c1(%source: !llvm.ptr<3>, %address: !llvm.ptr<1>) {
  // expected-error @below {{'nvx.bulk_reduce_add' op C1: expected a positive multiple of 16 bytes, got 24}}
  nvx.bulk_reduce_add 24 from %source to %address : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @reduce_add_c1(%values: vector<3xf32>, %address: !llvm.ptr<1>) {
  // expected-error @below {{'nvx.reduce_add' op C1: expected 2 or 4 elements, got 3}}
  nvx.reduce_add %values to %address : vector<3xf32>, !llvm.ptr<1>
  llvm.return
}
