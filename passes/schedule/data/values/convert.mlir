// Names of the values of the kernel that makes dQ of its sums, which has no loop.
module attributes {attn.values = #attn.kernel_values<convert {
  step next w
  step turn turn<M>
  step ld_sums sums<M, D>
  step cvt_dq dqe<M, D>
}>} {}
