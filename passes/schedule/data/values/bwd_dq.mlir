// Names of the values of the kernel of dQ. It owns queries, the rows of its scores.
module attributes {attn.values = #attn.kernel_values<bwd_dq {
  carried dq<M, D>
  final dqf<M, D>
  step next w
  step ld_q q<M, D>
  step ld_do do<M, DV>
  step ld_lse lse<M>
  step ld_dl dl<M>
  step ld_k k<N, D>
  step ld_v v<N, DV>
  step qk s<M, N>
  step dp dp<M, N>
  step score s1<M, N>, g<M, N>
  step mask s2<M, N>
  step exp p32<M, N>
  step dsoft ds32<M, N>
  step cvt_ds ds<M, N>
  step mm_dq dq1<M, D>
  step cvt_dq dqe<M, D>
}>} {}
