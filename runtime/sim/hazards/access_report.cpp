// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/access_report.h"

#include "core/cta.h"

using namespace attn::sim;

void attn::sim::report(Rule rule, const Accessor &by,
                       const std::string &message, uint32_t otherPc) {
  by.warp.cta.reports.reportHazard(rule, by.warp.index, by.pc, by.lane, message,
                                   otherPc);
}

void attn::sim::reportUninitialized(const TrackedMemory &memory,
                                    const Accessor &by, uint64_t address) {
  Rule rule = memory.isGlobal ? Rule::UninitGlobal : Rule::UninitShared;
  if (!by.warp.cta.reports.wantsHazard(rule, by.pc, kNone)) {
    return;
  }
  report(rule, by,
         std::string(memory.isGlobal ? "reads global" : "reads shared") +
             " address " + toHex(address) + ", which nothing has written");
}

/// Returns the operation that would have ordered the accesses.
static const char *findMissingOrder(Rule rule) {
  switch (rule) {
  case Rule::ProxyFence:
  case Rule::ProxyCopyFence:
  case Rule::ProxyReuse:
    return "they are ordered, but without a fence.proxy.async";
  case Rule::LoadNotAwaited:
    return "no wait for the phase of its mbarrier is before this";
  case Rule::CopyNotAwaited:
    return "no cp.async.wait_group by its thread, or wait for its mbarrier, is "
           "before this";
  case Rule::WgmmaSource:
    return "no wgmma.wait_group for it is before this";
  case Rule::TmemOperand:
    return "no wait for a tcgen05.commit of its thread is before this";
  case Rule::WgmmaWait:
    return "not all four warps have a wgmma.wait_group for it before this";
  case Rule::StoreSource:
    return "no cp.async.bulk.wait_group for it is before this";
  case Rule::StoreNotAwaited:
    return "no cp.async.bulk.wait_group without .read for it is before this";
  case Rule::RaceSum:
    return "neither addition is ordered before the other, so that the sum "
           "depends on the schedule";
  case Rule::RaceReadOnly:
    return "the grid may not write what ld.global.nc reads";
  case Rule::TensorMapWritten:
    return "no fence.proxy.tensormap that acquires the map is between";
  default:
    return "neither is ordered before the other";
  }
}

void attn::sim::reportConflict(Rule rule, const TrackedMemory &memory,
                               const Accessor &by, AccessId id, bool wrote,
                               uint64_t address) {
  const Access &other = memory.accesses[id];
  if (!by.warp.cta.reports.wantsHazard(rule, by.pc, other.pc)) {
    return;
  }
  unsigned lane = other.agent == Agent::Wgmma ? kLanes : id.lane();
  report(rule, by,
         std::string(by.writes ? "writes " : "reads ") +
             (memory.isGlobal ? "global" : "shared") + " address " +
             toHex(address) + ", which " +
             by.warp.cta.reports.describePlace(other.cta, other.warp, other.pc,
                                               lane) +
             (wrote ? " writes: " : " reads: ") + findMissingOrder(rule),
         other.pc);
}
