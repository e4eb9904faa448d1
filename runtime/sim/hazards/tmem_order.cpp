// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/tmem_order.h"

using namespace attn::sim;

/// Pairs that execute in the order of their issue, by the ISA.
static bool arePipelined(const TmemAccess &first, const TmemAccess &second) {
  switch (first.agent) {
  case TmemAgent::Mma:
    return second.agent == TmemAgent::Shift ||
           (second.agent == TmemAgent::Mma && first.key == second.key);
  case TmemAgent::Copy:
    return second.agent == TmemAgent::Mma;
  case TmemAgent::Shift:
    return second.agent == TmemAgent::Mma ||
           (second.agent == TmemAgent::Copy && second.key != 0);
  default:
    return false;
  }
}

/// Returns the rule that a kernel breaks if only the order of the queue puts
/// one operation before another. For an mma whose A is the result of the mma
/// before, that is an error: no known kernel does this. Known kernels do
/// overwrite what the mma before reads, such as its scales.
static Rule chooseUnpipelined(const TmemAccess &first, bool writes) {
  return first.agent == TmemAgent::Mma && !writes ? Rule::TmemResult
                                                  : Rule::TmemPipeline;
}

static bool findQueueConflict(const TmemAccessor &by, bool writes,
                              const TmemAccess &other, Rule &rule) {
  bool own = by.access.thread == other.thread;
  bool isIssued = own || by.ordered[other.thread] >= other.threadEpoch;
  bool isComplete = by.ordered[other.component] >= other.epoch;
  bool isFenced = by.seen[other.component] >= other.epoch ||
                  (!own && by.seen[other.thread] >= other.threadEpoch);
  if (isIssued && arePipelined(other, by.access)) {
    rule = Rule::TmemFence;
    return !own && !isFenced;
  }
  if (isComplete) {
    rule = Rule::TmemFence;
    return by.seen[other.component] < other.epoch;
  }
  rule = isIssued ? chooseUnpipelined(other, writes)
         : writes ? Rule::TmemOperand
                  : Rule::TmemResult;
  return true;
}

static Rule chooseUnordered(const TmemAccessor &by, bool writes,
                            const TmemAccess &other, bool wrote) {
  if (other.agent == TmemAgent::Load) {
    bool isUsed = by.ordered[other.used] >= other.usedEpoch;
    return isUsed ? Rule::TmemLoadUsed : Rule::TmemLoad;
  }
  if (other.agent == TmemAgent::Store) {
    bool own = by.access.agent == TmemAgent::Store &&
               by.access.component == other.component;
    return own ? Rule::TmemPipeline : Rule::TmemStore;
  }
  return wrote && !writes ? Rule::TmemResult : Rule::TmemOperand;
}

bool attn::sim::findTmemConflict(const TmemAccessor &by, bool writes,
                                 const TmemAccess &other, bool wrote,
                                 Rule &rule) {
  if (isQueued(by.access.agent) && isQueued(other.agent)) {
    return findQueueConflict(by, writes, other, rule);
  }
  bool isFree = by.access.agent == TmemAgent::Free;
  if (by.ordered[other.component] >= other.epoch) {
    rule = Rule::TmemFence;
    return !isFree && by.seen[other.component] < other.epoch;
  }
  rule = chooseUnordered(by, writes, other, wrote);
  return true;
}

const char *attn::sim::describeMissingOrder(Rule rule) {
  switch (rule) {
  case Rule::TmemResult:
  case Rule::TmemOperand:
    return "no wait for a tcgen05.commit of its thread is before this";
  case Rule::TmemStore:
    return "no tcgen05.wait::st by its warp is before this";
  case Rule::TmemLoad:
    return "neither a tcgen05.wait::ld by its warp nor a use of the result is "
           "before this";
  case Rule::TmemLoadUsed:
    return "the result was used, but no tcgen05.wait::ld by its warp is before "
           "this";
  case Rule::TmemFence:
    return "they are ordered, but without a tcgen05.fence::before_thread_sync "
           "there or a tcgen05.fence::after_thread_sync here";
  case Rule::TmemPipeline:
    return "only the order of issue is before this, and the ISA does not "
           "pipeline such a pair";
  default:
    return "";
  }
}
