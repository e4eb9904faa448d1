// Names of the values of a forward kernel: what the places of a schedule call them.
module attributes {attn.values = #attn.kernel_values<fwd {
  carried m<M>, l<M>, o<M, DV>, careful
  final mf<M>, lf<M>, of<M, DV>, carefulf
  step next w
  step ld_q q<M, D>
  step ld_k k<N, D>
  step ld_v v<N, DV>
  step qk s<M, N>
  step score s1<M, N>
  step mask s2<M, N>
  step stat m1<M>, alpha<M>, s3<M, N>, ls<M>, careful1, grown
  step exp p32<M, N>
  step sum l1<M>
  step cvt p<M, N>
  step rescale o1<M, DV>
  step pv o2<M, DV>
  step join mj<M>, lj<M>, oj<M, DV>
  step fin inv<M>, lse<M>
  step norm on<M, DV>
  step cvt_o oe<M, DV>
}>} {}
