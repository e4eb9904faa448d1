// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Function bodies: statements and operands.

#include "parser.h"

#include <limits>

using namespace attn::sim;
using namespace attn::sim::ptx;

/// Scopes and operands nest at most this deep.
static constexpr unsigned kMaxScopes = 64;
static constexpr unsigned kMaxOperandDepth = 4;

void Parser::addStatement(Function &function, Statement::Kind kind, Position at,
                          std::string_view text, size_t index) {
  Statement statement;
  statement.kind = kind;
  statement.at = at;
  statement.text = text;
  statement.index = uint32_t(index);
  function.body.push_back(std::move(statement));
}

bool Parser::parseBody(Function &function) {
  sourceLine = {};
  scopes = 0;
  if (!expect('{')) {
    return false;
  }
  for (;;) {
    if (token.is('}') && scopes == 0) {
      advance();
      return true;
    }
    if (!parseStatement(function)) {
      return false;
    }
  }
}

bool Parser::parseStatement(Function &function) {
  Position at = token.at;
  if (token.is('{')) {
    if (++scopes > kMaxScopes) {
      return expected("at most 64 scopes within each other");
    }
    advance();
    addStatement(function, Statement::Kind::Open, at);
    return true;
  }
  if (accept('}')) {
    --scopes;
    addStatement(function, Statement::Kind::Close, at);
    return true;
  }
  if (accept(';')) {
    return true;
  }
  if (token.is(TokenKind::Dotted)) {
    return parseDotStatement(function);
  }
  if (token.is(TokenKind::Name) && following.is(':')) {
    addStatement(function, Statement::Kind::Label, at, token.text);
    advance();
    advance();
    return true;
  }
  return parseInstruction(function);
}

static bool isSpace(const Token &token) {
  return token.is(".shared") || token.is(".local") || token.is(".param") ||
         token.is(".global") || token.is(".const");
}

bool Parser::parseDotStatement(Function &function) {
  Position at = token.at;
  if (token.is(".reg")) {
    addStatement(function, Statement::Kind::Registers, at, {},
                 function.registers.size());
    function.registers.emplace_back();
    return parseRegisters(function.registers.back());
  }
  if (isSpace(token)) {
    addStatement(function, Statement::Kind::Variable, at, {},
                 function.variables.size());
    function.variables.emplace_back();
    return parseVariableToEnd(function.variables.back());
  }
  Statement statement;
  statement.at = at;
  if (token.is(".loc")) {
    if (!parseLoc(statement)) {
      return false;
    }
  } else if (token.is(".branchtargets")) {
    if (!parseBranchTargets(statement)) {
      return false;
    }
  } else if (token.is(".pragma") || token.is(".callprototype") ||
             token.is(".calltargets")) {
    statement.kind =
        token.is(".pragma") ? Statement::Kind::Pragma : Statement::Kind::Raw;
    if (!skipTo(';', statement.text)) {
      return false;
    }
  } else {
    return expected("a statement");
  }
  function.body.push_back(std::move(statement));
  return true;
}

/// ".loc 1 4 2, function_name $L__info_string0, inlined_at 1 9 3".
bool Parser::parseLoc(Statement &statement) {
  const char *begin = token.text.data();
  statement.kind = Statement::Kind::Loc;
  advance();
  uint64_t values[3];
  for (uint64_t &value : values) {
    if (!parseInteger(value)) {
      return false;
    }
    if (value > std::numeric_limits<uint32_t>::max()) {
      return fail(token, "expected a number below 2^32");
    }
  }
  sourceLine = {uint32_t(values[0]), uint32_t(values[1]), uint32_t(values[2])};
  while (accept(',')) {
    std::string_view name;
    if (!expectName(name)) {
      return false;
    }
    while (token.is(TokenKind::Integer) ||
           (name == "function_name" && token.is(TokenKind::Name))) {
      bool isName = token.is(TokenKind::Name);
      advance();
      if (isName) {
        break;
      }
    }
  }
  statement.text = textFrom(begin);
  return true;
}

bool Parser::parseBranchTargets(Statement &statement) {
  statement.kind = Statement::Kind::BranchTargets;
  do {
    advance();
    std::string_view label;
    if (!expectName(label)) {
      return false;
    }
    statement.labels.push_back(label);
  } while (token.is(','));
  return expect(';');
}

