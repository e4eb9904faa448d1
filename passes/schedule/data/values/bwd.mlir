// Names of the values of the kernel of all gradients. It owns keys, the rows of its scores: M
// counts keys and N queries.
module attributes {attn.values = #attn.kernel_values<bwd {
  carried dk<M, D>, dv<M, DV>
  final dkf<M, D>, dvf<M, DV>
  step next w
  step ld_k k<M, D>
  step ld_v v<M, DV>
  step ld_q q<N, D>
  step ld_lse lse<N>
  step ld_do do<N, DV>
  step ld_dl dl<N>
  step qk s<M, N>
  step dp dp<M, N>
  step score s1<M, N>, g<M, N>
  step mask s2<M, N>
  step exp p32<M, N>, pg<M, N>
  step cvt_pk pk<M, N>
  step cvt_p p<M, N>
  step dsoft ds32<M, N>
  step cvt_ds ds<M, N>
  step mm_dv dv1<M, DV>
  step mm_dk dk1<M, D>
  step put_ds dss<M, N>
  step mm_dq dq<N, D>
  step put_dq dqe<N, D>
  step mm_dqt dqt<D, N>
  step put_dqt dqte<D, N>
  step join dkj<M, D>, dvj<M, DV>
  step cvt_dk dke<M, D>
  step cvt_dv dve<M, DV>
}>} {}
