// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and functions, by recursive descent. Each function returns false
// after reporting an error.

#include "ptx/parse_body.h"
#include "ptx/parse_variable.h"

using namespace attn::sim;
using namespace attn::sim::ptx;

static bool isLinkage(const Token &token) {
  return token.is(".extern") || token.is(".visible") || token.is(".weak") ||
         token.is(".common");
}

/// Consumes ".section name { ... }".
static bool skipSection(TokenStream &tokens, std::string_view &text) {
  const char *begin = tokens.current.text.data();
  while (!tokens.current.is('{')) {
    if (tokens.current.is(TokenKind::End) ||
        tokens.current.is(TokenKind::Invalid)) {
      return tokens.expected("'{'");
    }
    tokens.advance();
  }
  std::string_view rest;
  if (!tokens.skipTo('}', rest)) {
    return false;
  }
  text = tokens.textFrom(begin);
  return true;
}

static bool parseDirectives(TokenStream &tokens, Function &function) {
  while (tokens.current.is(TokenKind::Dotted)) {
    Directive directive;
    directive.name = tokens.current.text;
    tokens.advance();
    while (
        tokens.current.is(TokenKind::Integer) ||
        (tokens.current.is(TokenKind::String) && directive.name == ".pragma")) {
      if (tokens.current.is(TokenKind::String)) {
        return tokens.expected("no '.pragma' here");
      }
      directive.values.push_back(tokens.current.bits);
      tokens.advance();
      if (!tokens.accept(',')) {
        break;
      }
    }
    function.directives.push_back(std::move(directive));
  }
  return true;
}

static bool parseFunction(TokenStream &tokens, Module &module,
                          Function &function) {
  function.at = tokens.current.at;
  function.isEntry = tokens.current.is(".entry");
  tokens.advance();
  if (tokens.current.is('(') && !parseParams(tokens, function.results)) {
    return false;
  }
  if (!tokens.expectName(function.name)) {
    return false;
  }
  if (tokens.current.is('(') && !parseParams(tokens, function.params)) {
    return false;
  }
  if (!parseDirectives(tokens, function)) {
    return false;
  }
  if (!tokens.accept(';')) {
    function.hasBody = true;
    if (!parseBody(tokens, function)) {
      return false;
    }
  }
  module.items.push_back(
      {Module::Item::Kind::Function, uint32_t(module.functions.size()), {}});
  module.functions.push_back(std::move(function));
  return true;
}

static bool parseItem(TokenStream &tokens, Module &module) {
  Module::Item raw;
  if (tokens.current.is(".section")) {
    if (!skipSection(tokens, raw.text)) {
      return false;
    }
    module.items.push_back(raw);
    return true;
  }
  if (tokens.current.is(".file")) {
    const char *begin = tokens.current.text.data();
    do {
      tokens.advance();
    } while (tokens.current.is(TokenKind::Integer) ||
             tokens.current.is(TokenKind::String) || tokens.current.is(','));
    raw.text = tokens.textFrom(begin);
    module.items.push_back(raw);
    return true;
  }
  if (tokens.current.is(".alias") || tokens.current.is(".pragma")) {
    if (!tokens.skipTo(';', raw.text)) {
      return false;
    }
    module.items.push_back(raw);
    return true;
  }
  std::vector<std::string_view> linkage;
  while (isLinkage(tokens.current)) {
    linkage.push_back(tokens.current.text);
    tokens.advance();
  }
  if (tokens.current.is(".entry") || tokens.current.is(".func")) {
    Function function;
    function.linkage = std::move(linkage);
    return parseFunction(tokens, module, function);
  }
  Variable variable;
  variable.linkage = std::move(linkage);
  if (!isVariableSpace(tokens.current)) {
    return tokens.expected("a variable or function");
  }
  if (!parseVariableToEnd(tokens, variable)) {
    return false;
  }
  module.items.push_back(
      {Module::Item::Kind::Variable, uint32_t(module.variables.size()), {}});
  module.variables.push_back(std::move(variable));
  return true;
}

static bool parseModule(TokenStream &tokens, Module &module) {
  if (!tokens.current.is(".version")) {
    return tokens.expected("'.version'");
  }
  tokens.advance();
  if (!tokens.current.is(TokenKind::Double)) {
    return tokens.expected("a version, as 8.0");
  }
  module.version = tokens.current.text;
  tokens.advance();
  if (!tokens.current.is(".target")) {
    return tokens.expected("'.target'");
  }
  do {
    tokens.advance();
    std::string_view name;
    if (!tokens.expectName(name)) {
      return false;
    }
    module.targets.push_back(name);
  } while (tokens.current.is(','));
  if (tokens.current.is(".address_size")) {
    tokens.advance();
    if (!tokens.parseInteger(module.addressSize)) {
      return false;
    }
  }
  while (!tokens.current.is(TokenKind::End)) {
    if (!parseItem(tokens, module)) {
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
  TokenStream tokens(*module.source, diagnostic);
  return parseModule(tokens, module);
}
