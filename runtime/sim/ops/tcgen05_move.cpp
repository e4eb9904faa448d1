// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.ld and tcgen05.st: between the registers of a warp and its quarter of
// tensor memory.

#include "hazards/tracker.h"
#include "ops/address_list.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/tcgen05.h"

using namespace attn::sim;

namespace {

/// Packed into Inst::aux.
struct MoveForm {
  TmemShape shape = TmemShape::L32x32b;
  bool isLoad = false;
  bool isPacked = false;
  uint16_t split = 0;
  uint16_t registers = 0;
};
static_assert(sizeof(MoveForm) == 8, "fits Inst::aux");

/// Lanes 0 to 31 of the warp's quarter: all, or a half.
bool checkLanes(Warp &warp, const TensorMove &move) {
  uint32_t first = warp.index % kGroupWarps * kTmemQuadrant;
  uint32_t lane = move.place.lane;
  bool fits = lane == first ||
              (tmemLanes(move.shape) == kTmemHalf && lane == first + kTmemHalf);
  if (!fits) {
    warp.fault(Rule::TmemLane,
               "the address names lane " + std::to_string(lane) +
                   ", and this warp accesses lanes " + std::to_string(first) +
                   " to " + std::to_string(first + kTmemQuadrant - 1));
  }
  return fits;
}

/// Takes rows 128 to 255 of a pair's D in its second CTA for that CTA's lanes:
/// kernels that name them so are known to work.
void takeRows(Warp &warp, TmemPlace &place) {
  bool isSecond = warp.cta.cluster.size() > 1 && warp.cta.rank % 2 == 1;
  if (isSecond && place.lane / kTmemLanes == 1) {
    warp.report(Rule::TmemRow, "the address names lane " +
                                   std::to_string(place.lane) +
                                   ", and a CTA has lanes 0 to " +
                                   std::to_string(kTmemLanes - 1));
    place.lane -= kTmemLanes;
  }
}

/// Reads the move that the instruction requests; false after a fault.
bool readMove(Warp &warp, const Inst &inst, TensorMove &move) {
  MoveForm form = bitCast<MoveForm>(inst.aux);
  uint32_t addresses[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    addresses[lane] = address32(warp, inst, inst.slots[0], lane);
  }
  uint32_t address = 0;
  if (!readUniform(warp, addresses, "address", address)) {
    return false;
  }
  move.isLoad = form.isLoad;
  move.shape = form.shape;
  move.isPacked = form.isPacked;
  move.split = form.split;
  move.place = tmemPlace(address);
  takeRows(warp, move.place);
  move.slots = &warp.cta.program.lists[inst.list];
  move.count = form.registers;
  move.pc = warp.now.pc;
  move.warp = warp.index;
  if (!checkLanes(warp, move)) {
    return false;
  }
  for (const TmemRegion &region : move.regions()) {
    if (!checkColumns(warp, "it", region.column, region.columns)) {
      return false;
    }
  }
  return true;
}

/// Reads the move if all lanes execute it. Otherwise returns false, and `step`
/// is the result of the instruction.
bool beginMove(Warp &warp, const Inst &inst, TensorMove &move, Step &step) {
  if (!isWholeWarp(warp, step)) {
    return false;
  }
  bool isRead = readMove(warp, inst, move);
  step = isRead ? Step::Next : Step::Fault;
  return isRead;
}

Step startLoad(Warp &warp, const Inst &inst) {
  TensorMove move;
  Step step = Step::Next;
  if (!beginMove(warp, inst, move, step)) {
    return step;
  }
  TensorUnit &unit = tensorOf(warp);
  move.number = warp.loads.issue(inst, warp.now.pc);
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.issueLoad(warp, move.regions(), move.number);
  }
  if (warp.cta.observer) {
    warp.cta.observer->onIssue(warp, move);
  }
  unit.start(std::move(move));
  return Step::Next;
}

Step startStore(Warp &warp, const Inst &inst) {
  TensorMove move;
  Step step = Step::Next;
  if (!beginMove(warp, inst, move, step)) {
    return step;
  }
  for (uint32_t i = 0; i < move.count; ++i) {
    const uint32_t *from = warp.word(move.slots[i]);
    move.values.insert(move.values.end(), from, from + kLanes);
  }
  if (warp.cta.hazards) {
    warp.cta.hazards->tmem.issueStore(warp, move.regions());
  }
  if (warp.cta.observer) {
    warp.cta.observer->onIssue(warp, move);
  }
  tensorOf(warp).start(std::move(move));
  return Step::Next;
}

TmemShape shapeOf(const Match &match) {
  return match.has(".16x64b")     ? TmemShape::L16x64b
         : match.has(".16x128b")  ? TmemShape::L16x128b
         : match.has(".16x256b")  ? TmemShape::L16x256b
         : match.has(".16x32bx2") ? TmemShape::L16x32bx2
                                  : TmemShape::L32x32b;
}

uint32_t repeatsOf(const Match &match) {
  for (uint32_t repeats = 1; repeats < 128; repeats *= 2) {
    if (match.has(".x" + std::to_string(repeats))) {
      return repeats;
    }
  }
  return 128;
}

bool decodeSplit(OperandDecoder &decoder, const ptx::Operand &operand,
                 MoveForm &form) {
  int64_t split = 0;
  if (!decoder.decodeImmediate(operand, split)) {
    return false;
  }
  form.split = uint16_t(split);
  return (split >= 0 && split < kTmemColumns) ||
         decoder.fail(operand.at, "expected an offset of 0 to 511 columns");
}

/// Registers first or last, the address, and for 16x32bx2 where its second half
/// is.
template <bool isLoad>
bool finishMove(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  MoveForm form;
  form.isLoad = isLoad;
  form.shape = shapeOf(match);
  form.isPacked = match.has(".pack::16b") || match.has(".unpack::16b");
  bool isSplit = form.shape == TmemShape::L16x32bx2;
  size_t count = isSplit ? 3 : 2;
  if (!decoder.countOperands(instruction, count, count)) {
    return false;
  }
  const auto &operands = instruction.operands;
  const ptx::Operand &registers = operands[isLoad ? 0 : count - 1];
  if (!decoder.decodeAddress(operands[isLoad ? 1 : 0], inst, inst.slots[0]) ||
      (isSplit && !decodeSplit(decoder, operands[isLoad ? 2 : 1], form)) ||
      !(isLoad ? decoder.decodeDestinations(registers, 4, inst)
               : decoder.decodeSources(registers, 4, inst))) {
    return false;
  }
  uint32_t wanted = tmemRegisters(form.shape) * repeatsOf(match);
  form.registers = uint16_t(inst.listSize);
  inst.aux = bitCast<uint64_t>(form);
  if (wanted > 128) {
    return decoder.fail(instruction.at,
                        "there is no tcgen05 move of this shape");
  }
  return inst.listSize == wanted ||
         decoder.fail(instruction.at, "expected " + std::to_string(wanted) +
                                          " registers, got " +
                                          std::to_string(inst.listSize));
}

} // namespace

void attn::sim::addTensorMoveRows(Rows &rows) {
  const std::string shape =
      ".sync.aligned{.32x32b|.16x64b|.16x128b|.16x256b|.16x32bx2}"
      "{.x1|.x2|.x4|.x8|.x16|.x32|.x64|.x128}";
  rows.push_back({keep("tcgen05.ld" + shape + "[.pack::16b].b32"), "*",
                  startLoad, finishMove<true>});
  rows.push_back({keep("tcgen05.st" + shape + "[.unpack::16b].b32"), "*",
                  startStore, finishMove<false>});
}
