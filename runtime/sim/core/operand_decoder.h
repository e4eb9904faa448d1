// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes operands to slots.

#ifndef ATTN_SIM_CORE_OPERAND_DECODER_H
#define ATTN_SIM_CORE_OPERAND_DECODER_H

#include "core/opcode_table.h"
#include "core/scopes.h"

namespace attn::sim {

/// Each function that returns a bool returns false after reporting an error.
class OperandDecoder {
public:
  OperandDecoder(Scopes &scopes, Program &program, Diagnostic &diagnostic)
      : program(program), diagnostic(diagnostic), scopes(scopes),
        slots(program) {}

  // For rows' finish functions.

  /// The slot of a destination register of `bytes`; 0 is a predicate.
  bool decodeDestination(const ptx::Operand &operand, unsigned bytes,
                         uint32_t &slot);
  /// The slot of a source: register, immediate, symbol or special register.
  bool decodeSource(const ptx::Operand &operand, unsigned bytes, uint32_t &slot,
                    bool isFloat = false);
  bool decodePredicate(const ptx::Operand &operand, uint32_t &slot,
                       bool &negated);
  bool decodeAddress(const ptx::Operand &operand, Inst &inst, uint32_t &slot);
  bool decodeImmediate(const ptx::Operand &operand, int64_t &value);
  bool decodeLabel(const ptx::Operand &operand, uint32_t &target);
  /// The register that `operand` names, or null.
  const Register *findRegister(const ptx::Operand &operand);
  /// The labels of a .branchtargets.
  bool decodeBranchTargets(const ptx::Operand &operand, Inst &inst);
  /// Appends to the instruction's list.
  void appendSlot(Inst &inst, uint32_t slot);
  /// The slots of a vector operand's elements, or of the one operand.
  bool decodeSources(const ptx::Operand &operand, unsigned bytes, Inst &inst);
  bool decodeDestinations(const ptx::Operand &operand, unsigned bytes,
                          Inst &inst);
  /// Whether an address is that of a variable in local memory: .param variables
  /// of bodies are.
  bool isInLocalMemory(const ptx::Operand &address) const;
  bool fail(Position at, const std::string &message);
  bool countOperands(const ptx::Instruction &instruction, size_t least,
                     size_t most);
  /// Whether the module is for one of `targets`.
  bool requireTargets(const ptx::Instruction &instruction, TargetSet targets);

  /// The registers that the instruction being decoded reads and writes.
  RegisterUse use;

private:
  bool symbolSource(const ptx::Operand &operand, unsigned bytes,
                    uint32_t &slot);

  Program &program;
  Diagnostic &diagnostic;
  Scopes &scopes;
  Slots slots;
};

/// Decodes an instruction's operands as described by the row of `match`.
bool decodeOperands(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, const Match &match,
                    Inst &inst);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_OPERAND_DECODER_H
