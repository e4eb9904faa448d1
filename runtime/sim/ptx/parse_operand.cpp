// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx/parse_operand.h"

using namespace attn::sim;
using namespace attn::sim::ptx;

static constexpr unsigned kMaxOperandDepth = 4;

/// An operand `depth` operands deep.
static bool parseNested(TokenStream &tokens, Operand &operand, unsigned depth);

/// A list up to `end`, whose opening character is consumed.
static bool parseOperands(TokenStream &tokens, Operand &operand, char end,
                          unsigned depth) {
  if (depth >= kMaxOperandDepth) {
    return tokens.expected("operands nested at most 4 deep");
  }
  if (tokens.accept(end)) {
    return true;
  }
  do {
    operand.elements.emplace_back();
    if (!parseNested(tokens, operand.elements.back(), depth + 1)) {
      return false;
    }
  } while (tokens.accept(','));
  return tokens.expect(end);
}

/// "+16", "+-16" or "-16", if there is one.
static bool parseOffset(TokenStream &tokens, int64_t &offset) {
  bool plus = tokens.current.is('+');
  if (!plus && !tokens.current.is('-')) {
    return true;
  }
  tokens.advance();
  bool minus = plus ? tokens.accept('-') : true;
  uint64_t value = 0;
  if (!tokens.parseInteger(value)) {
    return false;
  }
  offset = int64_t(minus ? 0 - value : value);
  return true;
}

static bool parseNumber(TokenStream &tokens, Operand &operand) {
  operand.minus = tokens.accept('-');
  operand.bits = tokens.current.bits;
  if (tokens.current.is(TokenKind::Integer)) {
    operand.kind = Operand::Kind::Integer;
    operand.bits =
        operand.minus ? 0 - tokens.current.bits : tokens.current.bits;
  } else if (tokens.current.is(TokenKind::Single)) {
    operand.kind = Operand::Kind::Single;
    operand.bits ^= operand.minus ? uint64_t(1) << 31 : 0;
  } else if (tokens.current.is(TokenKind::Double)) {
    operand.kind = Operand::Kind::Double;
    operand.bits ^= operand.minus ? uint64_t(1) << 63 : 0;
  } else {
    return tokens.expected("a number");
  }
  tokens.advance();
  return true;
}

static bool parseName(TokenStream &tokens, Operand &operand) {
  if (!tokens.expectName(operand.name)) {
    return false;
  }
  if (operand.name == "_") {
    operand.kind = Operand::Kind::Sink;
  }
  if (tokens.current.is(TokenKind::Dotted)) {
    operand.member = tokens.current.text;
    tokens.advance();
  }
  return true;
}

static bool parseNested(TokenStream &tokens, Operand &operand, unsigned depth) {
  operand.at = tokens.current.at;
  if (tokens.accept('{')) {
    operand.kind = Operand::Kind::Vector;
    return parseOperands(tokens, operand, '}', depth);
  }
  if (tokens.accept('(')) {
    operand.kind = Operand::Kind::List;
    return parseOperands(tokens, operand, ')', depth);
  }
  if (tokens.accept('[')) {
    operand.kind = Operand::Kind::Address;
    if (!parseOperands(tokens, operand, ']', depth)) {
      return false;
    }
    if (operand.elements.empty()) {
      return tokens.expected("an address before this");
    }
    operand.offset = operand.elements[0].offset;
    operand.elements[0].offset = 0;
    return true;
  }
  if (tokens.accept('!')) {
    operand.negated = true;
    return parseName(tokens, operand);
  }
  if (!tokens.current.is(TokenKind::Name)) {
    return (tokens.current.is('-') || tokens.current.is(TokenKind::Integer) ||
            tokens.current.is(TokenKind::Single) ||
            tokens.current.is(TokenKind::Double))
               ? parseNumber(tokens, operand)
               : tokens.expected("an operand");
  }
  if (!parseName(tokens, operand) || !parseOffset(tokens, operand.offset)) {
    return false;
  }
  if (!tokens.accept('|')) {
    return true;
  }
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.at = operand.at;
  pair.elements = {operand, {}};
  pair.elements[1].at = tokens.current.at;
  if (!parseName(tokens, pair.elements[1])) {
    return false;
  }
  operand = std::move(pair);
  return true;
}

bool attn::sim::ptx::parseOperand(TokenStream &tokens, Operand &operand) {
  return parseNested(tokens, operand, 0);
}
