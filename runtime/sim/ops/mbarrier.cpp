// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mbarrier instructions.

#include "units/mbarrier.h"

#include "core/cluster.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

/// Bits of Inst::aux.
constexpr uint64_t kGeneric = 1;
constexpr uint64_t kExpectTx = 2;
constexpr uint64_t kNoComplete = 4;
constexpr uint64_t kDrop = 8;
constexpr uint64_t kParity = 16;
constexpr uint64_t kTry = 32;
constexpr uint64_t kRelaxed = 64;
/// The barrier may be another CTA's.
constexpr uint64_t kRemote = 128;
/// The scope of the instruction. If it names none, neither bit is set.
constexpr uint64_t kCluster = 256;
constexpr uint64_t kCta = 512;
constexpr unsigned kEffectShift = 10;

/// The barrier of one lane, or null after a fault.
Mbarrier *locate(Warp &warp, const Inst &inst, uint32_t slot, unsigned lane,
                 uint32_t &address, Cta *&owner) {
  uint64_t full = address64(warp, inst, slot, lane);
  if (inst.aux & kGeneric) {
    if ((full & kWindowMask) != kSharedWindow) {
      warp.fault("the generic address is not of shared memory", lane);
      return nullptr;
    }
  }
  address = uint32_t(full);
  std::string problem;
  bool own = address >> kSharedRankShift == warp.cta.rank;
  if (!own && !(inst.aux & kRemote)) {
    warp.fault(Rule::MbarrierAddress,
               "expected an mbarrier of the thread's own CTA", lane);
    return nullptr;
  }
  owner = warp.cta.findOwner(address, problem);
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
  warp.fault(ruleOf(status), std::string("mbarrier: ") + describe(status),
             lane);
  return false;
}

/// The kind of an instruction for hazard tracking.
enum class Effect : uint8_t { Init, Inval, Arrive, Transaction };

void track(Warp &warp, const Inst &inst, unsigned lane, uint32_t address,
           const Mbarrier &before, const MbarrierEvent &event) {
  HazardTracker *hazards = warp.cta.hazards;
  if (!hazards) {
    return;
  }
  switch (Effect(inst.aux >> kEffectShift)) {
  case Effect::Init:
    hazards->mbarriers.initMbarrier(warp, lane, address);
    return;
  case Effect::Inval:
    hazards->mbarriers.invalMbarrier(warp, lane, address);
    return;
  case Effect::Arrive:
    hazards->mbarriers.useMbarrier(warp, lane, address);
    hazards->mbarriers.arriveMbarrier(warp, lane, address, before.phase,
                                      !(inst.aux & kRelaxed),
                                      inst.aux & kCluster ? Scope::Cluster
                                      : inst.aux & kCta   ? Scope::Cta
                                                          : Scope::None);
    break;
  case Effect::Transaction:
    hazards->mbarriers.useMbarrier(warp, lane, address);
    hazards->mbarriers.changeBytes(warp, lane, address);
    break;
  }
  if (event.completed) {
    hazards->mbarriers.completePhase(warp, warp.now.pc, lane, address);
  }
}

/// Applies `change(barrier, lane)` in each of `lanes`.
template <typename Change>
Step forBarriers(Warp &warp, const Inst &inst, uint32_t slot, uint32_t lanes,
                 Change change) {
  for (uint32_t left = lanes; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint32_t address = 0;
    Cta *owner = nullptr;
    Mbarrier *barrier = locate(warp, inst, slot, lane, address, owner);
    if (!barrier) {
      return Step::Fault;
    }
    Mbarrier before = *barrier;
    MbarrierEvent event = change(*barrier, lane);
    if (!accept(warp, event.status, lane)) {
      return Step::Fault;
    }
    track(warp, inst, lane, address, before, event);
    owner->storeMbarrier(address, *barrier);
    if (owner->observer) {
      owner->observer->onArrive(owner == &warp.cta ? &warp : nullptr,
                                Wait::Kind::Mbarrier, address,
                                barrier->phase != before.phase);
    }
  }
  return Step::Next;
}

