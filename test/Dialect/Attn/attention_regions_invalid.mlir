// Constraints of attn.attention on its regions and captures, by label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics


!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

// -----

func.func @attention_c9_arguments(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected the score region to take ('f32', 'i32', 'i32', 'i32', 'i32'), got ('f32', 'i32', 'i32')}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %i: i32, %j: i32):
        attn.yield %s : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c9_captures(%q: !q, %k: !q, %v: !q, %scale: f32, %t: tensor<?xf32>) {
  // expected-error @below {{'attn.attention' op expected the score region to take ('f32', 'i32', 'i32', 'i32', 'i32', 'tensor<?xf32>'), got ('f32', 'i32', 'i32', 'i32', 'i32')}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%t : tensor<?xf32>)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        attn.yield %s : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c9_terminator(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected the score region to end with 'attn.yield'}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        ub.unreachable
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c9_blocks(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op region #0 ('score_region') failed to verify constraint: region with at most 1 blocks}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        cf.br ^bb1
        ^bb1:
          attn.yield %s : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c10_arguments(%q: !q, %k: !q, %v: !q, %scale: f32) {
  // expected-error @below {{'attn.attention' op expected the mask region to take ('i32', 'i32', 'i32', 'i32'), got ('f32', 'i32', 'i32', 'i32', 'i32')}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      mask_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %ok = arith.constant true
        attn.yield %ok : i1
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

func.func @attention_c13_outside(%q: !q, %scale: f32, %bias: f32) {
  // expected-note @below {{required by region isolation constraints}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        // expected-error @below {{'arith.addf' op using value defined outside the region}}
        %r = arith.addf %s, %bias : f32
        attn.yield %r : f32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// =====

// A score region.
func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

// attention_c9_yield
%c = arith.cmpi slt, %i, %j : i32
// expected-error @below {{'attn.yield' op expected the score region to yield 'f32', got 'i1'}}
attn.yield %c : i1

// -----

// attention_yield_type
%c = arith.constant 0.0 : f64
// expected-error @below {{'attn.yield' op operand #0 must be variadic of 32-bit float or 1-bit signless integer or 32-bit signless integer, but got 'f64'}}
attn.yield %c : f64

// -----

// attention_c12_op
// expected-error-re @below {{'math.atan' op expected one of the ops that the score region may hold: arith.addf, {{.*}}, math.tanh, tensor.extract}}
%r = math.atan %s : f32
attn.yield %r : f32

// -----

// attention_c14_value
// expected-error @below {{'arith.sitofp' op expected the values of the score region to be f16, bf16, f32, f64, i1, i8, i16, i32, i64 or index, got 'f128'}}
%x = arith.sitofp %i : i32 to f128
attn.yield %s : f32

// -----

// attention_c19_arithmetic
%x = arith.truncf %s : f32 to bf16
// expected-error @below {{'arith.addf' op expected arithmetic of the score region on f32, which 'arith.extf' extends to and 'arith.truncf' rounds from, got 'bf16'}}
%y = arith.addf %x, %x : bf16
attn.yield %s : f32

// -----

// attention_c19_from_f64
%x = arith.extf %s : f32 to f64
// expected-error @below {{'arith.truncf' op expected values of the score region to be rounded to 'f16' from f32, got from 'f64'}}
%y = arith.truncf %x : f64 to f16
attn.yield %s : f32

// -----

// attention_c19_rounding_mode
// expected-error @below {{'arith.truncf' op expected no rounding mode in the score region, which rounds to nearest even}}
%y = arith.truncf %s upward : f32 to f16
attn.yield %s : f32

// -----

// attention_c19_math
%x = arith.extf %s : f32 to f64
// expected-error @below {{'math.exp' op expected to be on f32 in the score region, got f64}}
%y = math.exp %x : f64
attn.yield %s : f32

// =====

// A mask region.
func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

// attention_c10_yield
%c = arith.constant 1.0 : f32
// expected-error @below {{'attn.yield' op expected the mask region to yield 'i1', got 'f32'}}
attn.yield %c : f32

// -----

// attention_c12_region
%c = arith.cmpi slt, %i, %j : i32
// expected-error-re @below {{'scf.if' op expected one of the ops that the mask region may hold: {{.*}}}}
%r = scf.if %c -> i1 {
  scf.yield %c : i1
} else {
  scf.yield %c : i1
}
attn.yield %r : i1

// -----

// attention_c15_index_cast
%c = arith.cmpi slt, %i, %j : i32
// expected-error @below {{'arith.index_cast' op expected an index of the mask region to be cast from or to i8, i16, i32 or i64, got i1}}
%x = arith.index_cast %c : i1 to index
attn.yield %c : i1

// -----

// attention_c15_index_constant
// expected-error @below {{'arith.constant' op expected index constants of the mask region to fit i32, got 2147483648}}
%x = arith.constant 2147483648 : index
%c = arith.cmpi slt, %i, %j : i32
attn.yield %c : i1

// =====

// The keys of each row.
func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
...
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

// attention_c20_results
// expected-error @below {{'attn.yield' op expected the row_keys region to yield 'i32', 'i32', got 'i32'}}
attn.yield %i : i32

// -----

// attention_c12_row_keys
%x = arith.sitofp %i : i32 to f32
// expected-error-re @below {{'math.atan' op expected one of the ops that the row_keys region may hold: arith.addf, {{.*}}, math.tanh, tensor.extract}}
%r = math.atan %x : f32
attn.yield %i, %i : i32, i32

// =====

// attention_c21
func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32) {
...
      row_keys {
      ^bb0(%b: i32, %h: i32, %i: i32):
        attn.yield %i, %i : i32, i32
      }
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

// expected-error @below {{'attn.attention' op expected mask 'none' beside 'row_keys', got 'causal_top_left'}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd)

// =====

// The program of a mask that a pass has replaced.
func.func @case(%q: !q, %k: !q, %v: !q, %scale: f32) {
...
      attn.user_problem = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = present>}
      : (!q, !q, !q) -> (!q, !lse)
  return
}

// -----

// attention_user_mask_list
// expected-error @below {{'attn.attention' op expected 'attn.user_mask' to be a program: expected a list of ops, got []}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) {attn.user_mask = [],

// -----

// attention_user_mask_words
// expected-error @below {{expected 'attn.user_mask' to be a program: expected a list of words in op 0, got ["i1"]}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) {attn.user_mask = ["i1"],

// -----

// attention_user_mask_name
// expected-error @below {{expected the name of an op of regions in op 0}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) {attn.user_mask = [["i1", "magic", "i", "j"], ["i1", "yield", "%0"]],

// -----

// attention_user_mask_operand
// expected-error @below {{expected a position, '@' and a capture, or '%' and the number of an earlier op, not '%0' in op 0}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) {attn.user_mask = [["i1", "cmpi.sge", "i", "%0"], ["i1", "yield", "%0"]],

// -----

// attention_user_mask_end
// expected-error @below {{expected 'yield' at the end in op 0}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) {attn.user_mask = [["i1", "cmpi.sge", "i", "j"]],

// -----

// attention_user_mask_type
// expected-error @below {{expected 'yield' of an 'i1' in op 1}}
%o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) {attn.user_mask = [["i1", "cmpi.sge", "i", "j"], ["i32", "yield", "%0"]],
