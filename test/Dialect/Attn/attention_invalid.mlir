// Constraints of attn.attention on its operands, by label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics


!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// -----

func.func @attention_c1_element_type(%q: tensor<?x?x?x128xf32>, %k: tensor<?x?x?x128xf32>, %v: tensor<?x?x?x128xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention' op operand #0 must be rank-4 tensor of bf16 or f16, the supported element types, but got 'tensor<?x?x?x128xf32>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x128xf32>, tensor<?x?x?x128xf32>, tensor<?x?x?x128xf32>) -> (tensor<?x?x?x128xf32>, !lse)
  return
}

// -----

func.func @attention_c1_rank(%q: !q, %k: tensor<?x?x128xbf16>, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op operand #1 must be rank-4 tensor of bf16 or f16, the supported element types, but got 'tensor<?x?x128xbf16>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, tensor<?x?x128xbf16>, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c1_out(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op result #0 must be rank-4 tensor of bf16 or f16, the supported element types, but got 'tensor<?x?x?x128xf32>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, !q, !q) -> (tensor<?x?x?x128xf32>, !lse)
  return
}

// -----

func.func @attention_c2_head_dim_dynamic(%q: tensor<?x?x?x?xbf16>, %k: tensor<?x?x?x?xbf16>, %v: tensor<?x?x?x?xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'query' head dim to be static, got ?}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>) -> (tensor<?x?x?x?xbf16>, !lse)
  return
}

// -----

func.func @attention_c2_head_dim(%q: tensor<?x?x?x100xbf16>, %k: tensor<?x?x?x100xbf16>, %v: tensor<?x?x?x100xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'query' head dim to be a multiple of 8 from 8 to 256, got 100}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x100xbf16>, tensor<?x?x?x100xbf16>, tensor<?x?x?x100xbf16>) -> (tensor<?x?x?x100xbf16>, !lse)
  return
}

// -----

func.func @attention_c2_head_dim_v(%q: !q, %k: !q, %v: tensor<?x?x?x512xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'value' head dim to be a multiple of 8 from 8 to 256, got 512}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, !q, tensor<?x?x?x512xbf16>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c3_key_head_dim(%q: !q, %k: tensor<?x?x?x96xbf16>, %v: tensor<?x?x?x96xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'key' head dim to be 128, got 96}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, tensor<?x?x?x96xbf16>, tensor<?x?x?x96xbf16>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c4_key_batch(%q: tensor<2x?x?x128xbf16>, %k: tensor<3x?x?x128xbf16>, %v: tensor<3x?x?x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'key' batch size to be 2, got 3}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<2x?x?x128xbf16>, tensor<3x?x?x128xbf16>, tensor<3x?x?x128xbf16>) -> (tensor<2x?x?x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c4_value_batch(%q: tensor<2x?x?x128xbf16>, %k: !q, %v: tensor<3x?x?x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'value' batch size to be 2, got 3}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<2x?x?x128xbf16>, !q, tensor<3x?x?x128xbf16>) -> (tensor<2x?x?x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c5_value_seqlen(%q: !q, %k: tensor<?x64x?x128xbf16>, %v: tensor<?x65x?x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'value' seqlen to be 64, got 65}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, tensor<?x64x?x128xbf16>, tensor<?x65x?x128xbf16>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c5_value_heads(%q: !q, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x2x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'value' heads to be 4, got 2}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, tensor<?x?x4x128xbf16>, tensor<?x?x2x128xbf16>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c6_heads(%q: tensor<?x?x6x128xbf16>, %k: tensor<?x?x4x128xbf16>, %v: tensor<?x?x4x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'query' heads to be a multiple of 'key' heads, got 6 and 4}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x6x128xbf16>, tensor<?x?x4x128xbf16>, tensor<?x?x4x128xbf16>) -> (tensor<?x?x6x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c6_no_key_heads(%q: tensor<?x?x6x128xbf16>, %k: tensor<?x?x0x128xbf16>, %v: tensor<?x?x0x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'query' heads to be a multiple of 'key' heads, got 6 and 0}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x6x128xbf16>, tensor<?x?x0x128xbf16>, tensor<?x?x0x128xbf16>) -> (tensor<?x?x6x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c7_out_batch(%q: tensor<2x?x?x128xbf16>, %k: tensor<2x?x?x128xbf16>, %v: tensor<2x?x?x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'out' batch size to be 2, got 1}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<2x?x?x128xbf16>, tensor<2x?x?x128xbf16>, tensor<2x?x?x128xbf16>) -> (tensor<1x?x?x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c7_out_seqlen(%q: tensor<?x7x?x128xbf16>, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'out' seqlen to be 7, got 8}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x7x?x128xbf16>, !q, !q) -> (tensor<?x8x?x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c7_out_heads(%q: tensor<?x?x8x128xbf16>, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'out' heads to be 8, got 4}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x8x128xbf16>, !q, !q) -> (tensor<?x?x4x128xbf16>, !lse)
  return
}

// -----

func.func @attention_c7_out_head_dim(%q: !q, %k: !q, %v: tensor<?x?x?x64xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'out' head dim to be 64, got 128}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, !q, tensor<?x?x?x64xbf16>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c7_out_head_dim_dynamic(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'out' head dim to be 128, got ?}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, !q, !q) -> (tensor<?x?x?x?xbf16>, !lse)
  return
}

// -----

func.func @attention_c8_lse_type(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op result #1 must be rank-3 tensor of f32, but got 'tensor<?x?x?xbf16>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, !q, !q) -> (!q, tensor<?x?x?xbf16>)
  return
}

// -----

