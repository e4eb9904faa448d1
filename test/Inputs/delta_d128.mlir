// The row statistics of a backward pass, for head dim 128 of V.
func.func @delta_d128(%o: tensor<?x?x?x128xbf16>, %do: tensor<?x?x?x128xbf16>, %lse: tensor<?x?x?xf32>, %dlse: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %delta, %lse2 = attn.delta %o, %do, %lse, %dlse layout(bshd) : (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %delta, %lse2 : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}
