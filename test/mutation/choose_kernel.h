// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel of a bundle: its variant alone, for every problem.

#ifndef ATTN_TEST_MUTATION_CHOOSE_KERNEL_H
#define ATTN_TEST_MUTATION_CHOOSE_KERNEL_H

#include "attn/runtime/bundle.h"

namespace attn::mutation {

/// Keeps the variant that begins with kernel `name`, without its condition, and
/// that kernel. On failure returns false and sets `err`.
bool chooseKernel(const std::string &name, runtime::Bundle &bundle,
                  std::string &err);

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_CHOOSE_KERNEL_H
