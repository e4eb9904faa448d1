// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk and cp.reduce.async.bulk, and the groups of all bulk copies.

#include "hazards/tracker.h"
#include "ops/bulk_copy.h"
#include "ops/rows.h"
#include "units/tma.h"

#include <algorithm>
#include <mutex>

using namespace attn::sim;

namespace {

/// What a bulk copy does with each element: it overwrites the destination, or
/// is combined with it.
struct Reduction {
  bool reduces = false;
  ReduceOp op = ReduceOp::Add;
  ReduceType type = ReduceType::U32;

  /// Unlike red, this keeps subnormals of f32 in global memory, on an H200.
  void apply(uint8_t *to, const uint8_t *from, uint32_t bytes) const {
    static std::mutex mutex;
    if (!reduces) {
      std::memcpy(to, from, bytes);
      return;
    }
    std::lock_guard<std::mutex> lock(mutex);
    applyReduceRange(op, type, to, from, bytes);
  }
};

/// From global to shared memory, or from this CTA's to another's.
struct SharedCopy final : AsyncCopy {
  Targets targets;
  bool fromGlobal = false;
  uint64_t source = 0;
  uint32_t bytes = 0;
  Reduction reduction;

  CopyFacts facts() const override {
    return {true, fromGlobal ? source : 0, targets.address, bytes};
  }

  std::string complete(Cta &cta) override {
    const uint8_t *from = fromGlobal ? cta.global.find(source, bytes)
                                     : cta.shared(uint32_t(source), bytes);
    if (!from) {
      return outOfBounds("global memory", source, bytes);
    }
    return targets.deliver(*this, cta, bytes, [&](uint8_t *to) {
      reduction.apply(to, from, bytes);
    });
  }
};

struct GlobalCopy final : AsyncCopy {
  uint32_t shared = 0;
  uint64_t global = 0;
  uint32_t bytes = 0;
  uint64_t group = 0;
  Reduction reduction;

  CopyFacts facts() const override { return {false, global, shared, bytes}; }

  std::string complete(Cta &cta) override {
    uint8_t *to = cta.global.find(global, bytes);
    cta.inFlight.finishBulk(warp, lane, group);
    if (!to) {
      return outOfBounds("global memory", global, bytes);
    }
    reduction.apply(to, cta.shared(shared, bytes), bytes);
    return "";
  }
};

/// Inst::aux of bulk copies: kMulticast, and a reduction.
constexpr uint64_t kReduces = 2;
constexpr unsigned kOpShift = 8;
constexpr unsigned kTypeShift = 16;

Reduction reductionOf(const Inst &inst) {
  return {(inst.aux & kReduces) != 0, ReduceOp(inst.aux >> kOpShift & 0xff),
          ReduceType(inst.aux >> kTypeShift & 0xff)};
}

/// Slots: bytes, and the mask of a multicast.
template <bool fromGlobal> Step copyToShared(Warp &warp, const Inst &inst) {
  return startCopies<SharedCopy>(warp, [&](unsigned lane, SharedCopy &copy) {
    uint64_t to = readAddress(warp, inst, 0, lane);
    copy.fromGlobal = fromGlobal;
    copy.source = readAddress(warp, inst, 1, lane);
    copy.bytes = warp.word(inst.slots[0])[lane];
    copy.reduction = reductionOf(inst);
    if (const char *problem = checkBulkCopy(to, copy.source, copy.bytes)) {
      return problem + ruleSuffix(Rule::Align);
    }
    if (!fromGlobal && !warp.cta.shared(uint32_t(copy.source), copy.bytes)) {
      return outOfBounds("shared memory", copy.source, copy.bytes);
    }
    copy.targets.address = uint32_t(to);
    copy.targets.barrier = uint32_t(readAddress(warp, inst, 2, lane));
    BulkAction action;
    action.bytes = copy.bytes;
    action.source =
        fromGlobal ? BulkAction::Source::Global : BulkAction::Source::Shared;
    action.global = copy.source;
    action.reduces = copy.reduction.reduces;
    return copy.targets.read(warp, inst, lane, action);
  });
}

Step copyToGlobal(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->bulk.beginStores();
  }
  return startCopies<GlobalCopy>(warp, [&](unsigned lane, GlobalCopy &copy) {
    copy.global = readAddress(warp, inst, 0, lane);
    copy.shared = uint32_t(readAddress(warp, inst, 1, lane));
    copy.bytes = warp.word(inst.slots[0])[lane];
    copy.reduction = reductionOf(inst);
    if (const char *problem =
            checkBulkCopy(copy.global, copy.shared, copy.bytes)) {
      return problem + ruleSuffix(Rule::Align);
    }
    if (!warp.cta.shared(copy.shared, copy.bytes)) {
      return outOfBounds("shared memory", copy.shared, copy.bytes);
    }
    copy.group = joinGroup(warp, lane);
    if (warp.cta.hazards) {
      BulkAction action;
      action.shared = copy.shared;
      action.bytes = copy.bytes;
      action.global = copy.global;
      action.group = copy.group;
      action.reduces = copy.reduction.reduces;
      action.adds =
          action.reduces && isFloatSum(copy.reduction.op, copy.reduction.type);
      warp.cta.hazards->bulk.issueStore(warp, lane, action);
    }
    return std::string();
  });
}

