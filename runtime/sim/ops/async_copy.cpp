// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async, its groups, and its arrivals on mbarriers.

#include "core/cta.h"
#include "hazards/tracker.h"
#include "ops/async_signal.h"
#include "ops/lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

/// A thread's copy of a few bytes; the rest of the destination is filled with
/// zeros.
struct SmallCopy final : AsyncCopy {
  uint32_t shared = 0;
  uint64_t global = 0;
  uint32_t bytes = 0;
  uint32_t sourceBytes = 0;
  uint64_t group = 0;
  std::shared_ptr<uint32_t> batch;

  CopyFacts facts() const override { return {true, global, shared, bytes}; }

  std::string complete(Cta &cta) override {
    uint8_t *to = cta.shared(shared, bytes);
    const uint8_t *from = cta.global.find(global, sourceBytes);
    std::memset(to, 0, bytes);
    if (sourceBytes != 0) {
      std::memcpy(to, from, sourceBytes);
    }
    --*batch;
    finishGroup(cta.inFlight.asyncThread(warp, lane).groups, group);
    return "";
  }
};

/// An arrival once all earlier copies of the thread are complete.
struct Arrival final : AsyncCopy {
  uint32_t barrier = 0;
  std::vector<std::shared_ptr<uint32_t>> batches;

  CopyFacts facts() const override { return {true, 0, barrier, 0}; }

  bool mayComplete() const override {
    for (const auto &batch : batches) {
      if (*batch != 0) {
        return false;
      }
    }
    return true;
  }
  std::string complete(Cta &cta) override {
    std::string problem;
    Mbarrier *found = cta.findMbarrier(barrier, problem);
    if (!found) {
      return problem;
    }
    uint64_t phase = found->phase;
    MbarrierEvent event = mbarrierArrive(*found);
    if (event.status != MbarrierStatus::Ok) {
      return std::string("mbarrier: ") + describe(event.status) +
             ruleSuffix(ruleOf(event.status));
    }
    if (cta.hazards) {
      cta.hazards->copies.arriveCopies(cta.getWarp(warp), lane, barrier,
                                       hazard);
    }
    if (cta.hazards && event.completed) {
      cta.hazards->mbarriers.completePhase(cta.getWarp(warp), pc, lane,
                                           barrier);
    }
    cta.storeMbarrier(barrier, *found);
    if (cta.observer) {
      cta.observer->onArrive(nullptr, Wait::Kind::Mbarrier, barrier,
                             found->phase != phase);
    }
    return "";
  }
};

/// Inst::aux: bytes, and what the last operand is.
enum class Source : uint64_t { Whole, Size, Ignored };
constexpr unsigned kSourceShift = 8;

/// "" or what is wrong.
std::string checkCopy(Cta &cta, const SmallCopy &copy) {
  if (copy.shared % copy.bytes != 0 || copy.global % copy.bytes != 0) {
    return "expected addresses that are multiples of " +
           std::to_string(copy.bytes) + ruleSuffix(Rule::Align);
  }
  if (copy.sourceBytes > copy.bytes) {
    return "expected a source of at most " + std::to_string(copy.bytes) +
           " bytes, got " + std::to_string(copy.sourceBytes);
  }
  if (!cta.shared(copy.shared, copy.bytes)) {
    return "shared address " + toHex(copy.shared) + " is out of bounds" +
           ruleSuffix(Rule::Bounds);
  }
  return copy.sourceBytes && !cta.global.find(copy.global, copy.sourceBytes)
             ? "global address " + toHex(copy.global) +
                   " is out of bounds: " + cta.global.describe(copy.global) +
                   ruleSuffix(Rule::Bounds)
             : "";
}

/// Slots: shared address, size or predicate, global address; Inst::list has
/// the global address's offset and whether it is 64 bits wide.
Step copySmall(Warp &warp, const Inst &inst) {
  Cta &cta = warp.cta;
  const uint32_t *place = &cta.program.lists[inst.list];
  auto kind = Source(inst.aux >> kSourceShift);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    AsyncThread &thread = cta.inFlight.asyncThread(warp.index, lane);
    auto copy = std::make_unique<SmallCopy>();
    placeCopy(*copy, warp, lane);
    copy->shared = address32(warp, inst, inst.slots[0], lane);
    copy->global =
        warp.wide(inst.slots[2])[lane] + uint64_t(int64_t(int32_t(place[0])));
    copy->bytes = uint32_t(inst.aux & 0xff);
    bool ignored = kind == Source::Ignored &&
                   warp.readPredicate(inst.slots[1], inst.negated) >> lane & 1;
    copy->sourceBytes = kind == Source::Size ? warp.word(inst.slots[1])[lane]
                        : ignored            ? 0
                                             : copy->bytes;
    std::string problem = checkCopy(cta, *copy);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    if (cta.hazards) {
      cta.hazards->copies.issueCopy(
          warp, lane,
          {copy->shared, copy->bytes, copy->global, copy->sourceBytes});
    }
    std::memset(cta.shared(copy->shared, copy->bytes), kSharedPoison,
                copy->bytes);
    copy->group = thread.groups.oldest + thread.groups.pending.size();
    ++thread.groups.open;
    copy->batch = thread.batches.back();
    ++*copy->batch;
    cta.inFlight.start(std::move(copy));
  }
  return Step::Next;
}

