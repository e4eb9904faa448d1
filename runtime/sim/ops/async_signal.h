// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by asynchronous instructions: the location of their issue, their
// signals, and the names of their reductions.

#ifndef ATTN_SIM_OPS_ASYNC_SIGNAL_H
#define ATTN_SIM_OPS_ASYNC_SIGNAL_H

#include "core/cluster.h"
#include "core/opcode_table.h"
#include "units/reduce_op.h"

namespace attn::sim {

/// Records the issuer of the copy, for reports.
void placeCopy(AsyncCopy &copy, const Warp &warp, unsigned lane);

/// Delivers bytes of a copy that CTA `from` issued to an mbarrier in any CTA of
/// the cluster; `hazard` is HazardTracker's number. Returns "" or the error.
std::string signalBytes(const AsyncCopy &copy, Cta &from, uint32_t address,
                        uint32_t bytes, uint32_t hazard);

/// Returns the mbarrier that a copy of `cta` signals; null with `problem` set
/// if there is none.
Mbarrier *findSignalled(Cta &cta, uint32_t address, std::string &problem);

/// ".add" and the like among the modifiers.
bool parseReduce(const Match &match, ReduceOp &op);
/// ".u32" and the like, ".b32" as unsigned.
bool parseReduceType(std::string_view name, ReduceType &type);

} // namespace attn::sim

#endif // ATTN_SIM_OPS_ASYNC_SIGNAL_H
