// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX text as tokens.

#ifndef ATTN_SIM_PTX_LEXER_H
#define ATTN_SIM_PTX_LEXER_H

#include "diagnostic.h"

#include <string_view>

namespace attn::sim::ptx {

enum class TokenKind {
  End,
  Name,    // add, %r1, $L__BB0_1, _
  Dotted,  // .f32, .shared::cta
  Integer, // 10, 0x1fU
  Single,  // 0f3F800000
  Double,  // 0d3FF0000000000000, 1.0
  String,  // "nounroll", with the quotes
  Symbol,  // one character of ,;:{}()[]<>@!|+-=*
  Invalid
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  Position at;
  /// Of Integer, Single and Double: the value's bits.
  uint64_t bits = 0;
  /// Of Invalid: what is wrong.
  const char *message = nullptr;

  bool is(char symbol) const {
    return kind == TokenKind::Symbol && text[0] == symbol;
  }
  bool is(TokenKind wanted) const { return kind == wanted; }
  bool is(std::string_view word) const {
    return (kind == TokenKind::Name || kind == TokenKind::Dotted) &&
           text == word;
  }
};

class Lexer {
public:
  /// `source` has to outlive the lexer and its tokens.
  explicit Lexer(std::string_view source) : source(source) {}

  Token next();

private:
  /// False at an unfinished comment.
  bool skipBlanks();
  char peek(size_t ahead = 0) const {
    return at + ahead < source.size() ? source[at + ahead] : '\0';
  }
  Token finish(TokenKind kind, size_t begin);
  Token invalid(size_t begin, const char *message);
  Token lexNumber(size_t begin);
  Token lexHexFloat(size_t begin, unsigned digits, TokenKind kind);
  Token lexDecimalFloat(size_t begin);
  Token lexDotted(size_t begin);
  Token lexString(size_t begin);
  Position positionOf(size_t offset) const {
    return {line, uint32_t(offset - lineBegin + 1)};
  }

  std::string_view source;
  size_t at = 0;
  size_t lineBegin = 0;
  uint32_t line = 1;
};

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_LEXER_H
