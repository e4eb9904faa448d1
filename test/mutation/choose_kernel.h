// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel of a bundle, alone: its variant, for every problem.

#ifndef ATTN_TEST_MUTATION_CHOOSE_KERNEL_H
#define ATTN_TEST_MUTATION_CHOOSE_KERNEL_H

#include "attn/runtime/bundle.h"

namespace attn::mutation {

/// Leaves the variant that begins with kernel `name`, whatever its condition,
/// and that kernel. On failure returns false and sets `err`.
bool chooseKernel(const std::string &name, runtime::Bundle &bundle,
                  std::string &err);

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_CHOOSE_KERNEL_H
