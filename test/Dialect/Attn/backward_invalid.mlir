// Constraints of attn.delta and attn.attention_bwd, by label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics


!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// -----

func.func @delta_c1_element_type(%o: tensor<?x?x?x128xf32>, %do: tensor<?x?x?x128xf32>, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op operand #0 must be rank-4 tensor of bf16 or f16, the supported element types, but got 'tensor<?x?x?x128xf32>'}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x128xf32>, !l) -> !l
  return
}

// -----

func.func @delta_c1_head_dim(%o: tensor<?x?x?x100xbf16>, %do: tensor<?x?x?x100xbf16>, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'out' head dim to be a multiple of 8 from 8 to 256, got 100}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x100xbf16>, !l) -> !l
  return
}

// -----

func.func @delta_c1_dynamic(%o: tensor<?x?x?x?xbf16>, %do: tensor<?x?x?x?xbf16>, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'out' head dim to be static, got ?}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x?xbf16>, !l) -> !l
  return
}

// -----

func.func @delta_c2_batch(%o: tensor<2x?x?x128xbf16>, %do: tensor<2x?x?x128xbf16>, %lse: tensor<3x?x?xf32>, %dlse: tensor<3x?x?xf32>) {
  // expected-error @below {{'attn.delta' op expected 'lse' batch size to be 2, got 3}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<2x?x?x128xbf16>, tensor<3x?x?xf32>) -> !l
  return
}

// -----

func.func @delta_c2_heads(%o: tensor<?x?x4x128xbf16>, %do: tensor<?x?x4x128xbf16>, %lse: tensor<?x5x?xf32>, %dlse: tensor<?x5x?xf32>) {
  // expected-error @below {{'attn.delta' op expected 'lse' heads to be 4, got 5}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x4x128xbf16>, tensor<?x5x?xf32>) -> !l
  return
}

// -----

func.func @delta_c2_seqlen(%o: tensor<?x9x?x128xbf16>, %do: tensor<?x9x?x128xbf16>, %lse: tensor<?x?x8xf32>, %dlse: tensor<?x?x8xf32>) {
  // expected-error @below {{'attn.delta' op expected 'lse' seqlen to be 9, got 8}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x9x?x128xbf16>, tensor<?x?x8xf32>) -> !l
  return
}

// -----

func.func @delta_c4_columns(%o: !t, %do: !t, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected the head dim of 'sums' to be a multiple of 16, got 72}}
  %delta, %lse2, %sums = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> !l sums tensor<?x?x?x72xf32>
  return
}

// -----

func.func @delta_c4_rows(%o: !t, %do: !t, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'sums' seqlen to be 128, got 192}}
  %delta, %lse2, %sums = attn.delta %o, %do, %lse, %dlse layout(bshd) : (!t, !l) -> tensor<?x?x128xf32> sums tensor<?x?x192x128xf32>
  return
}

// -----

func.func @delta_c4_turns(%o: !t, %do: !t, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'turns' heads to be 4, got 2}}
  %delta, %lse2, %sums, %turns = attn.delta %o, %do, %lse, %dlse layout(bshd)
      : (!t, !l) -> tensor<?x4x?xf32> sums tensor<?x4x?x128xf32> turns tensor<?x2x?xi32>
  return
}

// -----

func.func @delta_c3_batch(%o: tensor<2x?x?x128xbf16>, %do: tensor<2x?x?x128xbf16>, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'delta' batch size to be 2, got 3}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<2x?x?x128xbf16>, !l) -> tensor<3x?x?xf32>
  return
}

// -----

func.func @delta_c3_heads(%o: tensor<?x4x?x128xbf16>, %do: tensor<?x4x?x128xbf16>, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'delta' heads to be 4, got 5}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bhsd) : (tensor<?x4x?x128xbf16>, !l) -> tensor<?x5x?xf32>
  return
}

// -----

func.func @delta_c3_rows(%o: tensor<?x9x?x128xbf16>, %do: tensor<?x9x?x128xbf16>, %lse: !l, %dlse: !l) {
  // expected-error @below {{'attn.delta' op expected 'delta' seqlen to be at least 9, got 8}}
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x9x?x128xbf16>, !l) -> tensor<?x?x8xf32>
  return
}

