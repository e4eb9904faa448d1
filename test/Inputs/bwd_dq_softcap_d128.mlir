// dQ of scores with a softcap, cap * tanh(x / cap), as attn-differentiate derives it.
func.func @bwd_dq_softcap_d128(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>,
    %do: tensor<?x?x?x128xbf16>, %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32, %cap: f32 {attn.name = "cap"})
    -> tensor<?x?x?x128xbf16> {
  %dq = attn.attention_bwd %q, %k, %v, %do, %lse2, %delta scale(%scale) mask(none) layout(bshd) gradients(dq)
      captures(%cap : f32)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %ratio = arith.divf %x, %c : f32
        %t = math.tanh %ratio : f32
        %z = arith.mulf %t, %c : f32
        %square = arith.mulf %t, %t : f32
        %one = arith.constant 1.0 : f32
        %g = arith.subf %one, %square : f32
        attn.yield %z, %g : f32, f32
      }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %dq : tensor<?x?x?x128xbf16>
}
