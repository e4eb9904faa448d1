// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instructions of tcgen05 share.

#ifndef ATTN_SIM_OPS_TCGEN05_H
#define ATTN_SIM_OPS_TCGEN05_H

#include "core/cta.h"
#include "core/operand_decoder.h"

namespace attn::sim {

/// The CTA's tensor memory.
TensorUnit &tensorOf(Warp &warp);

/// Whether all 32 lanes execute the instruction; `step` is what becomes of it
/// if not.
bool isWholeWarp(Warp &warp, Step &step);

/// A 32-bit operand that has to be the same in all lanes: `name` in reports.
bool readUniform(Warp &warp, const uint32_t *lanes, const char *name,
                 uint32_t &value);

/// Notes the instruction's cta_group; false after a fault.
bool useGroup(Warp &warp, unsigned group);

/// Whether a region's columns are allocated; false after a fault.
bool checkColumns(Warp &warp, const char *what, uint32_t column,
                  uint32_t columns, unsigned lane = kLanes);

/// Refuses ".cta_group::2", which is not simulated.
bool requireOneCta(OperandDecoder &decoder, const ptx::Instruction &instruction,
                   const Match &match);

} // namespace attn::sim

#endif // ATTN_SIM_OPS_TCGEN05_H
