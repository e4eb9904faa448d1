// The gradients of Q, K, V and a softcap, with dropout.
!t = tensor<?x?x?x64xf16>
func.func @bwd_dropout_d64(%q: !t {attn.gradient}, %k: !t {attn.gradient}, %v: !t {attn.gradient}, %scale: f32,
    %rate: f32, %state: tensor<2xi64>, %cap: f32 {attn.name = "cap", attn.gradient}) -> (!t, tensor<?x?x?xf32>)
    attributes {attn.any_order} {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bhsd) dropout(%rate, %state) captures(%cap : f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %ratio = arith.divf %s, %c : f32
        %t = math.tanh %ratio : f32
        %z = arith.mulf %t, %c : f32
        attn.yield %z : f32
      } : (!t, !t, !t) -> (!t, tensor<?x?x?xf32>)
  return %o, %lse : !t, tensor<?x?x?xf32>
}
