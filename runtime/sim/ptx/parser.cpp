// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, functions and declarations.

#include "parser.h"

using namespace attn::sim;
using namespace attn::sim::ptx;

void Parser::advance() {
  consumed = token.text.data() + token.text.size();
  token = following;
  following = lexer.next();
}

bool Parser::fail(const Token &where, const std::string &message) {
  if (diagnostic.message.empty()) {
    diagnostic.at = where.at;
    diagnostic.message = message;
  }
  return false;
}

bool Parser::expected(const std::string &what) {
  if (token.is(TokenKind::Invalid)) {
    return fail(token, token.message);
  }
  constexpr size_t longest = 40;
  std::string got =
      token.is(TokenKind::End)
          ? "the end of the text"
          : "'" + std::string(token.text.substr(0, longest)) + "'";
  return fail(token, "expected " + what + ", got " + got);
}

bool Parser::expect(char symbol) {
  return accept(symbol) || expected("'" + std::string(1, symbol) + "'");
}

bool Parser::accept(char symbol) {
  if (!token.is(symbol)) {
    return false;
  }
  advance();
  return true;
}

bool Parser::expectName(std::string_view &name) {
  if (!token.is(TokenKind::Name)) {
    return expected("a name");
  }
  name = token.text;
  advance();
  return true;
}

bool Parser::parseInteger(uint64_t &value) {
  if (!token.is(TokenKind::Integer)) {
    return expected("an integer");
  }
  value = token.bits;
  advance();
  return true;
}

/// The text from `begin` to the end of the last consumed token.
std::string_view Parser::textFrom(const char *begin) const {
  return source.substr(size_t(begin - source.data()), size_t(consumed - begin));
}

/// Consumes tokens up to `end` and that too.
bool Parser::skipTo(char end, std::string_view &text) {
  const char *begin = token.text.data();
  while (!token.is(end)) {
    if (token.is(TokenKind::End) || token.is(TokenKind::Invalid)) {
      return expected("'" + std::string(1, end) + "'");
    }
    advance();
  }
  advance();
  text = textFrom(begin);
  return true;
}

/// Consumes ".section name { ... }".
bool Parser::skipSection(std::string_view &text) {
  const char *begin = token.text.data();
  while (!token.is('{')) {
    if (token.is(TokenKind::End) || token.is(TokenKind::Invalid)) {
      return expected("'{'");
    }
    advance();
  }
  std::string_view rest;
  if (!skipTo('}', rest)) {
    return false;
  }
  text = textFrom(begin);
  return true;
}

static bool isLinkage(const Token &token) {
  return token.is(".extern") || token.is(".visible") || token.is(".weak") ||
         token.is(".common");
}

