// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens of a text in order, and the checks of a parser.

#ifndef ATTN_SIM_PTX_TOKEN_STREAM_H
#define ATTN_SIM_PTX_TOKEN_STREAM_H

#include "ptx/lexer.h"
#include "ptx/module.h"

namespace attn::sim::ptx {

class TokenStream {
public:
  TokenStream(std::string_view source, Diagnostic &diagnostic)
      : source(source), lexer(source), diagnostic(diagnostic) {
    advance();
    advance();
  }

  void advance();
  /// Consumes a symbol if it is next.
  bool accept(char symbol);

  // Each returns false after reporting an error.
  bool fail(const Token &token, const std::string &message);
  bool expected(const std::string &what);
  bool expect(char symbol);
  bool expectName(std::string_view &name);
  bool parseInteger(uint64_t &value);
  /// Consumes tokens up to `end` and that too.
  bool skipTo(char end, std::string_view &text);

  /// The text from `begin` to the end of the last consumed token.
  std::string_view textFrom(const char *begin) const;

  Token current;
  Token following;

private:
  std::string_view source;
  Lexer lexer;
  Diagnostic &diagnostic;
  /// Where the last consumed token ends.
  const char *consumed = nullptr;
};

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_TOKEN_STREAM_H
