// Documents packed into one sequence: a query sees the keys of its own document.
// ids[b, i] says which document position i of batch b is in.
//
// The mask region is scalar code for one pair (i, j) and yields whether query
// i may see key j. It narrows the built-in mask, here none, so that both apply.
// A query that sees no key gives O = 0 and LSE = -inf.
func.func @documents(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                     %v: tensor<?x?x?x128xbf16>, %scale: f32,
                     %ids: tensor<?x?xi32> {attn.name = "ids"})
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%ids : tensor<?x?xi32>)
      mask_region {
      // Batch, head, query position, key position, captures.
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32, %id_of: tensor<?x?xi32>):
        %batch = arith.index_cast %b : i32 to index
        %qi = arith.index_cast %i : i32 to index
        %kj = arith.index_cast %j : i32 to index
        %mine = tensor.extract %id_of[%batch, %qi] : tensor<?x?xi32>
        %other = tensor.extract %id_of[%batch, %kj] : tensor<?x?xi32>
        %same = arith.cmpi eq, %mine, %other : i32
        attn.yield %same : i1
      }
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
        -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