/// The lanes that initialize the same mbarrier as a lower lane, to the same
/// count.
uint32_t findRepeats(Warp &warp, const Inst &inst) {
  const uint32_t *counts = warp.word(inst.slots[1]);
  uint32_t repeats = 0;
  forLanes(warp.exec, [&](unsigned lane) {
    uint64_t address = address64(warp, inst, inst.slots[0], lane);
    forLanes(warp.exec & ((1u << lane) - 1), [&](unsigned other) {
      bool isSame = address64(warp, inst, inst.slots[0], other) == address &&
                    counts[other] == counts[lane];
      repeats |= uint32_t(isSame) << lane;
    });
  });
  return repeats;
}

Step init(Warp &warp, const Inst &inst) {
  uint32_t repeats = findRepeats(warp, inst);
  if (repeats && !warp.report(Rule::RaceSame,
                              "several lanes initialize the same mbarrier")) {
    return Step::Fault;
  }
  return forBarriers(warp, inst, inst.slots[0], warp.exec & ~repeats,
                     [&](Mbarrier &barrier, unsigned lane) {
                       return mbarrierInit(barrier,
                                           warp.word(inst.slots[1])[lane]);
                     });
}

Step inval(Warp &warp, const Inst &inst) {
  return forBarriers(
      warp, inst, inst.slots[0], warp.exec,
      [&](Mbarrier &barrier, unsigned) { return mbarrierInval(barrier); });
}

