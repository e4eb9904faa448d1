// Names of the values of a backward kernel. S and dP have keys as rows.
module attributes {attn.values = #attn.kernel_values<bwd {
  carried dk<N, D>, dv<N, DV>
  final dkf<N, D>, dvf<N, DV>
  step next w
  step ld_k k<N, D>
  step ld_v v<N, DV>
  step ld_q q<M, D>
  step ld_lse lse<M>
  step ld_do do<M, DV>
  step ld_dl dl<M>
  step qk s<N, M>
  step dp dp<N, M>
  step score s1<N, M>, g<N, M>
  step mask s2<N, M>
  step exp p32<N, M>
  step cvt_p p<N, M>
  step dsoft ds32<N, M>
  step cvt_ds ds<N, M>
  step mm_dv dv1<N, DV>
  step mm_dk dk1<N, D>
  step mm_dq dq<M, D>
  step cvt_dk dke<N, D>
  step cvt_dv dve<N, DV>
}>} {}
