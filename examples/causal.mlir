// Causal attention, the mask of a decoder. The types say what is fixed at
// compile time: bf16, head dim 128. Batch, lengths and heads (?) are arguments
// of the launch, so one kernel serves them all.
//
//   attn-opt --attn-configure --attn-tile --attn-fuse-online-softmax causal.mlir
//
// Tensors are (batch, position, head, dim): layout bshd. The mask is aligned
// at the bottom right: the last query sees every key, so that new queries
// may follow a cache of older keys. K and V may have fewer heads than Q.
func.func @causal(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                  %v: tensor<?x?x?x128xbf16>, %scale: f32)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  // %o is softmax(scale * Q K^T) V; %lse, (batch, head, position) in f32, is
  // the natural logarithm of the softmax's denominator.
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
        -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
