// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer expressions of a launch plan over launch-time symbols.

#ifndef ATTN_RUNTIME_LIB_EXPR_H
#define ATTN_RUNTIME_LIB_EXPR_H

#include "attn/runtime/internal/status.h"

#include <cstdint>
#include <vector>

namespace attn::runtime {

/// The symbols of one plan, numbered in order of first mention.
class SymbolTable {
public:
  /// Returns the number of `name`, assigning a new one if it is unknown.
  int intern(const std::string &name);
  /// Returns the number of `name`, or -1.
  int lookup(const std::string &name) const;
  const std::string &getName(int symbol) const { return names[symbol]; }
  int size() const { return int(names.size()); }

private:
  std::vector<std::string> names;
};

/// The values of the symbols in one call.
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

/// An expression tree in postfix order: operands come before their operator, so
/// that evaluation is one loop with a small stack.
class Expr {
public:
  struct Node {
    ExprOp op;
    /// The literal, or the number of the symbol.
    int64_t value;
  };

  Expr() : Expr(0) {}
  explicit Expr(int64_t literal) : nodes{{ExprOp::Literal, literal}} {}
  /// `path` is its location in the plan, for messages.
  Expr(std::vector<Node> postfix, std::string path)
      : nodes(std::move(postfix)), path(std::move(path)) {}

  /// Sets `result`, or returns an error: an unbound symbol, overflow of 64
  /// bits, or a division by zero. Both arms of a select are evaluated. Division
  /// rounds towards minus infinity, and the modulo has the divisor's sign;
  /// comparisons return 0 or 1.
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

/// The largest nesting depth of a plan, which bounds the evaluation stack.
constexpr int kMaxExprDepth = 32;

/// The largest number of checks of a plan, of words in an expression, and of
/// entries of other lists.
constexpr size_t kMaxList = 256;

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_EXPR_H
