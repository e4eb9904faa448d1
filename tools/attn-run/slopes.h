// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivatives of the float ops of score regions.

#ifndef ATTN_TOOLS_ATTN_RUN_SLOPES_H
#define ATTN_TOOLS_ATTN_RUN_SLOPES_H

#include <string>

namespace attn::run {

/// The derivatives of an op by each of its operands a, b and c, where its
/// result is y.
struct Slopes {
  using Slope = double (*)(double a, double b, double c, double y);
  Slope of[3];
};

/// Returns the derivatives of the op called `name` in a plan's program; null if
/// it is no function of floats.
const Slopes *findSlopes(const std::string &name);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_SLOPES_H