// -----

func.func @attention_bwd_c1_rank(%q: !t, %k: tensor<?x?x128xbf16>, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op operand #1 must be rank-4 tensor of bf16 or f16, the supported element types, but got 'tensor<?x?x128xbf16>'}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, tensor<?x?x128xbf16>, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c1_type(%q: !t, %k: !t, %v: !t, %do: tensor<?x?x?x128xf16>, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'out_gradient' to have the element type of 'query', 'bf16', got 'f16'}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, !t, !t, tensor<?x?x?x128xf16>, !l)
  return
}

// -----

func.func @attention_bwd_c2_head_dim(%q: !t, %k: !t, %v: tensor<?x?x?x4xbf16>, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'value' head dim to be a multiple of 8 from 8 to 256, got 4}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, !t, tensor<?x?x?x4xbf16>, !t, !l)
  return
}

// -----

func.func @attention_bwd_c3_head_dim(%q: !t, %k: tensor<?x?x?x96xbf16>, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'key' head dim to be 128, got 96}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, tensor<?x?x?x96xbf16>, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c4_batch(%q: tensor<2x?x?x128xbf16>, %k: !t, %v: tensor<3x?x?x128xbf16>, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'value' batch size to be 2, got 3}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (tensor<2x?x?x128xbf16>, !t, tensor<3x?x?x128xbf16>, !t, !l)
  return
}

// -----

func.func @attention_bwd_c5_seqlen(%q: !t, %k: tensor<?x7x?x128xbf16>, %v: tensor<?x8x?x128xbf16>, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'value' seqlen to be 7, got 8}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, tensor<?x7x?x128xbf16>, tensor<?x8x?x128xbf16>, !t, !l)
  return
}

// -----

func.func @attention_bwd_c6_heads(%q: tensor<?x?x5x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'query' heads to be a multiple of 'key' heads, got 5 and 2}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x5x128xbf16>, tensor<?x?x2x128xbf16>, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c7_head_dim(%q: !t, %k: !t, %v: !t, %do: tensor<?x?x?x64xbf16>, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'out_gradient' head dim to be 128, got 64}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (!t, !t, !t, tensor<?x?x?x64xbf16>, !l)
  return
}

// -----

func.func @attention_bwd_c7_seqlen(%q: tensor<?x7x?x128xbf16>, %k: !t, %v: !t, %do: tensor<?x8x?x128xbf16>, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'out_gradient' seqlen to be 7, got 8}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (tensor<?x7x?x128xbf16>, !t, !t, tensor<?x8x?x128xbf16>, !l)
  return
}

// -----

func.func @attention_bwd_c8_heads(%q: tensor<?x4x?x128xbf16>, %k: !t, %v: !t, %do: !t, %lse2: tensor<?x5x?xf32>, %delta: tensor<?x5x?xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'lse2' heads to be 4, got 5}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bhsd)
      : (tensor<?x4x?x128xbf16>, !t, !t, !t, tensor<?x5x?xf32>)
  return
}

// -----

func.func @attention_bwd_c8_rows(%q: tensor<?x9x?x128xbf16>, %k: !t, %v: !t, %do: !t, %lse2: tensor<?x?x8xf32>, %delta: tensor<?x?x8xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'lse2' seqlen to be at least 9, got 8}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      : (tensor<?x9x?x128xbf16>, !t, !t, !t, tensor<?x?x8xf32>)
  return
}

// -----

