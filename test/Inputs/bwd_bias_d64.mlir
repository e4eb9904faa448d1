// The gradients of Q, K, V and a bias of each head, which is multiplied by the distance.
!q = tensor<?x?x?x64xbf16>
!bias = tensor<?xf32>
func.func @bwd_bias_d64(%q: !q {attn.gradient}, %k: !q {attn.gradient}, %v: !q {attn.gradient}, %scale: f32,
    %bias: !bias {attn.name = "bias", attn.gradient}) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%bias : !bias)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: !bias):
        %ib = arith.index_cast %b : i32 to index
        %ih = arith.index_cast %h : i32 to index
        %ii = arith.index_cast %i : i32 to index
        %ij = arith.index_cast %j : i32 to index
        %c0 = arith.constant 0 : index
        %element = tensor.extract %of[%ih] : !bias
        %distance = arith.subi %j, %i : i32
        %far = arith.sitofp %distance : i32 to f32
        %c16 = arith.constant 0.0625 : f32
        %near = arith.mulf %far, %c16 : f32
        %of_pair = arith.mulf %element, %near : f32
        %z = arith.addf %s, %of_pair : f32
        attn.yield %z : f32
      } : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
