// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds whether the result of an instruction is used, when a kernel is decoded.

#ifndef ATTN_SIM_HAZARDS_RESULT_USE_H
#define ATTN_SIM_HAZARDS_RESULT_USE_H

#include "hazards/register_plan.h"

namespace attn::sim {

/// Whether some path from instruction `at` reads its first result before it is
/// overwritten.
bool isResultUsed(const std::vector<RegisterUse> &uses, uint32_t at);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_RESULT_USE_H