bool Parser::parseRegisters(Registers &registers) {
  constexpr uint64_t mostRegisters = 1 << 20;
  advance();
  if (token.is(".v2") || token.is(".v4")) {
    registers.vector = token.text;
    advance();
  }
  if (!token.is(TokenKind::Dotted)) {
    return expected("a register type");
  }
  registers.type = token.text;
  advance();
  do {
    Registers::Item item;
    if (!expectName(item.name)) {
      return false;
    }
    if (accept('<')) {
      uint64_t count = 0;
      if (!parseInteger(count)) {
        return false;
      }
      if (count > mostRegisters) {
        return fail(token, "expected at most 1048576 registers");
      }
      item.count = int64_t(count);
      if (!expect('>')) {
        return false;
      }
    }
    registers.items.push_back(item);
  } while (accept(','));
  return expect(';');
}

bool Parser::parseInstruction(Function &function) {
  Instruction instruction;
  Position at = token.at;
  instruction.source = sourceLine;
  if (accept('@')) {
    instruction.guardNegated = accept('!');
    if (!expectName(instruction.guard)) {
      return false;
    }
  }
  instruction.at = token.at;
  if (!token.is(TokenKind::Name)) {
    return expected("an instruction");
  }
  instruction.opcode = token.text;
  advance();
  while (token.is(TokenKind::Dotted)) {
    instruction.modifiers.push_back(token.text);
    advance();
  }
  if (!accept(';')) {
    do {
      instruction.operands.emplace_back();
      if (!parseOperand(instruction.operands.back(), 0)) {
        return false;
      }
    } while (accept(','));
    if (!expect(';')) {
      return false;
    }
  }
  addStatement(function, Statement::Kind::Instruction, at, {},
               function.instructions.size());
  function.instructions.push_back(std::move(instruction));
  return true;
}

/// A list up to `end`, whose opening character is consumed.
bool Parser::parseOperands(Operand &operand, char end, unsigned depth) {
  if (depth >= kMaxOperandDepth) {
    return expected("operands nested at most 4 deep");
  }
  if (accept(end)) {
    return true;
  }
  do {
    operand.elements.emplace_back();
    if (!parseOperand(operand.elements.back(), depth + 1)) {
      return false;
    }
  } while (accept(','));
  return expect(end);
}

/// "+16", "+-16" or "-16", if there is one.
bool Parser::parseOffset(int64_t &offset) {
  bool plus = token.is('+');
  if (!plus && !token.is('-')) {
    return true;
  }
  advance();
  bool minus = plus ? accept('-') : true;
  uint64_t value = 0;
  if (!parseInteger(value)) {
    return false;
  }
  offset = int64_t(minus ? 0 - value : value);
  return true;
}

bool Parser::parseNumber(Operand &operand) {
  operand.minus = accept('-');
  operand.bits = token.bits;
  if (token.is(TokenKind::Integer)) {
    operand.kind = Operand::Kind::Integer;
    operand.bits = operand.minus ? 0 - token.bits : token.bits;
  } else if (token.is(TokenKind::Single)) {
    operand.kind = Operand::Kind::Single;
    operand.bits ^= operand.minus ? uint64_t(1) << 31 : 0;
  } else if (token.is(TokenKind::Double)) {
    operand.kind = Operand::Kind::Double;
    operand.bits ^= operand.minus ? uint64_t(1) << 63 : 0;
  } else {
    return expected("a number");
  }
  advance();
  return true;
}

bool Parser::parseName(Operand &operand) {
  if (!expectName(operand.name)) {
    return false;
  }
  if (operand.name == "_") {
    operand.kind = Operand::Kind::Sink;
  }
  if (token.is(TokenKind::Dotted)) {
    operand.member = token.text;
    advance();
  }
  return true;
}

bool Parser::parseOperand(Operand &operand, unsigned depth) {
  operand.at = token.at;
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    return parseOperands(operand, '}', depth);
  }
  if (accept('(')) {
    operand.kind = Operand::Kind::List;
    return parseOperands(operand, ')', depth);
  }
  if (accept('[')) {
    operand.kind = Operand::Kind::Address;
    if (!parseOperands(operand, ']', depth)) {
      return false;
    }
    if (operand.elements.empty()) {
      return expected("an address before this");
    }
    operand.offset = operand.elements[0].offset;
    operand.elements[0].offset = 0;
    return true;
  }
  if (accept('!')) {
    operand.negated = true;
    return parseName(operand);
  }
  if (!token.is(TokenKind::Name)) {
    return (token.is('-') || token.is(TokenKind::Integer) ||
            token.is(TokenKind::Single) || token.is(TokenKind::Double))
               ? parseNumber(operand)
               : expected("an operand");
  }
  if (!parseName(operand) || !parseOffset(operand.offset)) {
    return false;
  }
  if (!accept('|')) {
    return true;
  }
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.at = operand.at;
  pair.elements = {operand, {}};
  pair.elements[1].at = token.at;
  if (!parseName(pair.elements[1])) {
    return false;
  }
  operand = std::move(pair);
  return true;
}
