// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx/token_stream.h"

using namespace attn::sim;
using namespace attn::sim::ptx;

void TokenStream::advance() {
  consumed = current.text.data() + current.text.size();
  current = following;
  following = lexer.next();
}

bool TokenStream::fail(const Token &where, const std::string &message) {
  return diagnostic.fail(where.at, message);
}

bool TokenStream::expected(const std::string &what) {
  if (current.is(TokenKind::Invalid)) {
    return fail(current, current.message);
  }
  constexpr size_t longest = 40;
  std::string got =
      current.is(TokenKind::End)
          ? "the end of the text"
          : "'" + std::string(current.text.substr(0, longest)) + "'";
  return fail(current, "expected " + what + ", got " + got);
}

bool TokenStream::expect(char symbol) {
  return accept(symbol) || expected("'" + std::string(1, symbol) + "'");
}

bool TokenStream::accept(char symbol) {
  if (!current.is(symbol)) {
    return false;
  }
  advance();
  return true;
}

bool TokenStream::expectName(std::string_view &name) {
  if (!current.is(TokenKind::Name)) {
    return expected("a name");
  }
  name = current.text;
  advance();
  return true;
}

bool TokenStream::parseInteger(uint64_t &value) {
  if (!current.is(TokenKind::Integer)) {
    return expected("an integer");
  }
  value = current.bits;
  advance();
  return true;
}

/// Consumes tokens up to `end` and that too.
bool TokenStream::skipTo(char end, std::string_view &text) {
  const char *begin = current.text.data();
  while (!current.is(end)) {
    if (current.is(TokenKind::End) || current.is(TokenKind::Invalid)) {
      return expected("'" + std::string(1, end) + "'");
    }
    advance();
  }
  advance();
  text = textFrom(begin);
  return true;
}

/// The text from `begin` to the end of the last consumed token.
std::string_view TokenStream::textFrom(const char *begin) const {
  return source.substr(size_t(begin - source.data()), size_t(consumed - begin));
}
