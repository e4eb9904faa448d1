// Names of the values of the kernel of dK alone. It owns keys, the rows of its scores: M counts
// keys and N queries.
module attributes {attn.values = #attn.kernel_values<bwd_dk {
  carried dk<M, D>
  final dkf<M, D>
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
  step exp p32<M, N>
  step cvt_pk pk<M, N>
  step dsoft ds32<M, N>
  step cvt_ds ds<M, N>
  step mm_dk dk1<M, D>
  step join dkj<M, D>
  step cvt_dk dke<M, D>
}>} {}
