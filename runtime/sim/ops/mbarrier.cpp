// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mbarrier instructions.

#include "units/mbarrier.h"

#include "core/cluster.h"
#include "ops/lanes.h"

using namespace attn::sim;

namespace {

/// Bits of Inst::aux.
constexpr uint64_t kGeneric = 1;
constexpr uint64_t kExpectTx = 2;
constexpr uint64_t kNoComplete = 4;
constexpr uint64_t kDrop = 8;
constexpr uint64_t kParity = 16;
constexpr uint64_t kTry = 32;
/// The barrier may be another CTA's.
constexpr uint64_t kRemote = 64;

/// The barrier of one lane, or null after a fault.
Mbarrier *locate(Warp &warp, const Inst &inst, uint32_t slot, unsigned lane,
                 uint32_t &address, Cta *&owner) {
  uint64_t full = warp.address64(inst, slot, lane);
  if (inst.aux & kGeneric) {
    if ((full & kWindowMask) != kSharedWindow) {
      warp.fault("the generic address is not of shared memory", lane);
      return nullptr;
    }
  }
  address = uint32_t(full);
  std::string problem;
  owner = &warp.cta;
  if (address >> kSharedRankShift != warp.cta.rank) {
    problem = "expected an mbarrier of the own CTA";
    owner = inst.aux & kRemote ? warp.cta.cluster.findOwner(address, problem)
                               : nullptr;
  }
  Mbarrier *barrier = owner ? owner->findMbarrier(address, problem) : nullptr;
  if (!barrier) {
    warp.fault(problem, lane);
  }
  return barrier;
}

bool accept(Warp &warp, MbarrierStatus status, unsigned lane) {
  if (status == MbarrierStatus::Ok) {
    return true;
  }
  warp.fault(std::string("mbarrier: ") + describe(status), lane);
  return false;
}

/// Applies `change(barrier, lane)` in each executing lane.
template <typename Change>
Step forBarriers(Warp &warp, const Inst &inst, uint32_t slot, Change change) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint32_t address = 0;
    Cta *owner = nullptr;
    Mbarrier *barrier = locate(warp, inst, slot, lane, address, owner);
    if (!barrier || !accept(warp, change(*barrier, lane).status, lane)) {
      return Step::Fault;
    }
    owner->storeMbarrier(address, *barrier);
  }
  return Step::Next;
}

Step init(Warp &warp, const Inst &inst) {
  return forBarriers(
      warp, inst, inst.slots[0], [&](Mbarrier &barrier, unsigned lane) {
        return mbarrierInit(barrier, warp.word(inst.slots[1])[lane]);
      });
}

Step inval(Warp &warp, const Inst &inst) {
  return forBarriers(
      warp, inst, inst.slots[0],
      [&](Mbarrier &barrier, unsigned) { return mbarrierInval(barrier); });
}

/// Slots: state, address, count or bytes.
Step arrive(Warp &warp, const Inst &inst) {
  return forBarriers(
      warp, inst, inst.slots[1], [&](Mbarrier &barrier, unsigned lane) {
        uint64_t value =
            inst.slots[2] == kNone ? 1 : warp.word(inst.slots[2])[lane];
        bool expects = inst.aux & kExpectTx;
        bool noComplete = inst.aux & kNoComplete;
        MbarrierEvent event =
            inst.aux & kDrop
                ? mbarrierArriveDrop(barrier, expects ? 1 : value,
                                     expects ? value : 0, noComplete)
            : expects ? mbarrierArriveExpectTx(barrier, value)
                      : mbarrierArrive(barrier, value, noComplete);
        warp.wide(inst.slots[0])[lane] = event.token;
        return event;
      });
}

template <MbarrierEvent (*change)(Mbarrier &, uint64_t)>
Step transaction(Warp &warp, const Inst &inst) {
  return forBarriers(warp, inst, inst.slots[0],
                     [&](Mbarrier &barrier, unsigned lane) {
                       return change(barrier, warp.word(inst.slots[1])[lane]);
                     });
}

