// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The opcode table: a row an opcode form. The families of instructions give the
// rows; see machine/instruction_set.h.

#ifndef ATTN_SIM_CORE_OPCODE_TABLE_H
#define ATTN_SIM_CORE_OPCODE_TABLE_H

#include "core/program.h"

#include <unordered_map>

namespace attn::sim {

class OperandDecoder;
struct OpRow;

/// Which modifiers an instruction has, by the row's pattern.
struct Match {
  const OpRow *row = nullptr;
  /// What stands at each element of the pattern; empty where it is left out.
  std::vector<std::string_view> chosen;

  bool has(std::string_view modifier) const {
    for (std::string_view each : chosen) {
      if (each == modifier) {
        return true;
      }
    }
    return false;
  }
};

/// Decodes what a row's operand letters cannot say.
using Finish = bool (*)(OperandDecoder &, const ptx::Instruction &,
                        const Match &, Inst &);

struct OpRow {
  /// The opcode and its modifiers, as "add[.rn].f32": each ".x" has to be
  /// there, "{.x|.y}" is a choice, "[.x|.y]" may be left out.
  const char *pattern;
  /// One word an operand, "d4 4 4":
  ///   dp d2 d4 d8    a destination: a predicate, or that many bytes
  ///   dpp d4p        a destination, and perhaps a predicate after "|"
  ///   p 2 4 8        a source register or immediate
  ///   f4 f8          the same, an immediate is a float
  ///   m              an address
  ///   i              an integer immediate, to Inst::imm
  /// "?" before a word: the operand may be missing. "*": decoded by `finish`.
  const char *operands;
  Handler handler = nullptr;
  Finish finish = nullptr;
  uint64_t aux = 0;
  /// Where there is such an instruction.
  TargetSet targets = kEveryTarget;
};

using Rows = std::vector<OpRow>;

/// Rows point to their patterns: keeps one that is put together.
const char *keep(std::string text);

/// Says that the rows from `first` on are for `targets`.
void require(Rows &rows, size_t first, TargetSet targets);

/// One element of a pattern.
struct PatternElement {
  bool optional = false;
  std::vector<std::string_view> choices;
};

/// An OpRow with its pattern taken apart.
struct OpPattern {
  OpRow row;
  std::vector<PatternElement> elements;
};

/// The rows of all families, by opcode.
class OpcodeTable {
public:
  explicit OpcodeTable(const Rows &rows);

  /// Finds the row of an instruction. On failure `problem` says what is
  /// unknown: the opcode, or its modifiers.
  bool findRow(const ptx::Instruction &instruction, Match &match,
               std::string &problem) const;

private:
  void add(const OpRow &row);

  std::unordered_map<std::string_view, std::vector<OpPattern>> byOpcode;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_OPCODE_TABLE_H
