// Names of the values of the kernel of dV alone. It owns keys, the rows of its scores: M counts
// keys and N queries.
module attributes {attn.values = #attn.kernel_values<bwd_dv {
  carried dv<M, DV>
  final dvf<M, DV>
  step next w
  step ld_k k<M, D>
  step ld_q q<N, D>
  step ld_lse lse<N>
  step ld_do do<N, DV>
  step qk s<M, N>
  step score s1<M, N>, g<M, N>
  step mask s2<M, N>
  step exp p32<M, N>
  step cvt_p p<M, N>
  step mm_dv dv1<M, DV>
  step join dvj<M, DV>
  step cvt_dv dve<M, DV>
}>} {}
