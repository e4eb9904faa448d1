// Dropout beside a causal mask.
!t = tensor<?x?x?x64xbf16>
func.func @dropout_d64(%q: !t, %k: !t, %v: !t, %scale: f32, %rate: f32, %state: tensor<2xi64>) -> (!t, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd) dropout(%rate, %state)
      : (!t, !t, !t) -> (!t, tensor<?x?x?xf32>)
  return %o, %lse : !t, tensor<?x?x?xf32>
}
