// Names of the values of the kernel that combines the partial results of splits.
module attributes {attn.values = #attn.kernel_values<combine {
  carried m<M>, l<M>, o<M, DV>
  final mf<M>, lf<M>, of<M, DV>
  step next w
  step ld_ls ls<M>
  step ld_op op<M, DV>
  step mstat m1<M>, a<M>, b<M>
  step msum l1<M>
  step macc o1<M, DV>
  step fin inv<M>, lse<M>
  step norm on<M, DV>
}>} {}
