// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "expr.h"

#include <algorithm>

using namespace attn::runtime;

int SymbolTable::intern(const std::string &name) {
  int known = lookup(name);
  if (known >= 0) {
    return known;
  }
  names.push_back(name);
  return size() - 1;
}

int SymbolTable::lookup(const std::string &name) const {
  auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : int(it - names.begin());
}

bool attn::runtime::lookupExprOp(const std::string &name, ExprOp &op,
                                 int &arity) {
  static const struct {
    const char *name;
    ExprOp op;
  } table[] = {
      {"add", ExprOp::Add}, {"sub", ExprOp::Sub}, {"mul", ExprOp::Mul},
      {"div", ExprOp::Div}, {"mod", ExprOp::Mod}, {"ceildiv", ExprOp::CeilDiv},
      {"min", ExprOp::Min}, {"max", ExprOp::Max}, {"eq", ExprOp::Eq},
      {"ge", ExprOp::Ge},   {"lt", ExprOp::Lt},   {"select", ExprOp::Select},
  };
  for (const auto &row : table) {
    if (name == row.name) {
      op = row.op;
      arity = op == ExprOp::Select ? 3 : 2;
      return true;
    }
  }
  return false;
}

bool attn::runtime::isVariadic(ExprOp op) {
  return op == ExprOp::Add || op == ExprOp::Mul || op == ExprOp::Min ||
         op == ExprOp::Max;
}

/// Floor division. The one quotient that does not fit is INT64_MIN / -1.
static const char *floorDiv(int64_t a, int64_t b, int64_t &out) {
  if (b == 0) {
    return "division by zero";
  }
  if (a == INT64_MIN && b == -1) {
    return "overflow of 64 bits";
  }
  out = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return nullptr;
}

static const char *ceilDiv(int64_t a, int64_t b, int64_t &out) {
  const char *error = floorDiv(a, b, out);
  // out + 1 cannot overflow: a remainder means that |out| < |a|.
  if (!error && out * b != a) {
    ++out;
  }
  return error;
}

static const char *floorMod(int64_t a, int64_t b, int64_t &out) {
  if (b == 0) {
    return "division by zero";
  }
  // INT64_MIN % -1 traps, although every number mod -1 is 0.
  out = b == -1 ? 0 : a % b;
  if (out != 0 && (out < 0) != (b < 0)) {
    out += b;
  }
  return nullptr;
}

/// Returns null, or a description of the error.
static const char *apply(ExprOp op, int64_t a, int64_t b, int64_t &out) {
  bool overflow = false;
  switch (op) {
  case ExprOp::Add:
    overflow = __builtin_add_overflow(a, b, &out);
    break;
  case ExprOp::Sub:
    overflow = __builtin_sub_overflow(a, b, &out);
    break;
  case ExprOp::Mul:
    overflow = __builtin_mul_overflow(a, b, &out);
    break;
  case ExprOp::Div:
    return floorDiv(a, b, out);
  case ExprOp::CeilDiv:
    return ceilDiv(a, b, out);
  case ExprOp::Mod:
    return floorMod(a, b, out);
  case ExprOp::Min:
    out = std::min(a, b);
    break;
  case ExprOp::Max:
    out = std::max(a, b);
    break;
  case ExprOp::Eq:
    out = a == b;
    break;
  case ExprOp::Ge:
    out = a >= b;
    break;
  case ExprOp::Lt:
    out = a < b;
    break;
  case ExprOp::Literal:
  case ExprOp::Symbol:
  case ExprOp::Select:
    return "not a binary operator";
  }
  return overflow ? "overflow of 64 bits" : nullptr;
}

Status Expr::evaluate(const SymbolTable &symbols, const SymbolValues &values,
                      int64_t &result) const {
  // The reader limits the depth, and operands are folded from the left in
  // pairs, so each level needs at most three values.
  int64_t stack[3 * kMaxExprDepth + 1];
  int top = 0;
  for (const Node &node : nodes) {
    if (node.op == ExprOp::Literal) {
      stack[top++] = node.value;
    } else if (node.op == ExprOp::Symbol) {
      int symbol = int(node.value);
      if (!values.isBound(symbol)) {
        return invalidPlan(path, "symbol " + quote(symbols.getName(symbol)) +
                                     " has no value");
      }
      stack[top++] = values.get(symbol);
    } else if (node.op == ExprOp::Select) {
      top -= 2;
      stack[top - 1] = stack[top - 1] ? stack[top] : stack[top + 1];
    } else {
      --top;
      if (const char *error =
              apply(node.op, stack[top - 1], stack[top], stack[top - 1])) {
        return invalidArgument("plan: " + path + ": " + error);
      }
    }
  }
  result = stack[0];
  return {};
}

bool Expr::uses(int symbol) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node &node) {
    return node.op == ExprOp::Symbol && node.value == symbol;
  });
}

std::vector<int64_t> Expr::getLiterals() const {
  std::vector<int64_t> literals;
  for (const Node &node : nodes) {
    if (node.op == ExprOp::Literal) {
      literals.push_back(node.value);
    }
  }
  return literals;
}
