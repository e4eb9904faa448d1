// dQ, with a causal mask, for head dim 64.
func.func @bwd_dq_causal_d64(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>,
    %do: tensor<?x?x?x64xbf16>, %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32) -> tensor<?x?x?x64xbf16> {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bshd) gradients(dq)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %dq : tensor<?x?x?x64xbf16>
}
