// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: addresses of other CTAs' shared memory, the cluster's barrier, and
// asynchronous stores and reductions to shared memory.

#include "core/cluster.h"

#include "hazards/tracker.h"
#include "ops/async_signal.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/reduce_op.h"

using namespace attn::sim;

namespace {

/// mapa. Slots: d, a, rank.
template <typename Word, bool generic>
Step mapAddress(Warp &warp, const Inst &inst) {
  const Word *from = warp.at<Word>(inst.slots[1]);
  const uint32_t *ranks = warp.word(inst.slots[2]);
  Word results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t offset = uint32_t(from[lane]) & kSharedOffsetMask;
    results[lane] = Word(ranks[lane] << kSharedRankShift | offset);
    if constexpr (generic) {
      results[lane] |= kSharedWindow;
    }
    if (!(warp.exec >> lane & 1)) {
      continue;
    }
    if (generic && (uint64_t(from[lane]) & kWindowMask) != kSharedWindow) {
      return warp.fault("the generic address is not of shared memory", lane);
    }
    if (ranks[lane] >= warp.cta.cluster.size()) {
      return warp.fault(Rule::Bounds,
                        "expected a CTA rank below " +
                            std::to_string(warp.cta.cluster.size()) + ", got " +
                            std::to_string(ranks[lane]),
                        lane);
    }
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <typename Word> uint32_t rankOf(Word address) {
  return uint32_t(address) >> kSharedRankShift;
}

/// isspacep, by the window of a generic address. Inst::aux: a Test.
enum class Test : uint64_t { Global, Own, Cluster, Local, Param };

Step isInSpace(Warp &warp, const Inst &inst) {
  const uint64_t *addresses = warp.wide(inst.slots[1]);
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t window = addresses[lane] & kWindowMask;
    bool shared = window == kSharedWindow;
    bool own = rankOf(addresses[lane]) == warp.cta.rank;
    Test test = Test(inst.aux);
    bool holds = test == Test::Global    ? window == 0
                 : test == Test::Own     ? shared && own
                 : test == Test::Cluster ? shared
                 : test == Test::Local   ? window == kLocalWindow
                                         : window == kParamWindow;
    lanes |= uint32_t(holds) << lane;
  }
  warp.writePredicate(inst.slots[0], lanes);
  return Step::Next;
}

/// Bits of Inst::aux of the cluster's barrier.
constexpr uint64_t kAligned = 1;
constexpr uint64_t kRelaxed = 2;

/// Whether an .aligned instruction has all the warp's lanes.
bool converge(Warp &warp, const Inst &inst, Step &step) {
  return !(inst.aux & kAligned) ||
         warp.gather(kAllLanes, Rule::WarpDivergent, step);
}

Step clusterArrive(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!converge(warp, inst, step)) {
    return step;
  }
  ClusterBarrier &barrier = warp.cta.cluster.barrier;
  if (uint32_t again = warp.exec & warp.clusterArrived) {
    return warp.fault(Rule::ClusterOrder,
                      "the thread arrives at the cluster's barrier a second "
                      "time without having waited",
                      unsigned(__builtin_ctz(again)));
  }
  warp.clusterArrived |= warp.exec;
  forLanes(warp.exec, [&](unsigned lane) {
    warp.clusterGeneration[lane] = barrier.generation;
  });
  if (warp.cta.hazards) {
    warp.cta.hazards->barriers.arriveCluster(warp, !(inst.aux & kRelaxed));
  }
  warp.cta.cluster.arrive(uint32_t(__builtin_popcount(warp.exec)));
  return Step::Next;
}

