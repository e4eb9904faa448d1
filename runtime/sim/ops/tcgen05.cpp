// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05: the allocation of tensor memory, fences, and waits for loads and
// stores.

#include "ops/tcgen05.h"

#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

#include <algorithm>

using namespace attn::sim;

TensorUnit &attn::sim::tensorOf(Warp &warp) {
  TensorUnit &unit = warp.cta.inFlight.tensorUnit();
  unit.observer = warp.cta.hazards ? &warp.cta.hazards->tmem : nullptr;
  return unit;
}

bool attn::sim::isWholeWarp(Warp &warp, Step &step) {
  if (warp.live != kAllLanes) {
    step = warp.fault(Rule::WarpDivergent, "expected all 32 lanes of the warp");
    return false;
  }
  return warp.gather(kAllLanes, Rule::WarpDivergent, step);
}

bool attn::sim::readUniform(Warp &warp, const uint32_t *lanes, const char *name,
                            uint32_t &value) {
  value = lanes[0];
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    if (lanes[lane] != value) {
      warp.fault(Rule::TmemAddress,
                 std::string("expected the same ") + name +
                     " in all lanes, got " + toHex(lanes[lane]) +
                     " and in lane 0 " + toHex(value),
                 lane);
      return false;
    }
  }
  return true;
}

bool attn::sim::useGroup(Warp &warp, unsigned group) {
  unsigned &known = tensorOf(warp).group;
  known = known ? known : group;
  if (known == group) {
    return true;
  }
  warp.fault(Rule::UmmaGroup, "cta_group::" + std::to_string(group) +
                                  " after an instruction of cta_group::" +
                                  std::to_string(known));
  return false;
}

bool attn::sim::checkColumns(Warp &warp, const char *what, uint32_t column,
                             uint32_t columns, unsigned lane) {
  const TensorAllocator &allocator = tensorOf(warp).allocator;
  if (column + columns <= kTmemColumns && allocator.contains(column, columns)) {
    return true;
  }
  warp.fault(Rule::TmemColumn,
             std::string(what) + " takes columns " + std::to_string(column) +
                 " to " + std::to_string(column + columns - 1) +
                 ", allocated are " + allocator.describe(),
             lane);
  return false;
}

bool attn::sim::requireOneCta(OperandDecoder &decoder,
                              const ptx::Instruction &instruction,
                              const Match &match) {
  return !match.has(".cta_group::2") ||
         decoder.fail(instruction.at,
                      "tcgen05 of .cta_group::2 is not simulated");
}

