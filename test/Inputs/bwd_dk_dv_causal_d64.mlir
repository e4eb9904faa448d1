// dK and dV, with a causal mask, for head dim 64.
func.func @bwd_dk_dv_causal_d64(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>,
    %do: tensor<?x?x?x64xbf16>, %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
  %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_bottom_right) layout(bshd) gradients(dk_dv)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %dk, %dv : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
}
