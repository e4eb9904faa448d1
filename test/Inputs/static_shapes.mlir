func.func @st1(%q: tensor<2x128x8x64xbf16>, %k: tensor<2x128x8x64xbf16>, %v: tensor<2x128x8x64xbf16>, %scale: f32) -> (tensor<2x128x8x64xbf16>, tensor<2x8x128xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<2x128x8x64xbf16>, tensor<2x128x8x64xbf16>, tensor<2x128x8x64xbf16>) -> (tensor<2x128x8x64xbf16>, tensor<2x8x128xf32>)
  return %o, %lse : tensor<2x128x8x64xbf16>, tensor<2x8x128xf32>
}