func.func @attention_bwd_c9_one_result(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        // expected-error @below {{'attn.yield' op expected the score region to yield 'f32', 'f32', got 'f32'}}
        attn.yield %s : f32
      }
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c9_arguments(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected the score region to take ('f32', 'i32', 'i32', 'i32', 'i32'), got ('f32')}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32):
        attn.yield %s, %s : f32, f32
      }
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c11_mask_region(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected the mask region to take ('i32', 'i32', 'i32', 'i32'), got ('i32')}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      mask_region {
      ^bb0(%b: i32):
        attn.yield %b : i32
      }
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c11_op(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        // expected-error @below {{'math.sinh' op expected one of the ops that the score region may hold: }}
        %z = math.sinh %s : f32
        attn.yield %z, %s : f32, f32
      }
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c11_bounds(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected one of the bounds 'window_left', 'window_right' beside mask 'window_top_left', got none}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(window_top_left) layout(bshd)
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_types(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op failed to infer returned types}}
  // expected-error @below {{'attn.attention_bwd' op inferred type(s) 'tensor<?x?x?x128xbf16>', 'tensor<?x?x?x128xbf16>', 'tensor<?x?x?x128xbf16>' are incompatible with return type(s) of operation 'tensor<?x?x?x128xbf16>', 'tensor<?x?x?x64xbf16>', 'tensor<?x?x?x128xbf16>'}}
  %dq, %dk, %dv = "attn.attention_bwd"(%q, %k, %v, %do, %lse2, %delta, %scale) ({}, {}, {}) {layout = #attn<layout bshd>, mask = #attn<mask none>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0>}
      : (!t, !t, !t, !t, !l, !l, f32) -> (!t, tensor<?x?x?x64xbf16>, !t)
  return
}

// -----

