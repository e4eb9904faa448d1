// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix and movmatrix.

#include "units/matrix_move.h"

#include "core/cta.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

/// Calls `visit(memory, row)` for the 16 bytes of each row. False after a
/// fault.
template <typename Visit>
bool forRows(Warp &warp, const Inst &inst, bool write, Visit visit) {
  if (warp.cta.hazards) {
    MemoryAction action;
    action.reads = !write;
    action.writes = write;
    warp.cta.hazards->plain.begin(warp, action);
  }
  for (unsigned row = 0; row < 8 * inst.listSize; ++row) {
    unsigned lane = matrixRowLane(row / 8, row % 8);
    uint64_t address = address64(warp, inst, inst.slots[0], lane);
    Space space = inst.aux & 2 ? Space::Generic : Space::Shared;
    address &= space == Space::Shared ? 0xffffffff : ~uint64_t(0);
    if (address % 16 != 0) {
      warp.fault(Rule::Align, "the row's address is not a multiple of 16",
                 lane);
      return false;
    }
    std::string problem;
    uint8_t *memory =
        warp.cta.resolve(space, address, 16, write, warp, lane, problem);
    if (!memory) {
      warp.fault(problem, lane);
      return false;
    }
    if (warp.cta.hazards) {
      warp.cta.hazards->plain.access(warp, lane, space, address, 16);
    }
    visit(memory, row);
  }
  return true;
}

/// The instruction is for whole warps.
bool whole(Warp &warp, Step &step) {
  if (warp.live != kAllLanes) {
    step = warp.fault(Rule::WarpDivergent, "expected a warp of 32 lanes");
    return false;
  }
  return warp.gather(kAllLanes, Rule::WarpDivergent, step);
}

Step load(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!whole(warp, step)) {
    return step;
  }
  MatrixRows rows;
  if (!forRows(warp, inst, false, [&](uint8_t *memory, unsigned row) {
        std::memcpy(rows.bytes[row], memory, 16);
      })) {
    return Step::Fault;
  }
  uint32_t *regs[4];
  for (uint32_t i = 0; i < inst.listSize; ++i) {
    regs[i] = warp.word(warp.cta.program.lists[inst.list + i]);
  }
  ldmatrix(rows, inst.listSize, inst.aux & 1, regs);
  return Step::Next;
}

Step storeMatrix(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!whole(warp, step)) {
    return step;
  }
  const uint32_t *regs[4];
  for (uint32_t i = 0; i < inst.listSize; ++i) {
    regs[i] = warp.word(warp.cta.program.lists[inst.list + i]);
  }
  MatrixRows rows;
  stmatrix(regs, inst.listSize, inst.aux & 1, rows);
  return forRows(warp, inst, true,
                 [&](uint8_t *memory, unsigned row) {
                   std::memcpy(memory, rows.bytes[row], 16);
                 })
             ? Step::Next
             : Step::Fault;
}

Step transpose(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!whole(warp, step)) {
    return step;
  }
  uint32_t results[kLanes];
  movmatrix(warp.word(inst.slots[1]), results);
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <bool isLoad>
bool finishMatrix(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  if (!decoder.countOperands(instruction, 2, 2)) {
    return false;
  }
  const ptx::Operand &values = instruction.operands[isLoad ? 0 : 1];
  const ptx::Operand &place = instruction.operands[isLoad ? 1 : 0];
  bool generic = !match.has(".shared") && !match.has(".shared::cta");
  inst.aux = (match.has(".trans") ? 1 : 0) | (generic ? 2 : 0);
  if (!decoder.decodeAddress(place, inst, inst.slots[0]) ||
      !(isLoad ? decoder.decodeDestinations(values, 4, inst)
               : decoder.decodeSources(values, 4, inst))) {
    return false;
  }
  uint32_t wanted = match.has(".x4") ? 4 : match.has(".x2") ? 2 : 1;
  return inst.listSize == wanted ||
         decoder.fail(values.at,
                      "expected " + std::to_string(wanted) + " registers");
}

} // namespace

void attn::sim::addMatrixRows(Rows &rows) {
  rows.insert(rows.end(),
              {{"ldmatrix.sync.aligned.m8n8{.x1|.x2|.x4}[.trans]"
                "[.shared|.shared::cta].b16",
                "*", load, finishMatrix<true>},
               {"stmatrix.sync.aligned.m8n8{.x1|.x2|.x4}[.trans]"
                "[.shared|.shared::cta].b16",
                "*", storeMatrix, finishMatrix<false>},
               {"movmatrix.sync.aligned.m8n8.trans.b16", "d4 4", transpose}});
}
