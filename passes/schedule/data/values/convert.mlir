// Names of the values of the kernel that makes dQ of its sums, which has no loop.
module attributes {attn.values = #attn.kernel_values<convert {
  step next w
  step ld_turn turn_of_row<M>
  step ld_sums sums<M, D>
  step cvt_dq dqe<M, D>
}>} {}