func.func @attention_bwd_c10_gradients(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{custom op 'attn.attention_bwd' expected one of [all, dq, dk_dv, dk, dv, row_sums, key_sums, pairs, elements, sums, sums_dk, seeing] for the gradients that an op computes, got: dv_dk}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dv_dk)
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c9_capture(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected a score region beside 'row_sums', got none}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(row_sums of 0) captures(%w : tensor<?xf32>)
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c12_word(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'of' with 'key_sums', 'pairs' and 'elements', and otherwise only with 'row_sums'}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(dq of 0) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c12_none(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'of' with 'key_sums', 'pairs' and 'elements', and otherwise only with 'row_sums'}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(key_sums at affine_map<(b, h, i, j) -> (j)>) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c12_number(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'of' to be the number of a capture of f32, f16 or bf16, got 1}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(row_sums of 1) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c12_type(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xi32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'of' to be the number of a capture of f32, f16 or bf16, got 0}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(row_sums of 0) captures(%w : tensor<?xi32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xi32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_missing(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'at' beside 'key_sums' and 'pairs', and nowhere else}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(key_sums of 0) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_word(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'at' beside 'key_sums' and 'pairs', and nowhere else}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(row_sums of 0 at affine_map<(b, h, i, j) -> (j)>) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_number(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'of' to be the number of a captured tensor beside 'at', got 0}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(key_sums of 0 at affine_map<(b, h, i, j) -> (j)>) captures(%w : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: f32):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_rank(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'at' to be a map from 4 positions to 1 indices, each of which is one of them, at most once, or 0, got affine_map<(d0, d1, d2, d3) -> (d3, 0)>}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(key_sums of 0 at affine_map<(b, h, i, j) -> (j, 0)>) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_twice(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?x?x?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'at' to be a map from 4 positions to 3 indices, each of which is one of them, at most once, or 0, got affine_map<(d0, d1, d2, d3) -> (d2, d3, d2)>}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(pairs of 0 at affine_map<(b, h, i, j) -> (i, j, i)>) captures(%w : tensor<?x?x?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?x?x?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_key(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'at' to have the position of the key among the indices, and only for 'pairs' also that of the query, got affine_map<(d0, d1, d2, d3) -> (d3)>}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(pairs of 0 at affine_map<(b, h, i, j) -> (j)>) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        attn.yield %x, %x : f32, f32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @sum_gradient_c1(%sums: tensor<?x?xf32>) {
  // expected-error @below {{'sums' must be rank-3 tensor of f32, but got 'tensor<?x?xf32>'}}
  %g = attn.sum_gradient %sums of "w" at affine_map<(b, h, p) -> (h)> : tensor<?x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @sum_gradient_c2(%sums: tensor<?x?x?xf32>) {
  // expected-error @below {{'attn.sum_gradient' op expected 'at' to be a map from 3 positions to 1 indices, each of which is one of them, at most once, or 0, got affine_map<(d0, d1, d2) -> (d0 + d1)>}}
  %g = attn.sum_gradient %sums of "w" at affine_map<(b, h, p) -> (b + h)> : tensor<?x?x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @sum_gradient_c3(%sums: tensor<?x?x?xf32>) {
  // expected-error @below {{'attn.sum_gradient' op expected a result of rank 1 or more, got 'tensor<f32>'}}
  %g = attn.sum_gradient %sums of "w" at affine_map<(b, h, p) -> ()> : tensor<?x?x?xf32> -> tensor<f32>
  return
}

// -----

func.func @sum_gradient_c4_map(%sums: tensor<?x?x?xf32>, %sinks: tensor<?xf32>) {
  // expected-error @below {{'attn.sum_gradient' op expected 'at' to be affine_map<(d0, d1, d2) -> (d1)> beside 'sinks', got affine_map<(d0, d1, d2) -> (d2)>}}
  %g = attn.sum_gradient %sums weights(%sums, %sinks) of "sinks" at affine_map<(b, h, p) -> (p)> : tensor<?x?x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @sum_gradient_c4_divisor(%sums: tensor<?x?x?xf32>, %sinks: tensor<?xf32>, %x: f32) {
  // expected-error @below {{'attn.sum_gradient' op expected no 'divisor' beside 'sinks'}}
  %g = attn.sum_gradient %sums over(%x) weights(%sums, %sinks) of "sinks" at affine_map<(b, h, p) -> (h)> : tensor<?x?x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @sum_gradient_c4_lse2(%sums: tensor<?x?x?xf32>, %sinks: tensor<?xf32>) {
  // expected-error @below {{'attn.sum_gradient' op expected 'lse2' if and only if there are 'sinks'}}
  %g = "attn.sum_gradient"(%sums, %sinks) {of = "sinks", indices = affine_map<(b, h, p) -> (h)>, operandSegmentSizes = array<i32: 1, 0, 0, 1>}
      : (tensor<?x?x?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @gradients_c12_elements(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xbf16>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'of' to be the number of a tensor of f32 beside 'elements', got 'tensor<?xbf16>'}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(elements of 0) captures(%w : tensor<?xbf16>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xbf16>):
        attn.yield %x, %x, %i : f32, f32, i32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c9_elements(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?x?xf32>) {
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(elements of 0) captures(%w : tensor<?x?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?x?xf32>):
        // expected-error @below {{'attn.yield' op expected the score region to yield 'f32', 'f32', 'i32', 'i32', got 'f32', 'f32', 'i32'}}
        attn.yield %x, %x, %i : f32, f32, i32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @gradients_c13_elements(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %w: tensor<?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected the indices that the score region yields not to depend on the score}}
  %r = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(elements of 0) captures(%w : tensor<?xf32>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?xf32>):
        %at = arith.fptosi %x : f32 to i32
        attn.yield %x, %x, %at : f32, f32, i32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_sums(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected either 'sums' or 'new_sums', as 'gradients' is sums, got none}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(sums)
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_sums_dk(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected either 'sums' or 'new_sums', as 'gradients' is sums_dk, got none}}
  %dq, %dk = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(sums_dk)
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_sums_shape(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x64xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'sums' head dim to be at least 128, got 64}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x64xf32>) scale(%scale) mask(none) layout(bshd) gradients(sums)
      : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_both(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x128xf32>, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected either 'sums' or 'new_sums', as 'gradients' is sums, got both}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x128xf32>) turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(128) of 64 : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_new_without_turns(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'turns' beside 'new_sums', got none}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(128) of 64 : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_new_columns(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'sums' head dim to be at least 128, got 96}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(96) of 64 : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_new_none(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{expected 'new_sums' to be positive, beside statistics of rank 3}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(0) of 64 : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @convert_sums_c4_other(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: tensor<?x?x?xi32>, %scale: f32) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(128) of 64 : (!t, !t, !t, !t, !l)
  // expected-error @below {{'attn.convert_sums' op C4: expected the queries of a share as where the sums are made, 64, got 128}}
  %dq = attn.convert_sums %r#0 turns(%turns : tensor<?x?x?xi32>) of 128 scale(%scale) layout(bshd) : tensor<?x?x?x128xf32> -> !t
  return
}

// -----

func.func @convert_sums_c4_range(%sums: tensor<?x?x?x64xf32>, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected the queries of a share to be in 1..2147483647, got -5}}
  %dq = attn.convert_sums %sums turns(%turns : tensor<?x?x?xi32>) of -5 scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @convert_sums_c4_without_turns(%sums: tensor<?x?x?x64xf32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected the queries of a share only beside new sums or turns, got some}}
  %dq = "attn.convert_sums"(%sums, %scale) <{layout = #attn<layout bshd>, share_queries = 64 : i64}> : (tensor<?x?x?x64xf32>, f32) -> tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @convert_sums_c4_alone(%sums: tensor<?x?x?x64xf32>, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected the queries of a share beside new sums or turns, got none}}
  %dq = "attn.convert_sums"(%sums, %turns, %scale) <{layout = #attn<layout bshd>}> : (tensor<?x?x?x64xf32>, tensor<?x?x?xi32>, f32) -> tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @attention_bwd_c10_new_of_one(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'sums' only if 'gradients' is sums or sums_dk, and 'new_sums' only if it is sums, got sums_dk}}
  %r:2 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums_dk) new_sums(128) of 64 : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @convert_sums_c4_none(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %turns: tensor<?x?x?xi32>, %scale: f32) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) new_sums(128) of 64 : (!t, !t, !t, !t, !l)
  // expected-error @below {{'attn.convert_sums' op C4: expected the turns of the op that makes the sums, got none}}
  %dq = attn.convert_sums %r#0 scale(%scale) layout(bshd) : tensor<?x?x?x128xf32> -> !t
  return
}

// -----

func.func @clear_sums_c3() {
  // expected-error @below {{'attn.clear_sums' op expected 'sums' or 'turns', got neither}}
  attn.clear_sums dtype(bf16)
  return
}

// -----

func.func @convert_sums_c4(%sums: tensor<?x4x?x64xf32>, %turns: tensor<?x2x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected 'turns' heads to be 4, got 2}}
  %dq = attn.convert_sums %sums turns(%turns : tensor<?x2x?xi32>) of 64 scale(%scale) layout(bshd) : tensor<?x4x?x64xf32> -> tensor<?x?x4x64xbf16>
  return
}

