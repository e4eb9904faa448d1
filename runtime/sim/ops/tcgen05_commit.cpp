// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.commit: an arrival once what its thread has issued to the queue is
// complete.

#include "hazards/tracker.h"
#include "ops/async_signal.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/tcgen05.h"

using namespace attn::sim;

namespace {

/// Bits of Inst::aux.
constexpr uint64_t kGeneric = 1;
constexpr uint64_t kPair = 2;

/// Arrives at the mbarriers of some CTAs of the cluster.
struct CommitOp final : TensorOp {
  /// In the CTA of each rank, in a bit each.
  uint32_t address = 0;
  uint32_t ranks = 0;
  /// Those whose mbarriers were live at the issue.
  uint32_t live = 0;
  std::shared_ptr<const Knowledge> known;

  TensorFacts facts() const override {
    TensorFacts facts;
    facts.name = "commit";
    facts.shared = address;
    return facts;
  }
  std::string complete(Cta &cta) override {
    for (uint32_t left = ranks; left; left &= left - 1) {
      uint32_t rank = uint32_t(__builtin_ctz(left));
      std::string problem =
          arrive(cta, rank << kSharedRankShift | (address & kSharedOffsetMask));
      if (!problem.empty()) {
        return problem;
      }
    }
    return "";
  }

private:
  /// Ends without an arrival if the mbarrier has been invalidated or its CTA
  /// has exited, and returns whether that is so: kernels that are known to work
  /// do not wait for their last commits. RemoteUses judges exits.
  bool drop(Cta &cta, uint32_t at) {
    uint32_t rank = at >> kSharedRankShift;
    if (rank >= cta.cluster.size()) {
      return false;
    }
    Cta &owner = cta.cluster.getCta(rank);
    bool isGone = live >> rank & 1 || (owner.hasStarted && owner.isDone());
    if (isGone && owner.observer) {
      owner.observer->onComplete(*this);
    }
    return isGone;
  }

  std::string arrive(Cta &cta, uint32_t at) {
    std::string problem;
    Mbarrier *barrier = findSignalled(cta, at, problem);
    if (!barrier) {
      return drop(cta, at) ? "" : problem;
    }
    uint64_t phase = barrier->phase;
    MbarrierEvent event = mbarrierArrive(*barrier);
    if (event.status != MbarrierStatus::Ok) {
      return std::string("mbarrier: ") + describe(event.status) +
             ruleSuffix(ruleOf(event.status));
    }
    if (cta.hazards) {
      cta.hazards->mbarriers.signals.arriveCommit(at, *known);
    }
    if (cta.hazards && event.completed) {
      cta.hazards->mbarriers.completePhase(cta.getWarp(warp), pc, lane, at);
    }
    Cta *owner = cta.findOwner(at, problem);
    owner->storeMbarrier(at, *barrier);
    if (owner->observer) {
      owner->observer->onComplete(*this);
      owner->observer->onArrive(nullptr, Wait::Kind::Mbarrier, at,
                                barrier->phase != phase);
    }
    return "";
  }
};

/// Whether the cluster has a CTA of this rank; false after a fault.
bool checkRank(Warp &warp, unsigned lane, uint32_t rank) {
  if (rank < warp.cta.cluster.size()) {
    return true;
  }
  warp.fault("expected a CTA rank below " +
                 std::to_string(warp.cta.cluster.size()) + ", got " +
                 std::to_string(rank) + ruleSuffix(Rule::Bounds),
             lane);
  return false;
}

/// Where one lane's commit arrives; false after a fault.
bool readTarget(Warp &warp, const Inst &inst, unsigned lane, CommitOp &op) {
  uint64_t full = address64(warp, inst, inst.slots[0], lane);
  if ((inst.aux & kGeneric) && (full & kWindowMask) != kSharedWindow) {
    if (full >> 32 != 0) {
      warp.fault("the generic address is not of shared memory", lane);
      return false;
    }
    warp.report(Rule::Window, "expected a generic address, got " + toHex(full) +
                                  " of shared memory");
  }
  op.address = uint32_t(full);
  if (inst.slots[1] == kNone) {
    uint32_t rank = op.address >> kSharedRankShift;
    op.ranks = 1u << (rank & 31);
    return checkRank(warp, lane, rank);
  }
  op.ranks = warp.word(inst.slots[1])[lane] & 0xffff;
  return !op.ranks ||
         checkRank(warp, lane, 31 - uint32_t(__builtin_clz(op.ranks)));
}

void track(Warp &warp, unsigned lane, CommitOp &op) {
  HazardTracker &hazards = *warp.cta.hazards;
  auto [operation, operationEpoch] = hazards.tmem.lastOperation(warp, lane);
  for (uint32_t left = op.ranks; left; left &= left - 1) {
    uint32_t rank = uint32_t(__builtin_ctz(left));
    uint32_t at = rank << kSharedRankShift | (op.address & kSharedOffsetMask);
    hazards.remoteUses.addCommit(hazards.history.accessorOf(warp, lane), at,
                                 operation, operationEpoch);
    hazards.mbarriers.useMbarrier(warp, lane, at);
    hazards.mbarriers.signals.beginCommit(at);
  }
  op.known = hazards.tmem.issueCommit(warp, lane);
}

/// Slots: the address, and the CTAs.
Step commit(Warp &warp, const Inst &inst) {
  unsigned group = inst.aux & kPair ? 2 : 1;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto op = std::make_unique<CommitOp>();
    op->lane = lane;
    op->isCommit = true;
    if (!useGroup(warp, group, lane) || !readTarget(warp, inst, lane, *op)) {
      return Step::Fault;
    }
    for (uint32_t ranks = op->ranks; ranks; ranks &= ranks - 1) {
      uint32_t rank = uint32_t(__builtin_ctz(ranks));
      std::string problem;
      bool isLive = findSignalled(warp.cta,
                                  rank << kSharedRankShift |
                                      (op->address & kSharedOffsetMask),
                                  problem);
      op->live |= uint32_t(isLive) << rank;
    }
    if (warp.cta.hazards) {
      track(warp, lane, *op);
    }
    startOp(warp, group, std::move(op));
  }
  return Step::Next;
}

bool finish(OperandDecoder &decoder, const ptx::Instruction &instruction,
            const Match &match, Inst &inst) {
  inst.aux = (match.has(".shared::cluster") ? 0 : kGeneric) |
             (match.has(".cta_group::2") ? kPair : 0);
  bool isMulticast = match.has(".multicast::cluster");
  return isMulticast == (inst.slots[1] != kNone) ||
         decoder.fail(instruction.at,
                      "expected a mask of CTAs with .multicast::cluster");
}

} // namespace

void attn::sim::addTensorCommitRows(Rows &rows) {
  rows.push_back({"tcgen05.commit{.cta_group::1|.cta_group::2}"
                  ".mbarrier::arrive::one[.shared::cluster]"
                  "[.multicast::cluster].b64",
                  "m ?2", commit, finish});
}
