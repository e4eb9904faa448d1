// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer expressions of a launch plan over run-time symbols.

#ifndef ATTN_RUNTIME_LIB_EXPR_H
#define ATTN_RUNTIME_LIB_EXPR_H

#include "attn/runtime/internal/status.h"

#include <cstdint>
#include <vector>

namespace attn::runtime {

/// The symbols of one plan, numbered in order of first mention.
class SymbolTable {
public:
  /// Returns the number of `name`, a new one if it is not known.
  int intern(const std::string &name);
  /// Returns the number of `name`, or -1.
  int lookup(const std::string &name) const;
  const std::string &getName(int symbol) const { return names[symbol]; }
  int size() const { return int(names.size()); }

private:
  std::vector<std::string> names;
};

/// What the symbols stand for in one call.
class SymbolValues {
public:
  explicit SymbolValues(int count) : values(count), bound(count) {}
  void bind(int symbol, int64_t value) {
    values[symbol] = value;
    bound[symbol] = true;
  }
  bool isBound(int symbol) const { return bound[symbol]; }
  int64_t get(int symbol) const { return values[symbol]; }

private:
  std::vector<int64_t> values;
  std::vector<char> bound;
};

enum class ExprOp {
  Literal,
  Symbol,
  Add,
  Sub,
  Mul,
  Div,
  CeilDiv,
  Mod,
  Min,
  Max,
  Eq,
  Ge,
  Lt,
  Select
};

/// An expression tree in postfix order: operands come before their operator,
/// so that evaluation is one loop over a small stack.
class Expr {
public:
  struct Node {
    ExprOp op;
    /// The literal, or the symbol's number.
    int64_t value;
  };

  Expr() : Expr(0) {}
  explicit Expr(int64_t literal) : nodes{{ExprOp::Literal, literal}} {}
  /// `path` is where the plan says it, for messages.
  Expr(std::vector<Node> postfix, std::string path)
      : nodes(std::move(postfix)), path(std::move(path)) {}

  /// Sets `result`, or says what went wrong: an unbound symbol, overflow of 64
  /// bits, or a division by zero. Both arms of a select are evaluated.
  /// Division rounds towards minus infinity and the modulo has the divisor's
  /// sign; comparisons give 0 or 1.
  Status evaluate(const SymbolTable &symbols, const SymbolValues &values,
                  int64_t &result) const;

  bool uses(int symbol) const;
  std::vector<int64_t> getLiterals() const;

  const std::string &getPath() const { return path; }

private:
  std::vector<Node> nodes;
  std::string path;
};

/// Returns the operator called `name` ("add", "ceildiv", ...) and sets `arity`;
/// false if there is none. Variadic: add, mul, min and max take two or more
/// operands, and `arity` is then 2.
bool lookupExprOp(const std::string &name, ExprOp &op, int &arity);
bool isVariadic(ExprOp op);

/// The deepest nesting a plan may have, and so the stack evaluation needs.
constexpr int kMaxExprDepth = 32;

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_EXPR_H