/// Slots: state, address, count or bytes.
Step arrive(Warp &warp, const Inst &inst) {
  return forBarriers(
      warp, inst, inst.slots[1], warp.exec,
      [&](Mbarrier &barrier, unsigned lane) {
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
  return forBarriers(warp, inst, inst.slots[0], warp.exec,
                     [&](Mbarrier &barrier, unsigned lane) {
                       return change(barrier, warp.word(inst.slots[1])[lane]);
                     });
}

/// Tracks the lanes that test one barrier together: same address, parity,
/// outcome.
void trackWait(Warp &warp, const Inst &inst, const uint32_t *addresses,
               uint32_t passed) {
  bool byParity = inst.aux & kParity;
  const uint32_t *parities = warp.word(inst.slots[2]);
  for (uint32_t left = warp.exec; left;) {
    unsigned first = unsigned(__builtin_ctz(left));
    uint32_t parity = byParity ? parities[first] & 1 : 2;
    uint32_t lanes = 0;
    forLanes(left, [&](unsigned lane) {
      bool same = addresses[lane] == addresses[first] &&
                  (!byParity || (parities[lane] & 1) == parity) &&
                  (passed >> lane & 1) == (passed >> first & 1);
      lanes |= uint32_t(same) << lane;
    });
    left &= ~lanes;
    uint32_t address = addresses[first];
    warp.cta.hazards->mbarriers.waitMbarrier(
        warp, lanes, address, warp.cta.mbarriers[address].phase, parity,
        passed >> first & 1, !(inst.aux & kRelaxed));
  }
}

/// Returns whether to continue with a wait that is misused in any case.
bool checkWait(Warp &warp, const Inst &inst) {
  if (inst.isIgnored && !warp.report(Rule::MbarrierIgnored,
                                     "nothing uses the result: this does "
                                     "not wait until the phase completes")) {
    return false;
  }
  const uint32_t *parities = warp.word(inst.slots[2]);
  for (uint32_t left = inst.aux & kParity ? warp.exec : 0; left;
       left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    if (parities[lane] > 1) {
      return warp.report(Rule::MbarrierParity,
                         "expected a parity of 0 or 1, got " +
                             std::to_string(parities[lane]),
                         lane);
    }
  }
  return true;
}

/// Slots: p, address, state or parity, hint. A try_wait that would give false
/// everywhere suspends instead, but not the first time, nor always.
Step wait(Warp &warp, const Inst &inst) {
  if (!checkWait(warp, inst)) {
    return Step::Fault;
  }
  uint32_t passed = 0;
  uint32_t address = 0;
  uint32_t addresses[kLanes] = {};
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
    addresses[lane] = address;
    if (warp.cta.hazards) {
      warp.cta.hazards->mbarriers.useMbarrier(warp, lane, address);
    }
  }
  if (warp.cta.hazards) {
    trackWait(warp, inst, addresses, passed);
  }
  unsigned first = unsigned(__builtin_ctz(warp.exec));
  uint32_t parity = inst.aux & kParity ? warp.word(inst.slots[2])[first] : 0;
  if (passed == 0 && inst.aux & kTry && !warp.givesUp()) {
    return warp.block(Wait::Kind::Mbarrier, address, parity);
  }
  if (passed == 0) {
    warp.cta.notePoll();
  }
  warp.writePredicate(inst.slots[0], passed);
  if (passed == warp.exec) {
    return warp.pass(Wait::Kind::Mbarrier, address, parity);
  }
  if (warp.cta.observer) {
    warp.cta.observer->onWait(warp, {Wait::Kind::Mbarrier, address, parity});
  }
  return Step::Next;
}

uint32_t pendingCount(uint64_t token) { return mbarrierPendingCount(token); }

bool finish(OperandDecoder &decoder, const ptx::Instruction &instruction,
            const Match &match, Inst &inst) {
  bool shared = match.has(".shared") || match.has(".shared::cta") ||
                match.has(".shared::cluster");
  // Waits are for the own CTA's barriers only.
  bool remote = instruction.modifiers[0].substr(0, 7) == ".arrive" &&
                !match.has(".shared") && !match.has(".shared::cta");
  inst.aux |= (shared ? 0 : kGeneric) | (remote ? kRemote : 0) |
              (match.has(".expect_tx") ? kExpectTx : 0) |
              (match.has(".noComplete") ? kNoComplete : 0) |
              (match.has(".parity") ? kParity : 0) |
              (match.has(".relaxed") ? kRelaxed : 0) |
              (match.has(".cluster") ? kCluster : 0) |
              (match.has(".cta") ? kCta : 0) |
              uint64_t(Effect::Arrive) << kEffectShift;
  return !(inst.aux & kExpectTx) || inst.slots[2] != kNone ||
         decoder.fail(instruction.at, "expected the number of bytes");
}

template <Effect effect>
bool finishSpace(OperandDecoder &, const ptx::Instruction &, const Match &match,
                 Inst &inst) {
  bool shared = match.has(".shared") || match.has(".shared::cta") ||
                match.has(".shared::cluster");
  inst.aux = (shared ? 0 : kGeneric) | (inst.aux & kRemote) |
             uint64_t(effect) << kEffectShift;
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
  row("mbarrier.init", "m 4", init, finishSpace<Effect::Init>);
  row("mbarrier.inval", "m", inval, finishSpace<Effect::Inval>);
  row("mbarrier.arrive[.expect_tx|.noComplete]" + order, "d8 m ?4", arrive,
      finish);
  row("mbarrier.arrive_drop[.expect_tx|.noComplete]" + order, "d8 m ?4", arrive,
      finish, kDrop);
  row("mbarrier.expect_tx" + order, "m 4", transaction<mbarrierExpectTx>,
      finishSpace<Effect::Transaction>, kRemote);
  row("mbarrier.complete_tx" + order, "m 4", transaction<mbarrierCompleteTx>,
      finishSpace<Effect::Transaction>, kRemote);
  row("mbarrier.test_wait.parity" + order, "dp m 4", wait, finish);
  row("mbarrier.test_wait" + order, "dp m 8", wait, finish);
  row("mbarrier.try_wait.parity" + order, "dp m 4 ?4", wait, finish, kTry);
  row("mbarrier.try_wait" + order, "dp m 8 ?4", wait, finish, kTry);
  rows.push_back(
      {"mbarrier.pending_count.b64", "d4 8", lanewise<&pendingCount>});
}
