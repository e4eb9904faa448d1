// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "expr_reader.h"

using namespace attn::runtime;

/// Appends the nodes of an expression in postfix order.
static Status appendExpr(const JsonReader &json, const SymbolTable &symbols,
                         int depth, std::vector<Expr::Node> &nodes) {
  if (depth >= kMaxExprDepth) {
    return json.fail("expected an expression at most " +
                     std::to_string(kMaxExprDepth) + " deep");
  }
  if (json.getKind() == JsonKind::Integer) {
    int64_t value = 0;
    RETURN_IF_FAILED(json.read(value, INT64_MIN, INT64_MAX));
    nodes.push_back({ExprOp::Literal, value});
    return {};
  }
  if (json.getKind() == JsonKind::String) {
    std::string name;
    RETURN_IF_FAILED(json.read(name));
    int symbol = symbols.lookup(name);
    if (symbol < 0) {
      return json.fail("unknown symbol " + quote(name));
    }
    nodes.push_back({ExprOp::Symbol, symbol});
    return {};
  }
  if (json.getKind() != JsonKind::Array || json.size() == 0) {
    return json.failExpected("an integer, a symbol or [operator, operands...]");
  }
  std::string name;
  RETURN_IF_FAILED(json.at(0).read(name));
  ExprOp op;
  int arity = 0;
  if (!lookupExprOp(name, op, arity)) {
    return json.at(0).fail("unknown operator " + quote(name));
  }
  size_t least = size_t(arity) + 1;
  RETURN_IF_FAILED(json.expectArray(least, isVariadic(op) ? kMaxList : least));
  for (size_t i = 1; i < json.size(); ++i) {
    RETURN_IF_FAILED(appendExpr(json.at(i), symbols, depth + 1, nodes));
    // Binary operators fold from the left: a b op c op.
    if (arity == 2 && i >= 2) {
      nodes.push_back({op, 0});
    }
  }
  if (arity == 3) {
    nodes.push_back({op, 0});
  }
  return {};
}

Status attn::runtime::readExpr(const JsonReader &json,
                               const SymbolTable &symbols, Expr &out) {
  std::vector<Expr::Node> nodes;
  RETURN_IF_FAILED(appendExpr(json, symbols, 0, nodes));
  out = Expr(std::move(nodes), json.getPath());
  return {};
}