Step commit(Warp &warp, const Inst &) {
  forLanes(warp.exec, [&](unsigned lane) {
    commitGroup(warp.cta.inFlight.bulkGroups(warp, lane));
  });
  if (warp.cta.observer) {
    warp.cta.observer->onCommit(warp, Wait::Kind::BulkGroup);
  }
  return Step::Next;
}

Step waitGroup(Warp &warp, const Inst &inst) {
  bool done = true;
  forLanes(warp.exec, [&](unsigned lane) {
    done &=
        isGroupDone(warp.cta.inFlight.bulkGroups(warp, lane), size_t(inst.imm));
  });
  if (!done) {
    return warp.block(Wait::Kind::BulkGroup, 0, uint32_t(inst.imm));
  }
  if (warp.cta.hazards) {
    forLanes(warp.exec, [&](unsigned lane) {
      const BulkGroups &groups = warp.cta.inFlight.bulkGroups(warp, lane);
      uint64_t committed = groups.oldest + groups.pending.size();
      uint64_t pending = std::min(committed, uint64_t(inst.imm));
      warp.cta.hazards->bulk.waitStores(warp, lane, committed - pending,
                                        inst.aux);
    });
  }
  return warp.pass(Wait::Kind::BulkGroup, 0, uint32_t(inst.imm));
}

bool finishReduction(OperandDecoder &decoder,
                     const ptx::Instruction &instruction, const Match &match,
                     Inst &inst) {
  ReduceOp op;
  ReduceType type;
  if (!parseReduce(match, op)) {
    return true;
  }
  if (!parseReduceType(match.chosen.back(), type) || !isReduceLegal(op, type)) {
    return decoder.fail(instruction.at, "there is no such operation");
  }
  inst.aux |=
      kReduces | uint64_t(op) << kOpShift | uint64_t(type) << kTypeShift;
  return true;
}

/// [to], [from], size and, toward shared memory, [mbarrier].
template <bool toShared>
bool finishPlain(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  return finishTail(decoder, instruction, match, toShared ? 4 : 3, inst) &&
         finishReduction(decoder, instruction, match, inst) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[1], inst) &&
         decoder.decodeSource(operands[2], 4, inst.slots[0]) &&
         (!toShared || appendAddress(decoder, operands[3], inst));
}

/// [from], size and perhaps a cache policy.
bool finishPrefetchPlain(OperandDecoder &decoder,
                         const ptx::Instruction &instruction,
                         const Match &match, Inst &inst) {
  return finishTail(decoder, instruction, match, 2, inst) &&
         appendAddress(decoder, instruction.operands[0], inst) &&
         decoder.decodeSource(instruction.operands[1], 4, inst.slots[0]);
}

bool finishWait(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  inst.aux = match.has(".read");
  return inst.imm >= 0 || decoder.fail(instruction.at, "expected at least 0");
}

} // namespace

void attn::sim::addBulkRows(Rows &rows) {
  const std::string hint = "[.L2::cache_hint]";
  const std::string signal = ".mbarrier::complete_tx::bytes";
  const std::string op = "{.add|.min|.max|.inc|.dec|.and|.or|.xor}";
  auto row = [&](const std::string &pattern, Handler handler, Finish how) {
    rows.push_back({keep(pattern), "*", handler, how});
  };
  row("cp.async.bulk{.shared::cluster|.shared::cta}.global" + signal +
          "[.multicast::cluster]" + hint,
      copyToShared<true>, finishPlain<true>);
  row("cp.async.bulk.shared::cluster.shared::cta" + signal, copyToShared<false>,
      finishPlain<true>);
  row("cp.async.bulk.global.shared::cta.bulk_group" + hint, copyToGlobal,
      finishPlain<false>);
  row("cp.reduce.async.bulk.shared::cluster.shared::cta" + signal + op +
          "{.u32|.s32|.u64|.b32}",
      copyToShared<false>, finishPlain<true>);
  row("cp.reduce.async.bulk.global.shared::cta.bulk_group" + hint + op +
          "[.noftz]{.u32|.s32|.u64|.s64|.b32|.b64|.f16|.bf16|.f32|.f64}",
      copyToGlobal, finishPlain<false>);
  row("cp.async.bulk.prefetch.L2.global" + hint, doNothing,
      finishPrefetchPlain);
  rows.insert(rows.end(), {{"cp.async.bulk.commit_group", "", commit},
                           {"cp.async.bulk.wait_group[.read]", "i", waitGroup,
                            finishWait}});
}
