// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx/parse_variable.h"

using namespace attn::sim;
using namespace attn::sim::ptx;

bool attn::sim::ptx::isVariableSpace(const Token &token) {
  for (const char *space :
       {".global", ".shared", ".const", ".local", ".param", ".tex", ".surf"}) {
    if (token.is(space)) {
      return true;
    }
  }
  return false;
}

static bool isVectorWidth(const Token &token) {
  return token.is(".v2") || token.is(".v4") || token.is(".v8");
}

static bool parseVariableType(TokenStream &tokens, Variable &variable) {
  for (;;) {
    if (tokens.current.is(".align")) {
      tokens.advance();
      if (!tokens.parseInteger(variable.isPointer ? variable.pointerAlign
                                                  : variable.align)) {
        return false;
      }
    } else if (tokens.current.is(".ptr")) {
      tokens.advance();
      variable.isPointer = true;
    } else if (variable.isPointer && isVariableSpace(tokens.current)) {
      variable.pointerSpace = tokens.current.text;
      tokens.advance();
    } else if (isVectorWidth(tokens.current)) {
      variable.vector = tokens.current.text;
      tokens.advance();
    } else if (tokens.current.is(TokenKind::Dotted) && variable.type.empty()) {
      variable.type = tokens.current.text;
      tokens.advance();
    } else {
      return !variable.type.empty() || tokens.expected("a type");
    }
  }
}

static bool parseVariableDims(TokenStream &tokens, Variable &variable) {
  while (tokens.accept('[')) {
    int64_t extent = -1;
    if (!tokens.current.is(']')) {
      uint64_t value = 0;
      if (!tokens.parseInteger(value)) {
        return false;
      }
      if (value > (uint64_t(1) << 40)) {
        return tokens.fail(tokens.current,
                           "expected an extent of at most 2^40");
      }
      extent = int64_t(value);
    }
    variable.dims.push_back(extent);
    if (!tokens.expect(']')) {
      return false;
    }
  }
  return true;
}

/// Everything but linkage, initializer and end.
static bool parseVariable(TokenStream &tokens, Variable &variable) {
  variable.at = tokens.current.at;
  if (!isVariableSpace(tokens.current)) {
    return tokens.expected("a state space");
  }
  variable.space = tokens.current.text;
  tokens.advance();
  return parseVariableType(tokens, variable) &&
         tokens.expectName(variable.name) &&
         parseVariableDims(tokens, variable);
}

/// With its initializer, if it has one.
bool attn::sim::ptx::parseVariableToEnd(TokenStream &tokens,
                                        Variable &variable) {
  if (!parseVariable(tokens, variable)) {
    return false;
  }
  if (!tokens.accept('=')) {
    return tokens.expect(';');
  }
  std::string_view text;
  if (!tokens.skipTo(';', text)) {
    return false;
  }
  variable.initializer = text.substr(0, text.size() - 1);
  return true;
}

bool attn::sim::ptx::parseParams(TokenStream &tokens,
                                 std::vector<Variable> &params) {
  if (!tokens.expect('(')) {
    return false;
  }
  if (tokens.accept(')')) {
    return true;
  }
  do {
    params.emplace_back();
    if (!parseVariable(tokens, params.back())) {
      return false;
    }
  } while (tokens.accept(','));
  return tokens.expect(')');
}
