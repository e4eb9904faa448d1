// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Additions to memory wait for products. Their addresses do not depend on the
// products, and are computed before the wait, while the products are in flight.
#ifndef ATTN_CODEGEN_EARLYADDRESSES_H
#define ATTN_CODEGEN_EARLYADDRESSES_H

#include "Target.h"

namespace attn::codegen {

/// Moves ops to before the wait: those that compute the addresses of additions,
/// and those between the wait and the additions that do not use its results.
void computeAddressesEarly(ws::KernelOp kernel, const Target &chip);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EARLYADDRESSES_H
