// Names of the values of the kernel that clears the sums of dQ, which has no loop.
module attributes {attn.values = #attn.kernel_values<clear {
  step next w
}>} {}