/// [shared], [global], bytes and optionally the number of source bytes, or a
/// predicate to ignore the source; then optionally a cache policy.
bool finishCopy(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  bool hint = match.has(".L2::cache_hint");
  const auto &operands = instruction.operands;
  int64_t bytes = 0;
  if (!decoder.countOperands(instruction, 3u + hint, 4u + hint) ||
      !decoder.decodeImmediate(operands[2], bytes)) {
    return false;
  }
  bool large = bytes == 16;
  if (!(large || (match.has(".ca") && (bytes == 4 || bytes == 8)))) {
    return decoder.fail(operands[2].at, "expected 4, 8 or 16 bytes (.cg: 16)");
  }
  auto kind = Source::Whole;
  if (operands.size() == 4u + hint) {
    const Register *found = decoder.findRegister(operands[3]);
    kind = found && found->width == Width::Predicate ? Source::Ignored
                                                     : Source::Size;
    bool good =
        kind == Source::Size
            ? decoder.decodeSource(operands[3], 4, inst.slots[1])
            : decoder.decodePredicate(operands[3], inst.slots[1], inst.negated);
    if (!good) {
      return false;
    }
  }
  Inst global;
  uint32_t policy = 0;
  if (!decoder.decodeAddress(operands[0], inst, inst.slots[0]) ||
      !decoder.decodeAddress(operands[1], global, inst.slots[2]) ||
      (hint && !decoder.decodeSource(operands.back(), 8, policy))) {
    return false;
  }
  if (!global.wideAddress) {
    return decoder.fail(operands[1].at, "expected a 64-bit global address");
  }
  decoder.appendSlot(inst, uint32_t(global.imm));
  inst.aux = uint64_t(bytes) | uint64_t(kind) << kSourceShift;
  return true;
}

Step commit(Warp &warp, const Inst &) {
  forLanes(warp.exec, [&](unsigned lane) {
    commitGroup(warp.cta.inFlight.asyncThread(warp.index, lane).groups);
    if (warp.cta.hazards) {
      warp.cta.hazards->copies.commitCopies(warp, lane);
    }
  });
  return Step::Next;
}

/// Inst::aux: for open groups too.
Step wait(Warp &warp, const Inst &inst) {
  bool done = true;
  forLanes(warp.exec, [&](unsigned lane) {
    const BulkGroups &groups =
        warp.cta.inFlight.asyncThread(warp.index, lane).groups;
    done &= isGroupDone(groups, size_t(inst.imm)) &&
            (!inst.aux || groups.open == 0);
  });
  if (!done) {
    return warp.block(Wait::Kind::AsyncGroup, 0, uint32_t(inst.imm));
  }
  if (warp.cta.hazards) {
    forLanes(warp.exec, [&](unsigned lane) {
      warp.cta.hazards->copies.waitCopies(warp, lane, size_t(inst.imm),
                                          inst.aux);
    });
  }
  return warp.pass(Wait::Kind::AsyncGroup, 0, uint32_t(inst.imm));
}

bool finishWait(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &, Inst &inst) {
  return inst.imm >= 0 || decoder.fail(instruction.at, "expected at least 0");
}

/// Inst::aux: .noinc, with which the arrival is already counted in the phase.
Step arriveWhenDone(Warp &warp, const Inst &inst) {
  Cta &cta = warp.cta;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    AsyncThread &thread = cta.inFlight.asyncThread(warp.index, lane);
    uint32_t address = address32(warp, inst, inst.slots[0], lane);
    std::string problem;
    Mbarrier *barrier = cta.findMbarrier(address, problem);
    if (!barrier) {
      return warp.fault(problem, lane);
    }
    if (!inst.aux) {
      MbarrierEvent event = mbarrierIncrementPending(*barrier);
      if (event.status != MbarrierStatus::Ok) {
        return warp.fault(ruleOf(event.status),
                          std::string("mbarrier: ") + describe(event.status),
                          lane);
      }
      cta.storeMbarrier(address, *barrier);
    }
    auto arrival = std::make_unique<Arrival>();
    placeCopy(*arrival, warp, lane);
    arrival->barrier = address;
    if (cta.hazards) {
      cta.hazards->mbarriers.useMbarrier(warp, lane, address);
      arrival->hazard = cta.hazards->copies.countCopies(warp, lane);
    }
    arrival->batches = thread.batches;
    thread.batches.push_back(std::make_shared<uint32_t>(0));
    cta.inFlight.start(std::move(arrival));
  }
  return Step::Next;
}

} // namespace

void attn::sim::addAsyncCopyRows(Rows &rows) {
  const std::string arrive = "[.shared|.shared::cta].b64";
  rows.insert(rows.end(),
              {{"cp.async{.ca|.cg}{.shared|.shared::cta}.global"
                "[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]",
                "*", copySmall, finishCopy},
               {"cp.async.commit_group", "", commit},
               {"cp.async.wait_group", "i", wait, finishWait},
               {"cp.async.wait_all", "", wait, nullptr, 1},
               {keep("cp.async.mbarrier.arrive" + arrive), "m", arriveWhenDone},
               {keep("cp.async.mbarrier.arrive.noinc" + arrive), "m",
                arriveWhenDone, nullptr, 1}});
}
