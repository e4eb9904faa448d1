// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the instructions of tcgen05.

#ifndef ATTN_SIM_OPS_TCGEN05_H
#define ATTN_SIM_OPS_TCGEN05_H

#include "core/cluster.h"
#include "core/operand_decoder.h"
#include "hazards/tracker.h"

namespace attn::sim {

/// The CTA's tensor memory.
TensorUnit &tensorOf(Warp &warp);

/// Whether all 32 lanes execute the instruction; otherwise `step` is the
/// outcome.
bool isWholeWarp(Warp &warp, Step &step);

/// A 32-bit operand that has to be the same in all lanes: `name` in reports.
bool readUniform(Warp &warp, const uint32_t *lanes, const char *name,
                 uint32_t &value);

/// Records the instruction's cta_group. If it is 2, `lane` uses the other CTA.
/// Returns false after a fault.
bool useGroup(Warp &warp, unsigned group, unsigned lane);

/// Whether a region's columns are allocated; false after a fault.
bool checkColumns(Warp &warp, const char *what, uint32_t column,
                  uint32_t columns, unsigned lane = kLanes);

/// Starts an operation of `group` CTAs in its queue.
void startOp(Warp &warp, unsigned group, std::unique_ptr<TensorOp> op);

/// CTAs of the instruction's cta_group.
inline unsigned groupOf(const Match &match) {
  return match.has(".cta_group::2") ? 2 : 1;
}

/// The ranks of the CTAs of a group, a bit each.
uint32_t ranksOf(const Cta &cta, unsigned group);

/// Calls `visit(cta, side)` for the CTAs of a group; side is 0 or 1 in the
/// pair.
template <typename Visit> void forGroup(Cta &cta, unsigned group, Visit visit) {
  uint32_t first = group == 2 ? cta.rank & ~1u : cta.rank;
  for (uint32_t side = 0; side < group; ++side) {
    visit(cta.cluster.getCta(first + side), side);
  }
}

/// Issues the operation of each executing lane. `make(lane, action)` returns
/// it, or null after a fault, and adds to `action` what the hazard rules need
/// besides its kind, its group and the region it writes.
template <typename Make>
Step issueOps(Warp &warp, TmemAgent agent, unsigned group, Make make) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    TensorAction action;
    action.agent = agent;
    action.ranks = ranksOf(warp.cta, group);
    std::unique_ptr<TensorOp> op =
        useGroup(warp, group, lane) ? make(lane, action) : nullptr;
    if (!op) {
      return Step::Fault;
    }
    op->lane = lane;
    action.writes = op->writes();
    if (warp.cta.hazards) {
      warp.cta.hazards->tmem.issue(warp, lane, action);
    }
    startOp(warp, group, std::move(op));
  }
  return Step::Next;
}

/// "" or why the CTAs of a group cannot take part in its operations any more.
std::string checkGroupRuns(Cta &cta, unsigned group);

} // namespace attn::sim

#endif // ATTN_SIM_OPS_TCGEN05_H