func.func @attention_c8_lse_rank(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op result #1 must be rank-3 tensor of f32, but got 'tensor<?x?xf32>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (!q, !q, !q) -> (!q, tensor<?x?xf32>)
  return
}

// -----

func.func @attention_c8_lse_batch(%q: tensor<2x?x?x128xbf16>, %k: tensor<2x?x?x128xbf16>, %v: tensor<2x?x?x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'lse' batch size to be 2, got 3}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<2x?x?x128xbf16>, tensor<2x?x?x128xbf16>, tensor<2x?x?x128xbf16>) -> (tensor<2x?x?x128xbf16>, tensor<3x?x?xf32>)
  return
}

// -----

func.func @attention_c8_lse_heads(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x8x128xbf16>, %v: tensor<?x?x8x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'lse' heads to be 8, got 7}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>) -> (tensor<?x?x8x128xbf16>, tensor<?x7x?xf32>)
  return
}

// -----

func.func @attention_c8_lse_seqlen(%q: tensor<?x100x?x128xbf16>, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'lse' seqlen to be 100, got 101}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x100x?x128xbf16>, !q, !q) -> (tensor<?x100x?x128xbf16>, tensor<?x?x101xf32>)
  return
}

// -----

func.func @attention_c11_capture(%q: !q, %k: !q, %v: !q, %scale: f32, %t: tensor<?xui16>) {
  // expected-error @below {{'attn.attention' op operand #4 must be variadic of f32, i32, i64 or a tensor of rank 1 to 4 of f16, bf16, f32, f64, i1, i8, ui8, i16, i32 or i64, but got 'tensor<?xui16>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%t : tensor<?xui16>)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c11_capture_rank(%q: !q, %k: !q, %v: !q, %scale: f32, %t: tensor<f32>) {
  // expected-error @below {{'attn.attention' op operand #4 must be variadic of f32, i32, i64 or a tensor of rank 1 to 4 of f16, bf16, f32, f64, i1, i8, ui8, i16, i32 or i64, but got 'tensor<f32>'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%t : tensor<f32>)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c16(%q: !q, %k: tensor<?x?x?x128xf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'key' to have the element type of 'query', 'bf16', got 'f16'}}
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd)
      : (!q, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c17_none(%q: !q, %scale: f32, %w: i32) {
  // expected-error @below {{'attn.attention' op expected no 'window_left' beside mask 'none', got one}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) window_left(%w)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c17_causal(%q: !q, %scale: f32, %w: i32) {
  // expected-error @below {{'attn.attention' op expected no 'window_right' beside mask 'causal_top_left', got one}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal_top_left) layout(bshd) window_right(%w)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c17_window(%q: !q, %scale: f32, %w: i32) {
  // expected-error @below {{'attn.attention' op expected one of the bounds 'window_left', 'window_right' beside mask 'window_bottom_right', got none}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(window_bottom_right) layout(bshd)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c6_bhsd(%q: tensor<2x8x?x128xbf16>, %k: tensor<2x3x?x128xbf16>, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'query' heads to be a multiple of 'key' heads, got 8 and 3}}
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bhsd)
      : (tensor<2x8x?x128xbf16>, tensor<2x3x?x128xbf16>, tensor<2x3x?x128xbf16>) -> (tensor<2x8x?x128xbf16>, tensor<2x8x?xf32>)
  return
}

// -----

func.func @attention_c18(%q: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected a 'config' beside 'variant'}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd) variant <"f">
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @mask_kind(%q: !q, %scale: f32) {
  // expected-error-re @below {{expected one of [{{.*}}] for built-in mask and its alignment, got: causal}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal) layout(bshd)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @yield_parent(%x: f32) {
  // expected-error @below {{'attn.yield' op expects parent op to be one of 'attn.attention, attn.attention_bwd'}}
  attn.yield %x : f32
}

// -----

func.func @attention_c17_chunked(%q: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected 'chunk' beside mask 'chunked_top_left', got none}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(chunked_top_left) layout(bshd)
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c22_rate(%q: !q, %scale: f32, %rate: f32) {
  // expected-error @below {{'attn.attention' op expected 'dropout_rate' and 'dropout_state', or neither, got only 'dropout_rate'}}
  %o, %lse = "attn.attention"(%q, %q, %q, %scale, %rate) ({}, {}, {}) {layout = #attn<layout bshd>, mask = #attn<mask none>,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0>} : (!q, !q, !q, f32, f32) -> (!q, !lse)
  return
}

// -----

func.func @attention_c22_state(%q: !q, %scale: f32, %rate: f32, %state: tensor<4xi64>) {
  // expected-error @below {{'attn.attention' op operand #5 must be tensor<2xi64>, but got 'tensor<4xi64>'}}
  %o, %lse = "attn.attention"(%q, %q, %q, %scale, %rate, %state) ({}, {}, {}) {layout = #attn<layout bshd>, mask = #attn<mask none>,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1, 0, 0>} : (!q, !q, !q, f32, f32, tensor<4xi64>) -> (!q, !lse)
  return
}

// -----

func.func @attention_c23_sinks(%q: tensor<?x?x4x128xbf16>, %k: !q, %scale: f32, %sinks: tensor<3xf32>) {
  // expected-error @below {{'attn.attention' op expected 'sinks' heads to be 4, got 3}}
  %o, %lse = attn.attention %q, %k, %k scale(%scale) mask(none) layout(bshd) sinks(%sinks : tensor<3xf32>)
      : (tensor<?x?x4x128xbf16>, !q, !q) -> (tensor<?x?x4x128xbf16>, !lse)
  return
}
