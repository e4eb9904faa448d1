// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/in_flight.h"

#include "core/cta.h"

#include <algorithm>

using namespace attn::sim;

static AsyncPolicy choosePolicy(uint64_t seed) {
  return seed == 0   ? AsyncPolicy::Late
         : seed == 1 ? AsyncPolicy::Early
                     : AsyncPolicy::Random;
}

InFlight::InFlight(Cta &cta, const SimOptions &options, Random &random)
    : cta(cta), policy(choosePolicy(options.seed)),
      preference(Preference(options.seed / 2 % 3)), random(random),
      bulk((cta.threads + kLanes - 1) / kLanes * kLanes),
      groups((cta.threads + 127) / 128), seed(options.seed) {}

TensorUnit &InFlight::tensorUnit() {
  if (!tensor) {
    tensor = std::make_unique<TensorUnit>(cta, policy, seed);
  }
  return *tensor;
}

void InFlight::start(std::unique_ptr<AsyncCopy> copy) {
  copies.push_back(std::move(copy));
  if (cta.observer) {
    cta.observer->onIssue(cta.getWarp(copies.back()->warp), *copies.back());
  }
  if (policy == AsyncPolicy::Early) {
    completeCopy(copies.size() - 1);
  }
}

void InFlight::completeCopy(size_t index) {
  std::unique_ptr<AsyncCopy> copy = std::move(copies[index]);
  copies.erase(copies.begin() + int64_t(index));
  if (cta.observer) {
    cta.observer->onComplete(*copy);
  }
  std::string problem = copy->complete(cta);
  ++cta.changes;
  if (!problem.empty()) {
    cta.reports.fail(copy->warp, copy->pc, copy->lane, problem);
  }
}

void attn::sim::finishGroup(BulkGroups &groups, uint64_t group) {
  uint64_t index = group - groups.oldest;
  if (index >= groups.pending.size()) {
    --groups.open;
    return;
  }
  --groups.pending[index];
  while (!groups.pending.empty() && groups.pending.front() == 0) {
    groups.pending.pop_front();
    ++groups.oldest;
  }
}

void attn::sim::commitGroup(BulkGroups &groups) {
  groups.pending.push_back(groups.open);
  groups.open = 0;
  while (!groups.pending.empty() && groups.pending.front() == 0) {
    groups.pending.pop_front();
    ++groups.oldest;
  }
}

bool attn::sim::isGroupDone(const BulkGroups &groups, size_t pending) {
  size_t count = groups.pending.size();
  for (size_t i = 0; i + pending < count; ++i) {
    if (groups.pending[i] != 0) {
      return false;
    }
  }
  return true;
}

static bool isReady(const WarpGroup &group) {
  return !group.queue.empty() && group.queue.front().issued == 0xf;
}

void InFlight::completeEarly(const Warp &warp) {
  size_t group = warp.index / kGroupWarps;
  while (policy == AsyncPolicy::Early && isReady(groups[group])) {
    completeWgmma(group);
  }
}

bool InFlight::completeOne() {
  std::vector<size_t> ready;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (isReady(groups[i])) {
      ready.push_back(i);
    }
  }
  std::vector<size_t> readyCopies;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (copies[i]->mayComplete()) {
      readyCopies.push_back(i);
    }
  }
  size_t tensorOps = tensor ? tensor->countReady() : 0;
  size_t units = ready.size() + tensorOps;
  size_t count = units + readyCopies.size();
  if (count == 0) {
    return false;
  }
  size_t chosen = 0;
  if (policy == AsyncPolicy::Random) {
    bool onlyCopies =
        preference == Preference::Copies ? !readyCopies.empty() : units == 0;
    bool onlyUnits =
        preference == Preference::Units ? units != 0 : readyCopies.empty();
    chosen = onlyCopies  ? units + random.below(readyCopies.size())
             : onlyUnits ? random.below(units)
                         : random.below(count);
  }
  if (chosen < ready.size()) {
    completeWgmma(ready[chosen]);
  } else if (chosen < units) {
    tensor->completeReady(chosen - ready.size());
  } else {
    completeCopy(readyCopies[chosen - units]);
  }
  return true;
}

/// Computes on the accumulators, A and B of an operation. Returns "" or the
/// error.
static std::string multiplyOperands(Cta &cta, const WgmmaOp &op,
                                    uint32_t firstWarp) {
  uint8_t a[kWgmmaM * 32];
  uint8_t b[kMaxWgmmaN * 32];
  SharedView view = cta.sharedView();
  OperandStatus status = fetchOperand(op.b, view, b);
  if (status != OperandStatus::Ok) {
    return std::string("B: ") + describe(status);
  }
  if (op.aInRegisters) {
    const uint32_t *fragments[4][4];
    const uint32_t *const *warps[4];
    for (uint32_t w = 0; w < 4; ++w) {
      for (uint32_t i = 0; i < 4; ++i) {
        fragments[w][i] = cta.getWarp(firstWarp + w).word(op.aSlots[i]);
      }
      warps[w] = fragments[w];
    }
    fetchFragmentA(op.spec.a, warps, a);
  } else {
    status = fetchOperand(op.a, view, a);
    if (status != OperandStatus::Ok) {
      return std::string("A: ") + describe(status);
    }
  }
  size_t count = op.accumulators->slots.size();
  std::vector<uint32_t *> registers(4 * count);
  uint32_t *const *warps[4];
  for (size_t i = 0; i < registers.size(); ++i) {
    registers[i] = op.accumulators->values.data() + i * kLanes;
  }
  for (size_t w = 0; w < 4; ++w) {
    warps[w] = registers.data() + w * count;
  }
  WgmmaSpec spec = op.spec;
  spec.arithmetic = cta.sums;
  wgmma(spec, a, b, warps);
  return "";
}

void InFlight::completeWgmma(size_t index) {
  WarpGroup &group = groups[index];
  uint32_t firstWarp = uint32_t(index) * kGroupWarps;
  WgmmaOp op = std::move(group.queue.front());
  group.queue.pop_front();
  ++group.completed;
  ++cta.changes;
  std::string problem = multiplyOperands(cta, op, firstWarp);
  if (!problem.empty()) {
    cta.reports.fail(firstWarp, op.pc, kLanes, problem);
  }
  Accumulators &accumulators = *op.accumulators;
  if (--accumulators.users != 0) {
    return;
  }
  size_t count = accumulators.slots.size();
  auto deliverRegister = [&](uint32_t w, uint32_t number, uint32_t slot) {
    Warp &warp = cta.getWarp(firstWarp + w);
    RegisterHolder &holder = warp.registers.holder(number);
    if (holder.accumulators == &accumulators) {
      size_t from = (w * count + holder.index) * kLanes;
      std::copy_n(accumulators.values.data() + from, kLanes, warp.word(slot));
      holder = {};
    }
  };
  for (uint32_t w = 0; w < 4; ++w) {
    for (size_t i = 0; i < count; ++i) {
      deliverRegister(w, accumulators.numbers[i], accumulators.slots[i]);
    }
  }
  for (const AccumulatorCopy &copy : accumulators.copies) {
    deliverRegister(copy.warp, copy.number, copy.slot);
  }
}
