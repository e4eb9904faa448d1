// Names of the values of the kernel that sums partial sums to the gradient of a capture.
module attributes {attn.values = #attn.kernel_values<sum {
  carried sum<M>
  final sumf<M>
  step next w
  step add sum1<M>
  step total all<M>
}>} {}
