// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PTX module as written: names are not resolved and opcodes are not checked.

#ifndef ATTN_SIM_PTX_MODULE_H
#define ATTN_SIM_PTX_MODULE_H

#include "diagnostic.h"

#include <memory>
#include <string_view>
#include <vector>

namespace attn::sim::ptx {

/// The source line that a .loc gives the following instructions.
struct SourceLine {
  uint32_t file = 0; // 0: none
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Operand {
  enum class Kind {
    Name,    // %r1, smem, $L1, %tid.x, !%p1, smem+64
    Integer, // -4
    Single,  // 0f3F800000
    Double,  // 0d3FF0000000000000
    Sink,    // _
    Vector,  // {a, b}
    Address, // [base+offset, rest]
    Pair,    // a|b
    List     // (a, b)
  };

  Kind kind = Kind::Name;
  Position at;
  std::string_view name;
  /// ".x" of "%tid.x".
  std::string_view member;
  /// "!%p1".
  bool negated = false;
  /// Of Integer (two's complement), Single and Double.
  uint64_t bits = 0;
  /// An Integer written with a minus sign.
  bool minus = false;
  /// Of Name and Address.
  int64_t offset = 0;
  /// Of Vector, Pair and List; of Address the base, then what follows it.
  std::vector<Operand> elements;
};

struct Instruction {
  Position at;
  SourceLine source;
  /// "%p1" of "@!%p1"; empty for none.
  std::string_view guard;
  bool guardNegated = false;
  std::string_view opcode;
  /// With their dots.
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
};

/// A variable or a parameter.
struct Variable {
  Position at;
  std::vector<std::string_view> linkage; // ".extern"
  std::string_view space;                // ".shared"
  uint64_t align = 0;                    // 0: the type's
  std::string_view vector;               // ".v4"
  std::string_view type;                 // ".b8"
  bool isPointer = false;
  std::string_view pointerSpace; // ".global"
  uint64_t pointerAlign = 0;     // 0: not given
  std::string_view name;
  /// Array extents; -1 is "[]".
  std::vector<int64_t> dims;
  /// The text after "=".
  std::string_view initializer;
};

/// ".reg .b32 %r<10>, x;".
struct Registers {
  struct Item {
    std::string_view name;
    /// -1 for a single register.
    int64_t count = -1;
  };

  std::string_view vector;
  std::string_view type;
  std::vector<Item> items;
};

struct Statement {
  enum class Kind {
    Instruction,
    Label,
    Open,
    Close,
    Registers,
    Variable,
    Loc,
    Pragma,
    BranchTargets,
    Raw // kept as text
  };

  Kind kind = Kind::Instruction;
  Position at;
  /// A label's name, or a Pragma's, Loc's or Raw's text.
  std::string_view text;
  /// Of BranchTargets.
  std::vector<std::string_view> labels;
  /// Of Instruction, Registers and Variable: the index in its function's list.
  uint32_t index = 0;
};

/// ".maxntid 384, 1, 1" between a function's parameters and its body.
struct Directive {
  std::string_view name;
  std::vector<uint64_t> values;
};

struct Function {
  Position at;
  bool isEntry = false;
  std::vector<std::string_view> linkage;
  std::string_view name;
  std::vector<Variable> results;
  std::vector<Variable> params;
  std::vector<Directive> directives;
  bool hasBody = false;
  std::vector<Statement> body;
  std::vector<Instruction> instructions;
  std::vector<Registers> registers;
  std::vector<Variable> variables;
};

struct Module {
  struct Item {
    enum class Kind { Variable, Function, Raw };
    Kind kind = Kind::Raw;
    /// The index in variables or functions.
    uint32_t index = 0;
    /// Of Raw.
    std::string_view text;
  };

  /// The text into which the names above point.
  std::shared_ptr<const std::string> source;
  /// "8.0".
  std::string_view version;
  std::vector<std::string_view> targets;
  uint64_t addressSize = 0;
  std::vector<Item> items;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// Reads PTX text. On failure returns false with the location and the reason.
bool parse(std::string text, Module &module, Diagnostic &diagnostic);

/// The module's text: reading it again gives the same module.
std::string print(const Module &module);
std::string print(const Instruction &instruction);
std::string print(const Operand &operand);

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_MODULE_H