namespace {

/// Bits of Inst::aux.
constexpr uint64_t kGeneric = 1;
constexpr uint64_t kLoads = 2;

/// "" or why no allocation can have this size.
std::string checkSize(const TensorAllocator &allocator, uint32_t columns) {
  if (columns < 32 || columns > kTmemColumns || (columns & (columns - 1))) {
    return "expected a power of two from 32 to 512 columns, got " +
           std::to_string(columns);
  }
  if (allocator.isRelinquished) {
    return "the CTA has given up its permit to allocate";
  }
  return columns <= allocator.mostColumns
             ? ""
             : "expected at most " + std::to_string(allocator.mostColumns) +
                   " columns, as the last allocation had, got " +
                   std::to_string(columns);
}

/// The address of a shared operand; false after a fault.
bool readShared(Warp &warp, const Inst &inst, uint32_t &address) {
  uint64_t full = address64(warp, inst, inst.slots[0], /*lane=*/0);
  if ((inst.aux & kGeneric) && (full & kWindowMask) != kSharedWindow) {
    warp.fault("the generic address is not of shared memory", 0);
    return false;
  }
  address = uint32_t(full);
  if (address % 4 != 0 || !warp.cta.shared(address, 4)) {
    warp.fault(
        address % 4 ? Rule::Align : Rule::Bounds,
        "no allocation can be written to shared address " + toHex(address), 0);
    return false;
  }
  return true;
}

/// Slots: the address to write to, and how many columns.
Step allocate(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t address = 0;
  TmemAllocation wanted;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  if (!useGroup(warp, 1) || !readShared(warp, inst, address) ||
      !readUniform(warp, warp.word(inst.slots[1]), "number of columns",
                   wanted.columns)) {
    return Step::Fault;
  }
  TensorUnit &unit = tensorOf(warp);
  std::string problem = checkSize(unit.allocator, wanted.columns);
  if (!problem.empty()) {
    return warp.fault(Rule::TmemAlloc, problem);
  }
  wanted.warp = warp.index;
  wanted.pc = warp.now.pc;
  if (!unit.allocator.allocate(wanted)) {
    return warp.block(Wait::Kind::TensorMemory, unit.allocator.countFree(),
                      wanted.columns);
  }
  unit.poison(wanted.base, wanted.columns);
  if (warp.cta.hazards) {
    warp.cta.hazards->plain.storeShared(warp, /*lane=*/0, address, 4);
    warp.cta.hazards->tmem.allocate(warp, wanted.base, wanted.columns);
  }
  std::memcpy(warp.cta.shared(address, 4), &wanted.base, 4);
  return warp.pass(Wait::Kind::TensorMemory, 0, wanted.columns);
}

/// Slots: the address of the allocation, and how many columns.
Step release(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  uint32_t address = 0;
  uint32_t columns = 0;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  if (!useGroup(warp, 1) ||
      !readUniform(warp, warp.word(inst.slots[0]), "address", address) ||
      !readUniform(warp, warp.word(inst.slots[1]), "number of columns",
                   columns)) {
    return Step::Fault;
  }
  TensorUnit &unit = tensorOf(warp);
  if (!unit.allocator.release(address, columns)) {
    return warp.fault(
        Rule::TmemAlloc,
        std::to_string(columns) + " columns at " + toHex(address) +
            " are no allocation; allocated are " + unit.allocator.describe());
  }
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.release(warp, address, columns);
  }
  ++warp.cta.changes;
  return Step::Next;
}

Step relinquish(Warp &warp, const Inst &) {
  Step step = Step::Next;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  tensorOf(warp).allocator.isRelinquished = true;
  return useGroup(warp, 1) ? Step::Next : Step::Fault;
}

Step fenceBefore(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.fenceBefore(warp);
  }
  return Step::Next;
}

Step fenceAfter(Warp &warp, const Inst &) {
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.fenceAfter(warp);
  }
  return Step::Next;
}

Step wait(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!isWholeWarp(warp, step)) {
    return step;
  }
  bool loads = inst.aux & kLoads;
  tensorOf(warp).finishMoves(warp.index, loads);
  if (loads) {
    warp.loads.wait();
  }
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.wait(warp, loads);
  }
  return Step::Next;
}

bool finishAllocation(OperandDecoder &decoder,
                      const ptx::Instruction &instruction, const Match &match,
                      Inst &inst) {
  inst.aux = match.has(".shared::cta") ? 0 : kGeneric;
  return requireOneCta(decoder, instruction, match);
}

} // namespace

void attn::sim::addTensorRows(Rows &rows) {
  const std::string group = "{.cta_group::1|.cta_group::2}";
  const std::string aligned = group + ".sync.aligned";
  rows.insert(rows.end(),
              {{keep("tcgen05.alloc" + aligned + "[.shared::cta].b32"), "m 4",
                allocate, finishAllocation},
               {keep("tcgen05.dealloc" + aligned + ".b32"), "4 4", release,
                finishAllocation},
               {keep("tcgen05.relinquish_alloc_permit" + aligned), "",
                relinquish, finishAllocation},
               {"tcgen05.fence::before_thread_sync", "", fenceBefore},
               {"tcgen05.fence::after_thread_sync", "", fenceAfter},
               {"tcgen05.wait::ld.sync.aligned", "", wait, nullptr, kLoads},
               {"tcgen05.wait::st.sync.aligned", "", wait}});
}
