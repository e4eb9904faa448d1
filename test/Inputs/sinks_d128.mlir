// A sink of each head.
!t = tensor<?x?x?x128xbf16>
func.func @sinks_d128(%q: !t, %k: !t, %v: !t, %scale: f32, %sinks: tensor<?xf32>) -> (!t, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd) sinks(%sinks : tensor<?xf32>)
      : (!t, !t, !t) -> (!t, tensor<?x?x?xf32>)
  return %o, %lse : !t, tensor<?x?x?xf32>
}
