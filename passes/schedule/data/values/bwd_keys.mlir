// Names of the values of the kernel of derivatives by a capture, summed over queries. It owns
// keys, the rows of its scores: M counts keys and N queries.
module attributes {attn.values = #attn.kernel_values<bwd_keys {
  carried sum<M>
  final sumf<M>
  step next w
  step ld_k k<M, D>
  step ld_v v<M, DV>
  step ld_q q<N, D>
  step ld_lse lse<N>
  step ld_do do<N, DV>
  step ld_dl dl<N>
  step qk s<M, N>
  step dp dp<M, N>
  step score s1<M, N>, t<M, N>
  step mask s2<M, N>
  step exp p32<M, N>
  step dsoft dc<M, N>
  step add sum1<M>
  step total all<M>
}>} {}
