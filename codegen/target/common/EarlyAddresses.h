// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Additions to memory wait for products. What does not depend on these, their
// addresses, is computed before the wait, while the products are in flight.
#ifndef ATTN_CODEGEN_EARLYADDRESSES_H
#define ATTN_CODEGEN_EARLYADDRESSES_H

#include "Target.h"

namespace attn::codegen {

/// Moves what the additions of a kernel need, and what is computed between a
/// wait and them without its results, to before the wait.
void computeAddressesEarly(ws::KernelOp kernel, const Target &chip);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EARLYADDRESSES_H
