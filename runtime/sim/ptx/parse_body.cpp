// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Function bodies: statements.

#include "ptx/parse_body.h"

#include "ptx/parse_operand.h"
#include "ptx/parse_variable.h"

#include <limits>

using namespace attn::sim;
using namespace attn::sim::ptx;

/// Scopes nest at most this deep.
static constexpr unsigned kMaxScopes = 64;

namespace {

class BodyParser {
public:
  BodyParser(TokenStream &tokens, Function &function)
      : tokens(tokens), function(function) {}

  bool parseBody();

private:
  // Each returns false after reporting an error.
  bool parseStatement();
  bool parseDotStatement();
  bool parseLoc(Statement &statement);
  bool parseBranchTargets(Statement &statement);
  bool parseRegisters(Registers &registers);
  bool parseInstruction();

  void addStatement(Statement::Kind kind, Position at,
                    std::string_view text = {}, size_t index = 0);

  TokenStream &tokens;
  Function &function;
  SourceLine sourceLine;
  unsigned scopes = 0;
};

} // namespace

void BodyParser::addStatement(Statement::Kind kind, Position at,
                              std::string_view text, size_t index) {
  Statement statement;
  statement.kind = kind;
  statement.at = at;
  statement.text = text;
  statement.index = uint32_t(index);
  function.body.push_back(std::move(statement));
}

bool BodyParser::parseBody() {
  if (!tokens.expect('{')) {
    return false;
  }
  for (;;) {
    if (tokens.current.is('}') && scopes == 0) {
      tokens.advance();
      return true;
    }
    if (!parseStatement()) {
      return false;
    }
  }
}

bool BodyParser::parseStatement() {
  Position at = tokens.current.at;
  if (tokens.current.is('{')) {
    if (++scopes > kMaxScopes) {
      return tokens.expected("at most 64 scopes within each other");
    }
    tokens.advance();
    addStatement(Statement::Kind::Open, at);
    return true;
  }
  if (tokens.accept('}')) {
    --scopes;
    addStatement(Statement::Kind::Close, at);
    return true;
  }
  if (tokens.accept(';')) {
    return true;
  }
  if (tokens.current.is(TokenKind::Dotted)) {
    return parseDotStatement();
  }
  if (tokens.current.is(TokenKind::Name) && tokens.following.is(':')) {
    addStatement(Statement::Kind::Label, at, tokens.current.text);
    tokens.advance();
    tokens.advance();
    return true;
  }
  return parseInstruction();
}

static bool isSpace(const Token &token) {
  return token.is(".shared") || token.is(".local") || token.is(".param") ||
         token.is(".global") || token.is(".const");
}

bool BodyParser::parseDotStatement() {
  Position at = tokens.current.at;
  if (tokens.current.is(".reg")) {
    addStatement(Statement::Kind::Registers, at, {}, function.registers.size());
    function.registers.emplace_back();
    return parseRegisters(function.registers.back());
  }
  if (isSpace(tokens.current)) {
    addStatement(Statement::Kind::Variable, at, {}, function.variables.size());
    function.variables.emplace_back();
    return parseVariableToEnd(tokens, function.variables.back());
  }
  Statement statement;
  statement.at = at;
  if (tokens.current.is(".loc")) {
    if (!parseLoc(statement)) {
      return false;
    }
  } else if (tokens.current.is(".branchtargets")) {
    if (!parseBranchTargets(statement)) {
      return false;
    }
  } else if (tokens.current.is(".pragma") ||
             tokens.current.is(".callprototype") ||
             tokens.current.is(".calltargets")) {
    statement.kind = tokens.current.is(".pragma") ? Statement::Kind::Pragma
                                                  : Statement::Kind::Raw;
    if (!tokens.skipTo(';', statement.text)) {
      return false;
    }
  } else {
    return tokens.expected("a statement");
  }
  function.body.push_back(std::move(statement));
  return true;
}

/// ".loc 1 4 2, function_name $L__info_string0, inlined_at 1 9 3".
bool BodyParser::parseLoc(Statement &statement) {
  const char *begin = tokens.current.text.data();
  statement.kind = Statement::Kind::Loc;
  tokens.advance();
  uint64_t values[3];
  for (uint64_t &value : values) {
    if (!tokens.parseInteger(value)) {
      return false;
    }
    if (value > std::numeric_limits<uint32_t>::max()) {
      return tokens.fail(tokens.current, "expected a number below 2^32");
    }
  }
  sourceLine = {uint32_t(values[0]), uint32_t(values[1]), uint32_t(values[2])};
  while (tokens.accept(',')) {
    std::string_view name;
    if (!tokens.expectName(name)) {
      return false;
    }
    while (tokens.current.is(TokenKind::Integer) ||
           (name == "function_name" && tokens.current.is(TokenKind::Name))) {
      bool isName = tokens.current.is(TokenKind::Name);
      tokens.advance();
      if (isName) {
        break;
      }
    }
  }
  statement.text = tokens.textFrom(begin);
  return true;
}

bool BodyParser::parseBranchTargets(Statement &statement) {
  statement.kind = Statement::Kind::BranchTargets;
  do {
    tokens.advance();
    std::string_view label;
    if (!tokens.expectName(label)) {
      return false;
    }
    statement.labels.push_back(label);
  } while (tokens.current.is(','));
  return tokens.expect(';');
}

bool BodyParser::parseRegisters(Registers &registers) {
  constexpr uint64_t mostRegisters = 1 << 20;
  tokens.advance();
  if (tokens.current.is(".v2") || tokens.current.is(".v4")) {
    registers.vector = tokens.current.text;
    tokens.advance();
  }
  if (!tokens.current.is(TokenKind::Dotted)) {
    return tokens.expected("a register type");
  }
  registers.type = tokens.current.text;
  tokens.advance();
  do {
    Registers::Item item;
    if (!tokens.expectName(item.name)) {
      return false;
    }
    if (tokens.accept('<')) {
      uint64_t count = 0;
      if (!tokens.parseInteger(count)) {
        return false;
      }
      if (count > mostRegisters) {
        return tokens.fail(tokens.current,
                           "expected at most 1048576 registers");
      }
      item.count = int64_t(count);
      if (!tokens.expect('>')) {
        return false;
      }
    }
    registers.items.push_back(item);
  } while (tokens.accept(','));
  return tokens.expect(';');
}

bool BodyParser::parseInstruction() {
  Instruction instruction;
  Position at = tokens.current.at;
  instruction.source = sourceLine;
  if (tokens.accept('@')) {
    instruction.guardNegated = tokens.accept('!');
    if (!tokens.expectName(instruction.guard)) {
      return false;
    }
  }
  instruction.at = tokens.current.at;
  if (!tokens.current.is(TokenKind::Name)) {
    return tokens.expected("an instruction");
  }
  instruction.opcode = tokens.current.text;
  tokens.advance();
  while (tokens.current.is(TokenKind::Dotted)) {
    instruction.modifiers.push_back(tokens.current.text);
    tokens.advance();
  }
  if (!tokens.accept(';')) {
    do {
      instruction.operands.emplace_back();
      if (!parseOperand(tokens, instruction.operands.back())) {
        return false;
      }
    } while (tokens.accept(','));
    if (!tokens.expect(';')) {
      return false;
    }
  }
  addStatement(Statement::Kind::Instruction, at, {},
               function.instructions.size());
  function.instructions.push_back(std::move(instruction));
  return true;
}

bool attn::sim::ptx::parseBody(TokenStream &tokens, Function &function) {
  return BodyParser(tokens, function).parseBody();
}