/// Slots: p, address, state or parity, hint. A try_wait that would give false
/// everywhere suspends instead, or sometimes does not.
Step wait(Warp &warp, const Inst &inst) {
  uint32_t passed = 0;
  uint32_t address = 0;
  Cta *owner = nullptr;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    Mbarrier *barrier = locate(warp, inst, inst.slots[1], lane, address, owner);
    if (!barrier) {
      return Step::Fault;
    }
    MbarrierTest test =
        inst.aux & kParity
            ? mbarrierTestParity(*barrier, warp.word(inst.slots[2])[lane])
            : mbarrierTestToken(*barrier, warp.wide(inst.slots[2])[lane]);
    if (!accept(warp, test.status, lane)) {
      return Step::Fault;
    }
    passed |= uint32_t(test.passed) << lane;
  }
  if (passed == 0 && inst.aux & kTry && !warp.cta.chance(2)) {
    unsigned first = unsigned(__builtin_ctz(warp.exec));
    uint32_t parity = inst.aux & kParity ? warp.word(inst.slots[2])[first] : 0;
    return warp.block(Wait::Kind::Mbarrier, address, parity);
  }
  if (passed == 0) {
    warp.cta.notePoll();
  }
  warp.writePredicate(inst.slots[0], passed);
  return Step::Next;
}

uint32_t pendingCount(uint64_t token) { return mbarrierPendingCount(token); }

bool finish(Decoder &decoder, const ptx::Instruction &instruction,
            const Match &match, Inst &inst) {
  bool shared = match.has(".shared") || match.has(".shared::cta") ||
                match.has(".shared::cluster");
  // Waits are for the own CTA's barriers only.
  bool remote = instruction.modifiers[0].substr(0, 7) == ".arrive" &&
                !match.has(".shared") && !match.has(".shared::cta");
  inst.aux |= (shared ? 0 : kGeneric) | (remote ? kRemote : 0) |
              (match.has(".expect_tx") ? kExpectTx : 0) |
              (match.has(".noComplete") ? kNoComplete : 0) |
              (match.has(".parity") ? kParity : 0);
  return !(inst.aux & kExpectTx) || inst.slots[2] != kNone ||
         decoder.fail(instruction.at, "expected the number of bytes");
}

/// expect_tx and complete_tx have two slots, and no flags.
bool finishSpace(Decoder &, const ptx::Instruction &, const Match &match,
                 Inst &inst) {
  bool shared = match.has(".shared") || match.has(".shared::cta") ||
                match.has(".shared::cluster");
  inst.aux = (shared ? 0 : kGeneric) | (inst.aux & kRemote);
  return true;
}

} // namespace

void attn::sim::addBarrierRows(Rows &rows) {
  const std::string space = "[.shared|.shared::cta|.shared::cluster].b64";
  const std::string order = "[.release|.relaxed|.acquire][.cta|.cluster]";
  auto row = [&](const std::string &pattern, const char *operands,
                 Handler handler, Finish how, uint64_t aux = 0) {
    rows.push_back({keep(pattern + space), operands, handler, how, aux});
  };
  row("mbarrier.init", "m 4", init, finishSpace);
  row("mbarrier.inval", "m", inval, finishSpace);
  row("mbarrier.arrive[.expect_tx|.noComplete]" + order, "d8 m ?4", arrive,
      finish);
  row("mbarrier.arrive_drop[.expect_tx|.noComplete]" + order, "d8 m ?4", arrive,
      finish, kDrop);
  row("mbarrier.expect_tx" + order, "m 4", transaction<mbarrierExpectTx>,
      finishSpace, kRemote);
  row("mbarrier.complete_tx" + order, "m 4", transaction<mbarrierCompleteTx>,
      finishSpace, kRemote);
  row("mbarrier.test_wait.parity" + order, "dp m 4", wait, finish);
  row("mbarrier.test_wait" + order, "dp m 8", wait, finish);
  row("mbarrier.try_wait.parity" + order, "dp m 4 ?4", wait, finish, kTry);
  row("mbarrier.try_wait" + order, "dp m 8 ?4", wait, finish, kTry);
  rows.push_back(
      {"mbarrier.pending_count.b64", "d4 8", lanewise<&pendingCount>});
}
