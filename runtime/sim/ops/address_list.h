// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several addresses in one instruction: three words of its list for each.

#ifndef ATTN_SIM_OPS_ADDRESS_LIST_H
#define ATTN_SIM_OPS_ADDRESS_LIST_H

#include "core/cta.h"
#include "core/operand_decoder.h"

namespace attn::sim {

/// Appends the slot, the offset and whether the slot is 64 bits wide.
inline bool appendAddress(OperandDecoder &decoder, const ptx::Operand &operand,
                          Inst &inst) {
  Inst scratch;
  uint32_t slot = 0;
  if (!decoder.decodeAddress(operand, scratch, slot)) {
    return false;
  }
  if (scratch.imm != int32_t(scratch.imm)) {
    return decoder.fail(operand.at, "expected an offset of 32 bits");
  }
  decoder.appendSlot(inst, slot);
  decoder.appendSlot(inst, uint32_t(scratch.imm));
  decoder.appendSlot(inst, scratch.wideAddress);
  return true;
}

inline uint64_t readAddress(Warp &warp, const Inst &inst, unsigned index,
                            unsigned lane) {
  const uint32_t *words = &warp.cta.program.lists[inst.list + 3 * index];
  uint64_t base =
      words[2] ? warp.wide(words[0])[lane] : warp.word(words[0])[lane];
  return base + uint64_t(int64_t(int32_t(words[1])));
}

} // namespace attn::sim

#endif // ATTN_SIM_OPS_ADDRESS_LIST_H
