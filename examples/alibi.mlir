// ALiBi: each head adds slope[h] * (j - i) to the score of query i and key j.
//
// The score region is scalar code for one pair (i, j). It comes after the scale
// and before the mask and the softmax. What it reads, it captures: %slopes is an
// argument of the kernel like q, k and v, under the name of `attn.name`.
func.func @alibi(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                 %v: tensor<?x?x?x128xbf16>, %scale: f32,
                 %slopes: tensor<?xf32> {attn.name = "slopes"})
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      captures(%slopes : tensor<?xf32>)
      score_region {
      // The score, then batch, head, query position, key position, captures.
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %slope_of: tensor<?xf32>):
        // Depends on the head alone: read once for a whole block of queries.
        %head = arith.index_cast %h : i32 to index
        %slope = tensor.extract %slope_of[%head] : tensor<?xf32>
        %d = arith.subi %j, %i : i32
        %distance = arith.sitofp %d : i32 to f32
        %bias = arith.mulf %slope, %distance : f32
        %r = arith.addf %s, %bias : f32
        attn.yield %r : f32
      }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
        -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
