// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's statements with what each instruction reads and writes.

#ifndef ATTN_TEST_MUTATION_CODE_H
#define ATTN_TEST_MUTATION_CODE_H

#include "ptx/module.h"

#include <map>
#include <string>
#include <vector>

namespace attn::mutation {

namespace ptx = sim::ptx;

/// One statement. Names declared in an inner scope end in "@" and its number,
/// so that equal names are one register.
struct Node {
  /// Null unless the statement is an instruction.
  const ptx::Instruction *instruction = nullptr;
  std::vector<std::string> writes;
  std::vector<std::string> reads;
  /// The outermost inner scope around it: the statements [open, close].
  bool inScope = false;
  /// A thread may come to it again. Loops in inner scopes, which are those of
  /// waits, do not count.
  bool isRepeated = false;
  size_t open = 0;
  size_t close = 0;

  bool is(std::string_view opcode) const {
    return instruction && instruction->opcode == opcode;
  }
  bool has(std::string_view modifier) const;
};

class Code {
public:
  explicit Code(const ptx::Function &function);

  size_t size() const { return nodes.size(); }
  const Node &operator[](size_t statement) const { return nodes[statement]; }
  const ptx::Function &getFunction() const { return function; }
  const ptx::Statement &statement(size_t index) const {
    return function.body[index];
  }
  unsigned line(size_t statement) const {
    return unsigned(function.body[statement].at.line);
  }
  /// The name of an operand of the instruction at `statement`, resolved.
  std::string resolve(size_t statement, std::string_view name) const;
  /// How many branches name this label.
  unsigned countBranchesTo(std::string_view label) const;
  /// Whether no thread comes twice to the statement, nor to one that what it
  /// computes leads to.
  bool isOnce(size_t statement) const;

private:
  using Scope = std::map<std::string, std::string, std::less<>>;

  void declare(const ptx::Registers &registers, size_t statement);
  void collect(const ptx::Operand &operand, size_t statement,
               std::vector<std::string> &names) const;
  void findOperands(size_t statement);
  void findScopes();
  void findLabels();
  void findRepeated();
  /// Whether a thread may come to `statement` after `from`.
  bool isReached(size_t from, size_t statement) const;
  /// The statements that may come next.
  std::vector<size_t> successors(size_t statement) const;

  const ptx::Function &function;
  std::vector<Node> nodes;
  /// Of inner scopes, by the statement that opens them.
  std::map<size_t, Scope> scopes;
  /// The statements of labels outside inner scopes.
  std::map<std::string_view, size_t> labels;
  /// The statements that read a register.
  std::map<std::string, std::vector<size_t>> readers;
};

/// Whether the instruction's first operand is what it writes.
bool writesFirstOperand(const ptx::Instruction &instruction);

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_CODE_H
