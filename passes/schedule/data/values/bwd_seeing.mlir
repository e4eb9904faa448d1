// Names of the values of the kernel that finds the queries that may see groups of keys. M counts
// groups and N queries.
module attributes {attn.values = #attn.kernel_values<bwd_seeing {
  carried begin<M>, past<M>, low<M>, high<M>
  final firstf<M>, pastf<M>, lowf<M>, highf<M>
  step next w
  step hull least<M>, most<M>
  step see first1<M>, past1<M>, low1<M>, high1<M>
}>} {}
