// If several entries serve an attention, its function may contain nothing else.
// RUN: attn-opt %s --attn-configure=schedule-file=%attn_root/test/Inputs/variants_d64.mlir -split-input-file -verify-diagnostics

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @two(%q: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected to be the only 'attn.attention' of a 'func.func', which is copied for 3 entries}}
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(causal_bottom_right) layout(bshd) : (!t, !t, !t) -> (!t, !l)
  %o2, %lse2 = attn.attention %o, %q, %q scale(%scale) mask(causal_bottom_right) layout(bshd) : (!t, !t, !t) -> (!t, !l)
  return %o2, %lse2 : !t, !l
}
