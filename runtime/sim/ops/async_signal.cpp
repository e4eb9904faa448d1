// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ops/async_signal.h"
#include "hazards/tracker.h"

using namespace attn::sim;

void attn::sim::placeCopy(AsyncCopy &copy, const Warp &warp, unsigned lane) {
  copy.pc = warp.now.pc;
  copy.warp = warp.index;
  copy.lane = lane;
}

Mbarrier *attn::sim::findSignalled(Cta &cta, uint32_t address,
                                   std::string &problem) {
  Cta *owner = cta.findOwner(address, problem);
  Mbarrier *barrier = owner ? owner->findMbarrier(address, problem) : nullptr;
  if (barrier && !barrier->live) {
    problem =
        "the mbarrier is not initialized" + ruleSuffix(Rule::MbarrierNotLive);
    return nullptr;
  }
  return barrier;
}

std::string attn::sim::signalBytes(const AsyncCopy &copy, Cta &from,
                                   uint32_t address, uint32_t bytes,
                                   uint32_t hazard) {
  std::string problem;
  Mbarrier *barrier = findSignalled(from, address, problem);
  if (!barrier) {
    return problem;
  }
  uint64_t phase = barrier->phase;
  if (from.hazards) {
    from.hazards->bulk.completeLoad(hazard, address, phase);
  }
  MbarrierEvent event = mbarrierCompleteTx(*barrier, bytes);
  if (event.status != MbarrierStatus::Ok) {
    return std::string("mbarrier: ") + describe(event.status) +
           ruleSuffix(ruleOf(event.status));
  }
  if (from.hazards && event.completed) {
    from.hazards->mbarriers.completePhase(from.getWarp(copy.warp), copy.pc,
                                          copy.lane, address);
  }
  Cta *owner = from.findOwner(address, problem);
  owner->storeMbarrier(address, *barrier);
  if (owner->observer) {
    owner->observer->onArrive(nullptr, Wait::Kind::Mbarrier, address,
                              barrier->phase != phase);
  }
  return "";
}

bool attn::sim::parseReduce(const Match &match, ReduceOp &op) {
  static const struct {
    const char *name;
    ReduceOp op;
  } ops[] = {{".add", ReduceOp::Add}, {".min", ReduceOp::Min},
             {".max", ReduceOp::Max}, {".inc", ReduceOp::Inc},
             {".dec", ReduceOp::Dec}, {".and", ReduceOp::And},
             {".or", ReduceOp::Or},   {".xor", ReduceOp::Xor}};
  for (const auto &each : ops) {
    if (match.has(each.name)) {
      op = each.op;
      return true;
    }
  }
  return false;
}

bool attn::sim::parseReduceType(std::string_view name, ReduceType &type) {
  static const struct {
    const char *name;
    ReduceType type;
  } types[] = {{".u32", ReduceType::U32}, {".b32", ReduceType::U32},
               {".s32", ReduceType::S32}, {".u64", ReduceType::U64},
               {".b64", ReduceType::U64}, {".s64", ReduceType::S64},
               {".f16", ReduceType::F16}, {".bf16", ReduceType::BF16},
               {".f32", ReduceType::F32}, {".f64", ReduceType::F64},
               {".b16", ReduceType::U16}};
  for (const auto &each : types) {
    if (name == each.name) {
      type = each.type;
      return true;
    }
  }
  return false;
}
