// Names of the values of the kernel of row statistics, which has no loop.
module attributes {attn.values = #attn.kernel_values<delta {
  step next w
  step ld_o o<M, DV>
  step ld_do do<M, DV>
  step ld_lse lse<M>
  step ld_dlse dlse<M>
  step dot sum<M>
  step stats dl<M>, lse2<M>
}>} {}
