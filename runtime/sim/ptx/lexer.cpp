// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx/lexer.h"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace attn::sim;
using namespace attn::sim::ptx;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool isWordPart(char c) { return isLetter(c) || isDigit(c) || c == '_'; }

/// The value of a hexadecimal digit, or 16.
static unsigned digitValue(char c) {
  if (isDigit(c)) {
    return unsigned(c - '0');
  }
  if (c >= 'a' && c <= 'f') {
    return unsigned(c - 'a') + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return unsigned(c - 'A') + 10;
  }
  return 16;
}

bool Lexer::skipBlanks() {
  while (at < source.size()) {
    char c = source[at];
    if (c == '\n') {
      ++at;
      ++line;
      lineBegin = at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at;
    } else if (c == '/' && peek(1) == '/') {
      size_t end = source.find('\n', at);
      at = end == std::string_view::npos ? source.size() : end;
    } else if (c == '/' && peek(1) == '*') {
      size_t end = source.find("*/", at + 2);
      if (end == std::string_view::npos) {
        return false;
      }
      for (; at < end + 2; ++at) {
        if (source[at] == '\n') {
          ++line;
          lineBegin = at + 1;
        }
      }
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::finish(TokenKind kind, size_t begin) {
  Token token;
  token.kind = kind;
  token.text = source.substr(begin, at - begin);
  token.at = positionOf(begin);
  return token;
}

Token Lexer::invalid(size_t begin, const char *message) {
  Token token = finish(TokenKind::Invalid, begin);
  token.message = message;
  return token;
}

Token Lexer::lexHexFloat(size_t begin, unsigned digits, TokenKind kind) {
  at = begin + 2;
  uint64_t bits = 0;
  unsigned count = 0;
  for (; digitValue(peek()) < 16; ++at, ++count) {
    bits = bits << 4 | digitValue(peek());
  }
  if (count != digits || isWordPart(peek())) {
    return invalid(begin, digits == 8 ? "expected 8 hexadecimal digits"
                                      : "expected 16 hexadecimal digits");
  }
  Token token = finish(kind, begin);
  token.bits = bits;
  return token;
}

Token Lexer::lexDecimalFloat(size_t begin) {
  while (isDigit(peek())) {
    ++at;
  }
  if (peek() == '.') {
    ++at;
    while (isDigit(peek())) {
      ++at;
    }
  }
  if (peek() == 'e' || peek() == 'E') {
    at += peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if (!isDigit(peek())) {
      return invalid(begin, "expected digits of an exponent");
    }
    while (isDigit(peek())) {
      ++at;
    }
  }
  if (isWordPart(peek())) {
    return invalid(begin, "expected a number");
  }
  Token token = finish(TokenKind::Double, begin);
  double value = std::strtod(std::string(token.text).c_str(), nullptr);
  std::memcpy(&token.bits, &value, sizeof(value));
  return token;
}

Token Lexer::lexNumber(size_t begin) {
  unsigned base = 10;
  if (peek() == '0') {
    switch (peek(1)) {
    case 'f':
    case 'F':
      return lexHexFloat(begin, 8, TokenKind::Single);
    case 'd':
    case 'D':
      return lexHexFloat(begin, 16, TokenKind::Double);
    case 'x':
    case 'X':
      base = 16;
      at += 2;
      break;
    case 'b':
    case 'B':
      base = 2;
      at += 2;
      break;
    default:
      base = isDigit(peek(1)) ? 8 : 10;
    }
  }
  uint64_t value = 0;
  size_t digits = at;
  bool overflow = false;
  for (; digitValue(peek()) < base; ++at) {
    overflow |= __builtin_mul_overflow(value, uint64_t(base), &value);
    overflow |=
        __builtin_add_overflow(value, uint64_t(digitValue(peek())), &value);
  }
  bool exponent = (peek() == 'e' || peek() == 'E') && base != 16;
  if (base != 16 && base != 2 && (exponent || peek() == '.')) {
    at = begin;
    return lexDecimalFloat(begin);
  }
  bool none = at == digits;
  if (peek() == 'U') {
    ++at;
  }
  if (none || isWordPart(peek())) {
    return invalid(begin, "expected a number");
  }
  if (overflow) {
    return invalid(begin, "expected a number below 2^64");
  }
  Token token = finish(TokenKind::Integer, begin);
  token.bits = value;
  return token;
}

Token Lexer::lexDotted(size_t begin) {
  ++at;
  if (!isWordPart(peek())) {
    return invalid(begin, "expected a name after '.'");
  }
  while (isWordPart(peek()) ||
         (peek() == ':' && peek(1) == ':' && isWordPart(peek(2)))) {
    at += peek() == ':' ? 2 : 1;
  }
  return finish(TokenKind::Dotted, begin);
}

Token Lexer::lexString(size_t begin) {
  ++at;
  while (at < source.size() && peek() != '"' && peek() != '\n') {
    at += peek() == '\\' && peek(1) != '\n' && at + 1 < source.size() ? 2 : 1;
  }
  if (peek() != '"') {
    return invalid(begin, "expected '\"' at the end of the string");
  }
  ++at;
  return finish(TokenKind::String, begin);
}

Token Lexer::next() {
  size_t comment = at;
  if (!skipBlanks()) {
    comment = at;
    Token token = invalid(comment, "expected '*/' at the end of the comment");
    at = source.size();
    return token;
  }
  size_t begin = at;
  if (at >= source.size()) {
    return finish(TokenKind::End, begin);
  }
  char c = peek();
  if (isDigit(c)) {
    return lexNumber(begin);
  }
  if (isLetter(c) || c == '_' || c == '$' || c == '%') {
    ++at;
    while (isWordPart(peek()) || peek() == '$') {
      ++at;
    }
    if (at == begin + 1 && (c == '$' || c == '%')) {
      return invalid(begin, "expected a name");
    }
    return finish(TokenKind::Name, begin);
  }
  if (c == '.') {
    return lexDotted(begin);
  }
  if (c == '"') {
    return lexString(begin);
  }
  ++at;
  if (c != '\0' && std::strchr(",;:{}()[]<>@!|+-=*", c)) {
    return finish(TokenKind::Symbol, begin);
  }
  return invalid(begin, "unexpected character");
}
