// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers that are filled before a warp starts: constants, addresses and
// special registers.

#ifndef ATTN_SIM_CORE_PRESETS_H
#define ATTN_SIM_CORE_PRESETS_H

#include "core/warp.h"

namespace attn::sim {

void fillPresets(Warp &warp);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_PRESETS_H
