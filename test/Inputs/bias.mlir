func.func @sc(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %t: tensor<?x?x?x?xf32> {attn.name="bias"}) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_top_left) layout(bshd) captures(%t : tensor<?x?x?x?xf32>)
   score_region { ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %x: tensor<?x?x?x?xf32>):
     %bi = arith.index_cast %b : i32 to index
     %hi = arith.index_cast %h : i32 to index
     %ii = arith.index_cast %i : i32 to index
     %ji = arith.index_cast %j : i32 to index
     %e = tensor.extract %x[%bi, %hi, %ii, %ji] : tensor<?x?x?x?xf32>
     %r = arith.addf %s, %e : f32
     attn.yield %r : f32 }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
