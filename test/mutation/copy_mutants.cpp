// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies: that each happens once, its source and destination, and its
// signal.

#include "collector.h"

using namespace attn::mutation;
using Operand = attn::sim::ptx::Operand;

/// The coordinates of "[map, {x, y}]"; null for another operand.
static Operand *findCoordinates(Operand &operand) {
  if (operand.kind == Operand::Kind::Address && operand.elements.size() > 1 &&
      operand.elements[1].kind == Operand::Kind::Vector) {
    return &operand.elements[1];
  }
  return nullptr;
}

static void addCoordinateMutants(Collector &collector, size_t statement,
                                 size_t operand, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (int64_t delta : {-1, 1}) {
      Draft draft(*collector.code[statement].instruction);
      Operand *coordinates = findCoordinates(draft.get().operands[operand]);
      draft.add(coordinates->elements[i], delta);
      collector.change(
          "coordinate" + std::to_string(i) + (delta < 0 ? "-1" : "+1"), draft);
    }
  }
}

static void addCopy(Collector &collector, size_t statement) {
  const ptx::Instruction &original = *collector.code[statement].instruction;
  collector.beginSite("copy", statement);
  collector.drop(statement, statement + 1);
  collector.twice(statement);
  for (size_t i = 0; i < original.operands.size(); ++i) {
    Draft draft(original);
    Operand &operand = draft.get().operands[i];
    if (Operand *coordinates = findCoordinates(operand)) {
      addCoordinateMutants(collector, statement, i,
                           coordinates->elements.size());
    } else if (operand.kind == Operand::Kind::Address) {
      // The smallest step that keeps data, or a barrier, aligned.
      bool isBarrier = i == 2;
      draft.add(operand, isBarrier ? 8 : 128);
      collector.change(isBarrier ? "barrier+8" : "address+128", draft);
    }
  }
}

void attn::mutation::addCopyMutants(Collector &collector) {
  const Code &code = collector.code;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].is("cp") && code[i].has(".bulk") &&
        code[i].instruction->operands.size() > 1) {
      addCopy(collector, i);
    }
  }
}
