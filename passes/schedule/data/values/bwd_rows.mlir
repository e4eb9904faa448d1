// Names of the values of the kernel of derivatives by a capture, summed over keys. It owns
// queries, the rows of its scores.
module attributes {attn.values = #attn.kernel_values<bwd_rows {
  carried sum<M>
  final sumf<M>
  step next w
  step ld_q q<M, D>
  step ld_do do<M, DV>
  step ld_lse lse<M>
  step ld_dl dl<M>
  step ld_k k<N, D>
  step ld_v v<N, DV>
  step qk s<M, N>
  step dp dp<M, N>
  step score s1<M, N>, t<M, N>
  step mask s2<M, N>
  step exp p32<M, N>
  step dsoft dc<M, N>
  step add sum1<M>
  step total all<M>
}>} {}
