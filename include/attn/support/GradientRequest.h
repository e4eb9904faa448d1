// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_SUPPORT_GRADIENTREQUEST_H
#define ATTN_SUPPORT_GRADIENTREQUEST_H

#include <string>
#include <vector>

namespace attn {

/// Which gradients of an attention are compiled in its place.
struct GradientRequest {
  /// Names of arguments, as the launch plan of the attention has them. Empty:
  /// Q, K and V.
  std::vector<std::string> names;
  /// Whether sums may be added in another order in each run.
  bool anyOrder = false;
};

} // namespace attn

#endif // ATTN_SUPPORT_GRADIENTREQUEST_H
