// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ops/async_signal.h"

using namespace attn::sim;

void attn::sim::placeCopy(AsyncCopy &copy, const Warp &warp, unsigned lane) {
  copy.pc = warp.now.pc;
  copy.warp = warp.index;
  copy.lane = lane;
}

Mbarrier *attn::sim::findSignalled(Cta &cta, uint32_t address,
                                   std::string &problem) {
  Cta *owner = address >> kSharedRankShift == cta.rank
                   ? &cta
                   : cta.cluster.findOwner(address, problem);
  Mbarrier *barrier = owner ? owner->findMbarrier(address, problem) : nullptr;
  if (barrier && !barrier->live) {
    problem = "the mbarrier is not initialized";
    return nullptr;
  }
  return barrier;
}

std::string attn::sim::signalBytes(Cta &cta, uint32_t address, uint32_t bytes) {
  std::string problem;
  Mbarrier *barrier = findSignalled(cta, address, problem);
  if (!barrier) {
    return problem;
  }
  MbarrierEvent event = mbarrierCompleteTx(*barrier, bytes);
  if (event.status != MbarrierStatus::Ok) {
    return std::string("mbarrier: ") + describe(event.status);
  }
  uint32_t rank = address >> kSharedRankShift;
  Cta *owner = rank == cta.rank ? &cta : cta.cluster.findRank(rank, problem);
  owner->storeMbarrier(address, *barrier);
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
