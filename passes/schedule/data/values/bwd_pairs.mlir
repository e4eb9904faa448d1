// Names of the values of the kernel of derivatives by a capture at each pair of a query and a
// key. Its iterations load the rows of each batch and head that share the elements.
module attributes {attn.values = #attn.kernel_values<bwd_pairs {
  carried sum<M, N>
  final sumf<M, N>
  step next w
  step ld_q q<M, D>
  step ld_lse lse<M>
  step ld_do do<M, DV>
  step ld_dl dl<M>
  step ld_k k<N, D>
  step ld_v v<N, DV>
  step qk s<M, N>
  step dp dp<M, N>
  step score s1<M, N>, t<M, N>
  step mask s2<M, N>
  step exp p32<M, N>
  step dsoft dc<M, N>
  step add sum1<M, N>
}>} {}
