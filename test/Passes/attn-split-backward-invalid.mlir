// RUN: attn-opt %s --attn-split-backward -verify-diagnostics

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>

// Without the score, the product of Q and K has no use, which no kernel of these gradients can do without.
func.func @no_score(%q: !t, %k: !t, %v: !t, %do: !t, %lse2: !l, %delta: !l, %scale: f32, %bias: f32) -> !t {
  // expected-error @below {{'attn.attention_bwd' op expected a score region that reads the score, for the gradients of 'q', 'k' and 'v', got one without it}}
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) captures(%bias : f32) score_region {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: f32):
    %zero = arith.constant 0.0 : f32
    attn.yield %of, %zero : f32, f32
  } : (!t, !t, !t, !t, !l)
  return %dv : !t
}
