// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns one function's statements into a Program.

#ifndef ATTN_SIM_CORE_DECODER_H
#define ATTN_SIM_CORE_DECODER_H

#include "core/opcode_table.h"

#include <map>
#include <unordered_map>

namespace attn::sim {

/// A register's width; Predicate for .pred.
enum class Width : uint8_t { Predicate, B16, B32, B64, B128 };

constexpr unsigned bytesOf(Width width) {
  return width == Width::Predicate ? 0
         : width == Width::B16     ? 2
         : width == Width::B32     ? 4
         : width == Width::B64     ? 8
                                   : 16;
}

struct Register {
  Width width = Width::B32;
  uint32_t slot = kNone;
};

/// What a name that is no register stands for.
struct SymbolAddress {
  enum class Space { Shared, Param, Local };
  Space space = Space::Shared;
  uint64_t address = 0;
};

class Decoder {
public:
  Decoder(const OpcodeTable &table, const ptx::Module &module,
          const ptx::Function &function, Program &program,
          Diagnostic &diagnostic)
      : table(table), module(module), function(function), program(program),
        diagnostic(diagnostic) {}

  bool decodeFunction();

  // For rows' finish functions. Each returns false after reporting an error.

  /// The slot of a destination register of `bytes`; 0 is a predicate.
  bool destination(const ptx::Operand &operand, unsigned bytes, uint32_t &slot);
  /// The slot of a source: register, immediate, symbol or special register.
  bool source(const ptx::Operand &operand, unsigned bytes, uint32_t &slot,
              bool isFloat = false);
  bool predicate(const ptx::Operand &operand, uint32_t &slot, bool &negated);
  bool address(const ptx::Operand &operand, Inst &inst, uint32_t &slot);
  bool immediate(const ptx::Operand &operand, int64_t &value);
  bool label(const ptx::Operand &operand, uint32_t &target);
  /// The register that `operand` names, or null.
  const Register *findRegister(const ptx::Operand &operand);
  /// The labels of a .branchtargets.
  bool branchTargets(const ptx::Operand &operand, Inst &inst);
  /// Appends to the instruction's list.
  void append(Inst &inst, uint32_t slot);
  /// The slots of a vector operand's elements, or of the one operand.
  bool sources(const ptx::Operand &operand, unsigned bytes, Inst &inst);
  bool destinations(const ptx::Operand &operand, unsigned bytes, Inst &inst);
  /// Whether an address is that of a variable in local memory: .param variables
  /// of bodies are.
  bool isInLocalMemory(const ptx::Operand &address) const;
  bool fail(Position at, const std::string &message);
  bool countOperands(const ptx::Instruction &instruction, size_t least,
                     size_t most);

private:
  struct Family {
    std::string_view prefix;
    uint64_t count = 0;
    Width width = Width::B32;
  };

  struct Scope {
    int parent = -1;
    std::unordered_map<std::string_view, Register> registers;
    std::vector<Family> families;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, SymbolAddress> variables;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targets;
  };

  // Layout, before any instruction is decoded.
  bool layOutParams();
  bool layOutShared();
  bool readDirectives();
  bool readScopes();
  bool readStatement(const ptx::Statement &statement, uint32_t &count);
  bool declare(const ptx::Registers &registers, Position at);
  bool declare(const ptx::Variable &variable);
  bool checkNoInitializer(const ptx::Variable &variable);
  bool placeShared(const ptx::Variable &variable, SymbolAddress &symbol);

  bool decodeBody();
  void noteGuard(const Inst &inst);
  void noteFlow(const ptx::Instruction &instruction, const Inst &inst);
  RegisterName nameOf(const Register &found, const ptx::Operand &operand) const;
  uint32_t countCall(const ptx::Instruction &call);
  bool decodeCall(const ptx::Instruction &call);
  bool bindVariables(const std::vector<ptx::Variable> &variables,
                     const ptx::Operand *list, Decoder &callee);
  bool appendBranch(Inst inst, uint32_t target);
  uint32_t addOrigin(const ptx::Instruction &instruction);
  bool decodeInstruction(const ptx::Instruction &instruction);
  bool decodeOperands(const ptx::Instruction &instruction, const Match &match,
                      Inst &inst);
  bool decodeOperand(const ptx::Operand &operand, std::string_view letters,
                     Inst &inst, unsigned &next);
  bool decodePair(const ptx::Operand &operand, unsigned bytes, Inst &inst,
                  unsigned &next);
  bool symbolSource(const ptx::Operand &operand, unsigned bytes,
                    uint32_t &slot);

  const SymbolAddress *findVariable(std::string_view name) const;
  Register *findInScope(Scope &scope, std::string_view name);
  uint32_t allocate(Width width);
  uint32_t constant(uint64_t value, unsigned bytes);
  uint32_t preset(const PresetSlot &slot);
  uint32_t truePredicate();

  const OpcodeTable &table;
  const ptx::Module &module;
  const ptx::Function &function;
  Program &program;
  Diagnostic &diagnostic;
  std::vector<Scope> scopes;
  int scope = 0;
  /// Those of the instruction being decoded, and of those before it.
  RegisterUse use;
  std::vector<RegisterUse> uses;
  std::map<std::pair<uint64_t, bool>, uint32_t> constants;
  std::map<std::pair<uint64_t, bool>, uint32_t> sharedAddresses;
  std::map<std::pair<Special, bool>, uint32_t> specials;
  uint32_t sharedEnd = kSharedBase;
  /// Of a called function: where its parameters and results lie, and where it
  /// returns to.
  std::map<std::string_view, SymbolAddress> bound;
  uint32_t returnTarget = kNone;
  uint32_t moduleSharedEnd = kSharedBase;
  /// The largest alignment of the extern shared arrays.
  uint64_t dynamicAlign = 1;
  std::vector<std::string_view> dynamicNames;
};

/// Decodes kernel `name` of `module` with the instructions of `table`; the only
/// kernel if `name` is empty.
bool decodeKernel(const OpcodeTable &table,
                  std::shared_ptr<const ptx::Module> module,
                  std::string_view name, Program &program,
                  Diagnostic &diagnostic);

/// The size in bytes of a type's name, as ".b32"; 0 if unknown or .pred.
unsigned typeSize(std::string_view type);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_DECODER_H