// -----

func.func @convert_sums_c4_of(%sums: tensor<?x?x?x64xf32>, %turns: tensor<?x?x?xi32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected the queries of a share to be in 1..2147483647, got 0}}
  %dq = attn.convert_sums %sums turns(%turns : tensor<?x?x?xi32>) of 0 scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @clear_sums_c1() {
  // expected-error @below {{'attn.clear_sums' op expected the head dim of 'sums' to be a multiple of 16, got 72}}
  %sums = attn.clear_sums dtype(bf16) sums tensor<?x?x?x72xf32>
  return
}

// -----

func.func @attention_bwd_c10_turns(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %turns: tensor<?x?x?xi32>) {
  // expected-error @below {{'attn.attention_bwd' op expected 'turns' only if 'gradients' is sums, got dq}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta turns(%turns : tensor<?x?x?xi32>) scale(%scale) mask(none) layout(bshd)
      gradients(dq) : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @attention_bwd_c10_turns_seeing(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %sums: tensor<?x?x?x128xf32>, %turns: tensor<?x?x?xi32>, %seeing: tensor<?x16x?xf32>) {
  // expected-error @below {{'attn.attention_bwd' op expected no 'turns' beside 'seeing'}}
  %dqs, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x128xf32>) turns(%turns : tensor<?x?x?xi32>) seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @clear_sums_c2() {
  // expected-error @below {{'attn.clear_sums' op expected 'turns' heads to be 4, got 2}}
  %sums, %turns = attn.clear_sums dtype(bf16) sums tensor<?x4x?x64xf32> turns tensor<?x2x?xi32>
  return
}

// -----

func.func @clear_sums_dtype() {
  // expected-error @below {{'attn.clear_sums' op expected 'dtype' to be bf16 or f16, got 'f32'}}
  %sums = attn.clear_sums dtype(f32) sums tensor<?x?x?x64xf32>
  return
}

// -----

func.func @convert_sums_c2_columns(%sums: tensor<?x?x?x64xf32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected 'sums' head dim to be at least 72, got 64}}
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x72xbf16>
  return
}

// -----

func.func @convert_sums_c2(%sums: tensor<?x?x60x64xf32>, %scale: f32) {
  // expected-error @below {{'attn.convert_sums' op expected 'sums' seqlen to be at least 64, got 60}}
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x60x64xf32> -> tensor<?x64x?x64xbf16>
  return
}

