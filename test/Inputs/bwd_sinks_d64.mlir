// The gradients of Q, K, V and the sinks.
!q = tensor<?x?x?x64xbf16>
func.func @bwd_sinks_d64(%q: !q {attn.gradient}, %k: !q {attn.gradient}, %v: !q {attn.gradient}, %scale: f32,
    %sinks: tensor<?xf32> {attn.gradient}) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd) sinks(%sinks : tensor<?xf32>)
      : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
