// One query of two heads, in numbers that a kernel is compiled for.
!q = tensor<?x1x2x64xbf16>
!k = tensor<?x?x2x64xbf16>
!l = tensor<?x2x1xf32>
func.func @few_d64(%q: !q, %k: !k, %v: !k, %scale: f32) -> (!q, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd) : (!q, !k, !k) -> (!q, !l)
  return %o, %lse : !q, !l
}
