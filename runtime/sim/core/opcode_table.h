// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The opcode table, with one row for each opcode form. The families of
// instructions provide the rows; see machine/instruction_set.h.

#ifndef ATTN_SIM_CORE_OPCODE_TABLE_H
#define ATTN_SIM_CORE_OPCODE_TABLE_H

#include "core/program.h"

#include <unordered_map>

namespace attn::sim {

class OperandDecoder;
struct OpRow;

/// The modifiers of an instruction, matched with a row's pattern.
struct Match {
  const OpRow *row = nullptr;
  /// The modifier for each element of the pattern; empty if omitted.
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

/// Decodes operands that a row's letters cannot describe.
using Finish = bool (*)(OperandDecoder &, const ptx::Instruction &,
                        const Match &, Inst &);

struct OpRow {
  /// The opcode and its modifiers, for example "add[.rn].f32": each ".x" is
  /// required, "{.x|.y}" is a choice, "[.x|.y]" is optional.
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

/// Rows point to their patterns: stores a pattern that is built at run time.
const char *keep(std::string text);

/// Restricts the rows from `first` on to `targets`.
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

  /// Finds the row of an instruction. On failure `problem` names the unknown
  /// opcode or modifiers.
  bool findRow(const ptx::Instruction &instruction, Match &match,
               std::string &problem) const;

private:
  void add(const OpRow &row);

  std::unordered_map<std::string_view, std::vector<OpPattern>> byOpcode;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_OPCODE_TABLE_H