Step clusterWait(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!converge(warp, inst, step)) {
    return step;
  }
  if (uint32_t early = warp.exec & ~warp.clusterArrived) {
    return warp.fault(Rule::ClusterOrder,
                      "the thread waits at the cluster's barrier without "
                      "having arrived",
                      unsigned(__builtin_ctz(early)));
  }
  bool done = true;
  forLanes(warp.exec, [&](unsigned lane) {
    done &= warp.clusterGeneration[lane] != warp.cta.cluster.barrier.generation;
  });
  if (!done) {
    return warp.block(Wait::Kind::ClusterBarrier);
  }
  warp.clusterArrived &= ~warp.exec;
  if (warp.cta.hazards) {
    warp.cta.hazards->barriers.leaveCluster(warp);
  }
  return warp.pass(Wait::Kind::ClusterBarrier);
}

bool finishBarrier(OperandDecoder &, const ptx::Instruction &,
                   const Match &match, Inst &inst) {
  inst.aux = (match.has(".aligned") ? kAligned : 0) |
             (match.has(".relaxed") ? kRelaxed : 0);
  return true;
}

/// st.async or red.async between issue and arrival.
struct AsyncStore final : AsyncCopy {
  uint32_t address = 0;
  uint32_t barrier = 0;
  uint32_t bytes = 0;
  uint8_t value[16] = {};
  bool reduces = false;
  ReduceOp op = ReduceOp::Add;
  ReduceType type = ReduceType::U32;

  CopyFacts facts() const override { return {true, 0, address, bytes}; }

  std::string complete(Cta &cta) override {
    std::string problem;
    Cta *owner = cta.findOwner(address, problem);
    if (!owner) {
      return problem;
    }
    uint8_t *to = owner->shared(address, bytes);
    if (reduces) {
      applyReduceRange(op, type, to, value, bytes);
    } else {
      std::memcpy(to, value, bytes);
    }
    return signalBytes(*this, cta, barrier, bytes, hazard);
  }
};

/// Packed into Inst::aux.
struct AsyncShape {
  /// Of an element, and how many there are.
  uint8_t bytes = 4;
  uint8_t count = 1;
  bool reduces = false;
  ReduceOp op = ReduceOp::Add;
  ReduceType type = ReduceType::U32;
  uint8_t padding[3] = {0, 0, 0};
};
static_assert(sizeof(AsyncShape) == 8, "fits Inst::aux");

/// The store is made in the generic proxy.
void trackStore(Warp &warp, unsigned lane, AsyncStore &store) {
  BulkAction action;
  action.source = BulkAction::Source::None;
  action.shared = store.address;
  action.bytes = store.bytes;
  action.mbarrier = store.barrier;
  action.reduces = store.reduces;
  action.isGeneric = true;
  store.hazard = warp.cta.hazards->bulk.issueLoad(warp, lane, action);
}

/// Slots: address, mbarrier; its offset is Inst::list's last word.
Step storeAsync(Warp &warp, const Inst &inst) {
  AsyncShape shape = bitCast<AsyncShape>(inst.aux);
  const uint32_t *list = &warp.cta.program.lists[inst.list];
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<AsyncStore>();
    placeCopy(*copy, warp, lane);
    copy->address = address32(warp, inst, inst.slots[0], lane);
    copy->barrier = warp.word(inst.slots[1])[lane] + list[shape.count];
    copy->bytes = uint32_t(shape.bytes) * shape.count;
    copy->reduces = shape.reduces;
    copy->op = shape.op;
    copy->type = shape.type;
    for (uint32_t i = 0; i < shape.count; ++i) {
      uint64_t value = shape.bytes == 8 ? warp.wide(list[i])[lane]
                                        : warp.word(list[i])[lane];
      std::memcpy(copy->value + i * shape.bytes, &value, shape.bytes);
    }
    std::string problem;
    Cta *owner = warp.cta.findOwner(copy->address, problem);
    if (!owner) {
      return warp.fault(problem, lane);
    }
    if (copy->address % copy->bytes != 0) {
      return warp.fault(Rule::Align, "misaligned address", lane);
    }
    if (!owner->shared(copy->address, copy->bytes)) {
      return warp.fault(
          Rule::Bounds,
          "shared address " + toHex(copy->address) + " is out of bounds", lane);
    }
    if (rankOf(copy->address) != rankOf(copy->barrier)) {
      return warp.fault(Rule::MbarrierAddress,
                        "expected the mbarrier in the CTA of the address",
                        lane);
    }
    if (!findSignalled(warp.cta, copy->barrier, problem)) {
      return warp.fault(problem, lane);
    }
    if (warp.cta.hazards) {
      trackStore(warp, lane, *copy);
    }
    warp.cta.inFlight.start(std::move(copy));
  }
  return Step::Next;
}

