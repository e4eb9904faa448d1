// All gradients, for head dim 128.
func.func @bwd_ordered_d128(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>,
    %do: tensor<?x?x?x128xbf16>, %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) {
  %dq, %dk, %dv = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(causal_top_left) layout(bshd)
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %dq, %dk, %dv : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>
}
