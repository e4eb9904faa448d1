// Soft capping: scores are bounded by a cap, smoothly. In f16, with heads before
// positions (layout bhsd), at head dim 72: no schedule is made for it, so tiles
// have more columns, which are zero.
//
// math.tanh is computed to fp32's accuracy from exponentials; with fastmath<afn>
// it is the one instruction of the machine, which has about three digits.
func.func @softcap(%q: tensor<?x?x?x72xf16>, %k: tensor<?x?x?x72xf16>,
                   %v: tensor<?x?x?x72xf16>, %scale: f32,
                   %cap: f32 {attn.name = "softcap"})
    -> (tensor<?x?x?x72xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bhsd)
      captures(%cap : f32)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %bound: f32):
        // Depends on no element: computed once for a whole block.
        %one = arith.constant 1.0 : f32
        %inverse = arith.divf %one, %bound : f32
        %x = arith.mulf %s, %inverse : f32
        %t = math.tanh %x : f32
        %r = arith.mulf %t, %bound : f32
        attn.yield %r : f32
      }
      : (tensor<?x?x?x72xf16>, tensor<?x?x?x72xf16>, tensor<?x?x?x72xf16>)
        -> (tensor<?x?x?x72xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x72xf16>, tensor<?x?x?xf32>
}