static bool isVariableSpace(const Token &token) {
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

bool Parser::parseVariableType(Variable &variable) {
  for (;;) {
    if (token.is(".align")) {
      advance();
      if (!parseInteger(variable.isPointer ? variable.pointerAlign
                                           : variable.align)) {
        return false;
      }
    } else if (token.is(".ptr")) {
      advance();
      variable.isPointer = true;
    } else if (variable.isPointer && isVariableSpace(token)) {
      variable.pointerSpace = token.text;
      advance();
    } else if (isVectorWidth(token)) {
      variable.vector = token.text;
      advance();
    } else if (token.is(TokenKind::Dotted) && variable.type.empty()) {
      variable.type = token.text;
      advance();
    } else {
      return !variable.type.empty() || expected("a type");
    }
  }
}

bool Parser::parseVariableDims(Variable &variable) {
  while (accept('[')) {
    int64_t extent = -1;
    if (!token.is(']')) {
      uint64_t value = 0;
      if (!parseInteger(value)) {
        return false;
      }
      if (value > (uint64_t(1) << 40)) {
        return fail(token, "expected an extent of at most 2^40");
      }
      extent = int64_t(value);
    }
    variable.dims.push_back(extent);
    if (!expect(']')) {
      return false;
    }
  }
  return true;
}

/// Everything but linkage, initializer and end.
bool Parser::parseVariable(Variable &variable) {
  variable.at = token.at;
  if (!isVariableSpace(token)) {
    return expected("a state space");
  }
  variable.space = token.text;
  advance();
  return parseVariableType(variable) && expectName(variable.name) &&
         parseVariableDims(variable);
}

/// With its initializer, if it has one.
bool Parser::parseVariableToEnd(Variable &variable) {
  if (!parseVariable(variable)) {
    return false;
  }
  if (!accept('=')) {
    return expect(';');
  }
  std::string_view text;
  if (!skipTo(';', text)) {
    return false;
  }
  variable.initializer = text.substr(0, text.size() - 1);
  return true;
}

bool Parser::parseParams(std::vector<Variable> &params) {
  if (!expect('(')) {
    return false;
  }
  if (accept(')')) {
    return true;
  }
  do {
    params.emplace_back();
    if (!parseVariable(params.back())) {
      return false;
    }
  } while (accept(','));
  return expect(')');
}

bool Parser::parseDirectives(Function &function) {
  while (token.is(TokenKind::Dotted)) {
    Directive directive;
    directive.name = token.text;
    advance();
    while (token.is(TokenKind::Integer) ||
           (token.is(TokenKind::String) && directive.name == ".pragma")) {
      if (token.is(TokenKind::String)) {
        return expected("no '.pragma' here");
      }
      directive.values.push_back(token.bits);
      advance();
      if (!accept(',')) {
        break;
      }
    }
    function.directives.push_back(std::move(directive));
  }
  return true;
}

bool Parser::parseFunction(Module &module, Function &function) {
  function.at = token.at;
  function.isEntry = token.is(".entry");
  advance();
  if (token.is('(') && !parseParams(function.results)) {
    return false;
  }
  if (!expectName(function.name)) {
    return false;
  }
  if (token.is('(') && !parseParams(function.params)) {
    return false;
  }
  if (!parseDirectives(function)) {
    return false;
  }
  if (!accept(';')) {
    function.hasBody = true;
    if (!parseBody(function)) {
      return false;
    }
  }
  module.items.push_back(
      {Module::Item::Kind::Function, uint32_t(module.functions.size()), {}});
  module.functions.push_back(std::move(function));
  return true;
}

bool Parser::parseItem(Module &module) {
  Module::Item raw;
  if (token.is(".section")) {
    if (!skipSection(raw.text)) {
      return false;
    }
    module.items.push_back(raw);
    return true;
  }
  if (token.is(".file")) {
    const char *begin = token.text.data();
    do {
      advance();
    } while (token.is(TokenKind::Integer) || token.is(TokenKind::String) ||
             token.is(','));
    raw.text = textFrom(begin);
    module.items.push_back(raw);
    return true;
  }
  if (token.is(".alias") || token.is(".pragma")) {
    if (!skipTo(';', raw.text)) {
      return false;
    }
    module.items.push_back(raw);
    return true;
  }
  std::vector<std::string_view> linkage;
  while (isLinkage(token)) {
    linkage.push_back(token.text);
    advance();
  }
  if (token.is(".entry") || token.is(".func")) {
    Function function;
    function.linkage = std::move(linkage);
    return parseFunction(module, function);
  }
  Variable variable;
  variable.linkage = std::move(linkage);
  if (!isVariableSpace(token)) {
    return expected("a variable or function");
  }
  if (!parseVariableToEnd(variable)) {
    return false;
  }
  module.items.push_back(
      {Module::Item::Kind::Variable, uint32_t(module.variables.size()), {}});
  module.variables.push_back(std::move(variable));
  return true;
}

bool Parser::parseModule(Module &module) {
  if (!token.is(".version")) {
    return expected("'.version'");
  }
  advance();
  if (!token.is(TokenKind::Double)) {
    return expected("a version, as 8.0");
  }
  module.version = token.text;
  advance();
  if (!token.is(".target")) {
    return expected("'.target'");
  }
  do {
    advance();
    std::string_view name;
    if (!expectName(name)) {
      return false;
    }
    module.targets.push_back(name);
  } while (token.is(','));
  if (token.is(".address_size")) {
    advance();
    if (!parseInteger(module.addressSize)) {
      return false;
    }
  }
  while (!token.is(TokenKind::End)) {
    if (!parseItem(module)) {
      return false;
    }
  }
  return true;
}

bool attn::sim::ptx::parse(std::string text, Module &module,
                           Diagnostic &diagnostic) {
  module = {};
  diagnostic = {};
  module.source = std::make_shared<const std::string>(std::move(text));
  return Parser(*module.source, diagnostic).parseModule(module);
}
