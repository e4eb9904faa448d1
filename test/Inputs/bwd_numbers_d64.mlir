// The gradients of the scale and of the number that a softcap captures.
!q = tensor<?x?x?x64xbf16>
func.func @bwd_numbers_d64(%q: !q, %k: !q, %v: !q, %scale: f32 {attn.gradient}, %cap: f32 {attn.name = "cap", attn.gradient})
    -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) captures(%cap : f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %c: f32):
        %ratio = arith.divf %s, %c : f32
        %t = math.tanh %ratio : f32
        %z = arith.mulf %t, %c : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
