// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive-descent parser over the lexer's tokens. What it recurses on,
// operands within operands, is bounded.

#ifndef ATTN_SIM_PTX_PARSER_H
#define ATTN_SIM_PTX_PARSER_H

#include "lexer.h"
#include "module.h"

namespace attn::sim::ptx {

class Parser {
public:
  Parser(std::string_view source, Diagnostic &diagnostic)
      : source(source), lexer(source), diagnostic(diagnostic) {
    advance();
    advance();
  }

  bool parseModule(Module &module);

private:
  // Each returns false after reporting an error.
  bool parseItem(Module &module);
  bool parseFunction(Module &module, Function &function);
  bool parseDirectives(Function &function);
  bool parseBody(Function &function);
  bool parseStatement(Function &function);
  bool parseDotStatement(Function &function);
  bool parseLoc(Statement &statement);
  bool parseBranchTargets(Statement &statement);
  bool parseRegisters(Registers &registers);
  bool parseInstruction(Function &function);
  bool parseVariable(Variable &variable);
  bool parseVariableToEnd(Variable &variable);
  bool parseVariableType(Variable &variable);
  bool parseVariableDims(Variable &variable);
  bool parseParams(std::vector<Variable> &params);
  bool parseOperand(Operand &operand, unsigned depth);
  bool parseOperands(Operand &operand, char end, unsigned depth);
  bool parseNumber(Operand &operand);
  bool parseName(Operand &operand);
  bool parseOffset(int64_t &offset);
  bool parseInteger(uint64_t &value);
  bool skipSection(std::string_view &text);
  bool skipTo(char end, std::string_view &text);

  void advance();
  bool fail(const Token &token, const std::string &message);
  bool expected(const std::string &what);
  bool expect(char symbol);
  bool accept(char symbol);
  bool expectName(std::string_view &name);
  void addStatement(Function &function, Statement::Kind kind, Position at,
                    std::string_view text = {}, size_t index = 0);
  std::string_view textFrom(const char *begin) const;

  std::string_view source;
  Lexer lexer;
  Diagnostic &diagnostic;
  Token token;
  Token following;
  /// Where the last consumed token ends.
  const char *consumed = nullptr;
  SourceLine sourceLine;
  unsigned scopes = 0;
};

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_PARSER_H
