// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a wgmma: multiplies, and delivers accumulators to registers.

#include "core/cta.h"

#include <algorithm>

using namespace attn::sim;

/// Computes on the accumulators, A and B of an operation. Returns "" or why
/// that is not possible.
static std::string multiply(Cta &cta, const WgmmaOp &op, uint32_t firstWarp) {
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
  wgmma(op.spec, a, b, warps);
  return "";
}

void Cta::completeWgmma(WarpGroup &group, uint32_t firstWarp) {
  WgmmaOp op = std::move(group.queue.front());
  group.queue.pop_front();
  ++group.completed;
  ++changes;
  std::string problem = multiply(*this, op, firstWarp);
  if (!problem.empty() && failure.empty()) {
    failure = describePlace(number, firstWarp, op.pc, kLanes) + ": " + problem;
  }
  Accumulators &accumulators = *op.accumulators;
  if (--accumulators.users != 0) {
    return;
  }
  size_t count = accumulators.slots.size();
  auto deliver = [&](uint32_t w, uint32_t number, uint32_t slot) {
    Warp &warp = *warps[firstWarp + w];
    RegisterHolder &holder = warp.registers.holder(number);
    if (holder.accumulators == &accumulators) {
      size_t from = (w * count + holder.index) * kLanes;
      std::copy_n(accumulators.values.data() + from, kLanes, warp.word(slot));
      holder = {};
    }
  };
  for (uint32_t w = 0; w < 4; ++w) {
    for (size_t i = 0; i < count; ++i) {
      deliver(w, accumulators.numbers[i], accumulators.slots[i]);
    }
  }
  for (const AccumulatorCopy &copy : accumulators.copies) {
    deliver(copy.warp, copy.number, copy.slot);
  }
}
