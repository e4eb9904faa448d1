// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix multiplications: whether they accumulate, and the fields of their
// descriptors' upper words.

#include "collector.h"

using namespace attn::mutation;
using Operand = attn::sim::ptx::Operand;

/// The predicate of "D = A * B + D" is the last operand with a name.
static void addMultiply(Collector &collector, size_t statement) {
  Draft draft(*collector.code[statement].instruction);
  auto &operands = draft.get().operands;
  for (size_t i = operands.size(); i-- > 1;) {
    if (operands[i].kind == Operand::Kind::Name) {
      collector.beginSite("accumulate", statement);
      draft.negate(operands[i]);
      collector.change("negate", draft);
      return;
    }
  }
}

/// The upper word is the distance of groups of eight rows in units of 16 bytes,
/// the base offset from bit 17 on and the swizzle in the upper two bits.
static void addUpperWord(Collector &collector, size_t statement) {
  struct Field {
    const char *operation;
    int64_t delta;
  };
  static constexpr Field kFields[] = {{"stride-16", -1},
                                      {"stride+16", 1},
                                      {"base+1", 1 << 17},
                                      {"swizzle-1", -(int64_t(1) << 30)},
                                      {"swizzle+1", int64_t(1) << 30}};
  collector.beginSite("descriptor", statement);
  for (const Field &field : kFields) {
    Draft draft(*collector.code[statement].instruction);
    Operand &value = draft.get().operands[1];
    draft.add(value, field.delta);
    value.bits &= 0xffffffff;
    value.minus = false;
    collector.change(field.operation, draft);
  }
}

/// Whether the statement sets a register that becomes a descriptor's upper
/// half.
static bool isUpperWord(const Code &code, size_t statement) {
  const Node &node = code[statement];
  if (!node.is("mov") || !node.inScope || node.writes.size() != 1 ||
      node.instruction->operands[1].kind != Operand::Kind::Integer) {
    return false;
  }
  for (size_t i = statement + 1; i < node.close; ++i) {
    if (code[i].is("mov") && code[i].reads.size() == 2 &&
        code[i].reads[1] == node.writes[0]) {
      return true;
    }
  }
  return false;
}

void attn::mutation::addMatrixMutants(Collector &collector) {
  const Code &code = collector.code;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].is("wgmma") && code[i].has(".mma_async")) {
      addMultiply(collector, i);
    } else if (isUpperWord(code, i)) {
      addUpperWord(collector, i);
    }
  }
}