// -----

func.func @bwd_c11_row_keys_beside_mask(%q: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected mask 'none' beside 'row_keys', got 'causal_top_left'}}
  %dq = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd) gradients(dq)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        attn.yield %b, %i : i32, i32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @bwd_c11_row_keys_results(%q: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  %dq = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        // expected-error @below {{'attn.yield' op expected the row_keys region to yield 'i32', 'i32', got 'i32'}}
        attn.yield %i : i32
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @bwd_user_mask(%q: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'attn.user_problem' beside 'attn.user_mask'}}
  %dq = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq) {attn.user_mask = []}
      : (!t, !t, !t, !t, !l)
  return
}

// -----

// C15
func.func @bwd_c15_transposed_dq(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected 'transposed' only beside sums, got gradients(dq)}}
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq) transposed(80)
      : (!t, !t, !t, !t, !l)
  return %dq : !t
}

// -----

func.func @bwd_c15_odd(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x128xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'transposed' to be a multiple of 16, got 40}}
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x128xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(40) : (!t, !t, !t, !t, !l)
  return
}

// -----

// C16
func.func @bwd_c16_beside_dq(%q: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: tensor<?x16x?xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'seeing' only beside gradients of K and V without dQ, got gradients(dq)}}
  %dq = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta seeing(%seeing : tensor<?x16x?xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(dq) : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @bwd_c16_shares(%q: !t, %do: !t, %lse2: !l, %delta: !l, %seeing: tensor<?x4x?xf32>, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected 'seeing' numbers of a group to be 16, got 4}}
  %dk, %dv = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta seeing(%seeing : tensor<?x4x?xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(dk_dv) : (!t, !t, !t, !t, !l)
  return
}

// -----

func.func @bwd_c16_head(%q: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32) {
  // expected-error @below {{'attn.attention_bwd' op expected a mask that does not read the head beside 'seeing'}}
  %seeing = attn.attention_bwd %q, %q, %q, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(seeing)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %is = arith.cmpi sge, %i, %h : i32
        attn.yield %is : i1
      } : (!t, !t, !t, !t, !l)
  return
}

// -----

// C3, the queries of a block and the columns of sums
func.func @convert_c3_block(%sums: tensor<?x?x?x128xf32>, %scale: f32) -> tensor<?x?x?x128xbf16> {
  // expected-error @below {{'attn.convert_sums' op expected 'transposed' to be a multiple of 16, got 40}}
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) transposed(40) : tensor<?x?x?x128xf32> -> tensor<?x?x?x128xbf16>
  return %dq : tensor<?x?x?x128xbf16>
}

// -----

func.func @convert_c3_columns(%sums: tensor<?x?x?x96xf32>, %scale: f32) -> tensor<?x?x?x96xbf16> {
  // expected-error @below {{'attn.convert_sums' op expected 'transposed' only beside sums with a multiple of 64 columns, got 96}}
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) transposed(80) : tensor<?x?x?x96xf32> -> tensor<?x?x?x96xbf16>
  return %dq : tensor<?x?x?x96xbf16>
}

// -----

func.func @convert_c3(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x128xf32>, %scale: f32) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x128xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80) : (!t, !t, !t, !t, !l)
  // expected-error @below {{'attn.convert_sums' op C3: expected 'transposed' as where the sums are made, 80, got none}}
  %dq = attn.convert_sums %r#0 scale(%scale) layout(bshd) : tensor<?x?x?x128xf32> -> !t
  return
}

// -----

func.func @convert_c3_other(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %sums: tensor<?x?x?x128xf32>, %scale: f32) {
  %r:3 = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta sums(%sums : tensor<?x?x?x128xf32>) scale(%scale) mask(none) layout(bshd)
      gradients(sums) transposed(80) : (!t, !t, !t, !t, !l)
  // expected-error @below {{'attn.convert_sums' op C3: expected 'transposed' as where the sums are made, 80, got 64}}
  %dq = attn.convert_sums %r#0 scale(%scale) layout(bshd) transposed(64) : tensor<?x?x?x128xf32> -> !t
  return
}