/// [address], values, [mbarrier].
bool finishStoreAsync(OperandDecoder &decoder,
                      const ptx::Instruction &instruction, const Match &match,
                      Inst &inst) {
  AsyncShape shape;
  std::string_view type = match.chosen.back();
  shape.bytes = uint8_t(typeSize(type));
  shape.count = match.has(".v2") ? 2 : match.has(".v4") ? 4 : 1;
  shape.reduces = instruction.opcode == "red";
  if (shape.reduces &&
      !(parseReduce(match, shape.op) && parseReduceType(type, shape.type) &&
        isReduceLegal(shape.op, shape.type))) {
    return decoder.fail(instruction.at, "there is no such operation");
  }
  Inst barrier;
  const auto &operands = instruction.operands;
  if (!decoder.countOperands(instruction, 3, 3) ||
      !decoder.decodeAddress(operands[0], inst, inst.slots[0]) ||
      !decoder.decodeAddress(operands[2], barrier, inst.slots[1]) ||
      !decoder.decodeSources(operands[1], shape.bytes, inst)) {
    return false;
  }
  if (inst.listSize != shape.count || shape.bytes * shape.count > 16 ||
      barrier.wideAddress) {
    return decoder.fail(instruction.at,
                        "expected as many values as the type says, at most 16 "
                        "bytes, and a 32-bit mbarrier address");
  }
  decoder.appendSlot(inst, uint32_t(barrier.imm));
  inst.aux = bitCast<uint64_t>(shape);
  return true;
}

void addSpaceTests(Rows &rows) {
  auto row = [&](const char *pattern, Test test) {
    rows.push_back({pattern, "dp 8", isInSpace, nullptr, uint64_t(test)});
  };
  row("isspacep.global", Test::Global);
  row("isspacep{.shared|.shared::cta}", Test::Own);
  row("isspacep.shared::cluster", Test::Cluster);
  row("isspacep.local", Test::Local);
  row("isspacep{.param|.param::entry}", Test::Param);
}

} // namespace

void attn::sim::addClusterRows(Rows &rows) {
  const std::string complete = ".shared::cluster.mbarrier::complete_tx::bytes";
  rows.insert(
      rows.end(),
      {{"mapa.shared::cluster.u32", "d4 4 4", mapAddress<uint32_t, false>},
       {"mapa.shared::cluster.u64", "d8 8 4", mapAddress<uint64_t, false>},
       {"mapa.u64", "d8 8 4", mapAddress<uint64_t, true>},
       {"getctarank.shared::cluster.u32", "d4 4", lanewise<&rankOf<uint32_t>>},
       {"getctarank[.shared::cluster].u64", "d4 8",
        lanewise<&rankOf<uint64_t>>},
       {"barrier.cluster.arrive[.release|.relaxed][.aligned]", "",
        clusterArrive, finishBarrier},
       {"barrier.cluster.wait[.acquire][.aligned]", "", clusterWait,
        finishBarrier}});
  rows.push_back({keep("st.async[.weak]" + complete +
                       "[.v2|.v4]{.b32|.b64|.u32|.u64|.s32|.s64|.f32|.f64}"),
                  "*", storeAsync, finishStoreAsync});
  rows.push_back({keep("red.async[.relaxed][.cluster]" + complete +
                       "{.add|.min|.max|.inc|.dec|.and|.or|.xor}"
                       "{.u32|.s32|.b32|.u64}"),
                  "*", storeAsync, finishStoreAsync});
  addSpaceTests(rows);
}
