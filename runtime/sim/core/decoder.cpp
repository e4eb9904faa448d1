// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions and control flow.

#include "core/decoder.h"

#include "core/decode_call.h"
#include "core/operand_decoder.h"
#include "hazards/result_use.h"

using namespace attn::sim;

namespace {

class FunctionDecoder {
public:
  FunctionDecoder(const OpcodeTable &table, const ptx::Module &module,
                  const ptx::Function &function, const InlinedCall &call,
                  Program &program, Diagnostic &diagnostic)
      : table(table), module(module), function(function), call(call),
        program(program), diagnostic(diagnostic),
        declarations(module, function, call, scopes, program, diagnostic),
        operands(scopes, program, diagnostic) {}

  // Each returns false after reporting an error.

  /// A kernel.
  bool decodeFunction();
  /// The instructions of a function, without an end.
  bool decodeInlined() { return declarations.collect() && decodeBody(); }

private:
  bool decodeBody();
  bool decodeInstruction(const ptx::Instruction &instruction);
  bool decodeCall(const ptx::Instruction &instruction);
  bool appendBranch(Inst inst, uint32_t target);
  uint32_t addOrigin(const ptx::Instruction &instruction);
  void noteGuard(const Inst &inst);
  void noteFlow(const ptx::Instruction &instruction, const Inst &inst);

  const OpcodeTable &table;
  const ptx::Module &module;
  const ptx::Function &function;
  const InlinedCall &call;
  Program &program;
  Diagnostic &diagnostic;
  Scopes scopes;
  Declarations declarations;
  OperandDecoder operands;
  /// Of the instructions so far.
  std::vector<RegisterUse> uses;
};

} // namespace

uint32_t FunctionDecoder::addOrigin(const ptx::Instruction &instruction) {
  program.origins.push_back(&instruction);
  return uint32_t(program.origins.size() - 1);
}

static Handler branchHandler(const OpcodeTable &table) {
  ptx::Instruction branch;
  branch.opcode = "bra";
  Match match;
  std::string problem;
  return table.findRow(branch, match, problem) ? match.row->handler : nullptr;
}

/// Uses the guard that is recorded in `operands.use`.
bool FunctionDecoder::appendBranch(Inst inst, uint32_t target) {
  inst.run = branchHandler(table);
  inst.imm = target;
  program.code.push_back(inst);
  noteGuard(inst);
  operands.use.fallsThrough = operands.use.isGuarded;
  operands.use.targets = {target};
  uses.push_back(std::move(operands.use));
  operands.use = {};
  return true;
}

/// %is_explicit_cluster is a guard, but not a register.
void FunctionDecoder::noteGuard(const Inst &inst) {
  operands.use.isGuarded = inst.guard != kNone;
  operands.use.readsGuard =
      operands.use.isGuarded && inst.guard != program.explicitClusterPredicate;
}

static bool isTensorLoad(const ptx::Instruction &instruction) {
  return instruction.opcode == "tcgen05" && instruction.modifiers[0] == ".ld";
}

/// Records what the register plan needs to know about an instruction besides
/// its operands.
void FunctionDecoder::noteFlow(const ptx::Instruction &instruction,
                               const Inst &inst) {
  std::string_view opcode = instruction.opcode;
  noteGuard(inst);
  bool hasList = inst.listSize != 0;
  operands.use.kind =
      opcode == "mov"
          ? (hasList ? RegisterUse::Kind::Pack : RegisterUse::Kind::Copy)
      : opcode == "wgmma" && hasList ? RegisterUse::Kind::Wgmma
      : isTensorLoad(instruction)    ? RegisterUse::Kind::TensorLoad
                                     : RegisterUse::Kind::Plain;
  if (opcode == "bra") {
    operands.use.targets = {uint32_t(inst.imm)};
  } else if (opcode == "brx") {
    auto first = program.lists.begin() + inst.list;
    operands.use.targets.assign(first, first + inst.listSize);
  }
  bool leaves = opcode == "ret" || opcode == "exit" || opcode == "trap";
  operands.use.fallsThrough =
      operands.use.isGuarded || (!leaves && operands.use.targets.empty());
}

bool FunctionDecoder::decodeInstruction(const ptx::Instruction &instruction) {
  if (instruction.opcode == "call") {
    return decodeCall(instruction);
  }
  Match match;
  std::string problem;
  if (!table.findRow(instruction, match, problem)) {
    return diagnostic.fail(instruction.at, problem);
  }
  operands.use = {};
  if (!operands.requireTargets(instruction, match.row->targets)) {
    return false;
  }
  Inst inst;
  inst.run = match.row->handler;
  inst.aux = match.row->aux;
  inst.origin = addOrigin(instruction);
  inst.list = uint32_t(program.lists.size());
  if (!instruction.guard.empty()) {
    ptx::Operand guard;
    guard.at = instruction.at;
    guard.name = instruction.guard;
    guard.negated = instruction.guardNegated;
    if (!operands.decodePredicate(guard, inst.guard, inst.guardNegated)) {
      return false;
    }
  }
  if (!decodeOperands(operands, instruction, match, inst)) {
    return false;
  }
  if (instruction.opcode == "ret" && call.returnTarget != kNone) {
    return appendBranch(inst, call.returnTarget);
  }
  if (!inst.run) {
    return diagnostic.fail(instruction.at,
                           "no handler for " + quote(ptx::print(instruction)));
  }
  noteFlow(instruction, inst);
  program.code.push_back(inst);
  uses.push_back(std::move(operands.use));
  return true;
}

/// A call becomes: a branch past the call for lanes that do not take part, the
/// function's instructions, and a no-op.
bool FunctionDecoder::decodeCall(const ptx::Instruction &instruction) {
  const ptx::Function *target = findFunction(module, findCallee(instruction));
  InlinedCall inlined;
  if (!bindCall(instruction, *target, scopes, inlined, diagnostic)) {
    return false;
  }
  const auto begin = uint32_t(program.code.size());
  const uint32_t end = begin + countCall(module, instruction, diagnostic) - 1;
  operands.use = {};
  Inst enter;
  enter.origin = addOrigin(instruction);
  if (!instruction.guard.empty()) {
    ptx::Operand guard;
    guard.at = instruction.at;
    guard.name = instruction.guard;
    if (!operands.decodePredicate(guard, enter.guard, enter.guardNegated)) {
      return false;
    }
    enter.guardNegated = !instruction.guardNegated;
  }
  // Without a guard no lane leaves: the branch goes to the next instruction.
  appendBranch(enter, instruction.guard.empty() ? begin + 1 : end);
  inlined.returnTarget = end;
  FunctionDecoder callee(table, module, *target, inlined, program, diagnostic);
  if (!callee.decodeInlined()) {
    return false;
  }
  if (callee.declarations.hasShared()) {
    return diagnostic.fail(target->at,
                           "shared variables of called functions are not "
                           "supported");
  }
  uses.insert(uses.end(), callee.uses.begin(), callee.uses.end());
  Inst land;
  land.origin = enter.origin;
  return appendBranch(land, end + 1);
}

/// Walks the statements a second time, through the same scopes.
bool FunctionDecoder::decodeBody() {
  scopes.rewind();
  for (const ptx::Statement &statement : function.body) {
    switch (statement.kind) {
    case ptx::Statement::Kind::Open:
      scopes.reopenScope();
      break;
    case ptx::Statement::Kind::Close:
      scopes.leaveScope();
      break;
    case ptx::Statement::Kind::Instruction:
      if (!decodeInstruction(function.instructions[statement.index])) {
        return false;
      }
      break;
    default:
      break;
    }
  }
  return true;
}

static bool isWait(const ptx::Instruction &instruction) {
  return instruction.opcode == "mbarrier" &&
         (instruction.modifiers[0] == ".try_wait" ||
          instruction.modifiers[0] == ".test_wait");
}

bool FunctionDecoder::decodeFunction() {
  program.function = &function;
  if (!decodeInlined()) {
    return false;
  }
  if (program.code.empty()) {
    return diagnostic.fail(function.at, "expected at least one instruction");
  }
  // Falling off the end is a return.
  static const ptx::Instruction ret = [] {
    ptx::Instruction made;
    made.opcode = "ret";
    return made;
  }();
  if (!decodeInstruction(ret)) {
    return false;
  }
  planRegisterChecks(uses, program);
  for (uint32_t i = 0; i < uses.size(); ++i) {
    program.code[i].isIgnored =
        isWait(program.origin(program.code[i])) && !isResultUsed(uses, i);
  }
  return true;
}

/// Returns the first feature in the module's header that is not simulated, or
/// "".
static std::string readHeader(const ptx::Module &module, Target &target) {
  std::string problem = readTarget(module, target);
  if (!problem.empty()) {
    return problem;
  }
  return module.addressSize == 0 || module.addressSize == 64
             ? ""
             : "expected '.address_size 64', got " +
                   std::to_string(module.addressSize);
}

bool attn::sim::decodeKernel(const OpcodeTable &table,
                             std::shared_ptr<const ptx::Module> module,
                             std::string_view name, Program &program,
                             Diagnostic &diagnostic) {
  program = {};
  diagnostic = {};
  program.module = std::move(module);
  const ptx::Module &read = *program.module;
  const ptx::Function *found = nullptr;
  for (const ptx::Function &function : read.functions) {
    if (function.isEntry && function.hasBody &&
        (name.empty() || function.name == name)) {
      if (found) {
        diagnostic.message = "expected the name of one of several kernels";
        return false;
      }
      found = &function;
    }
  }
  if (!found) {
    diagnostic.message = name.empty() ? "expected a kernel, found none"
                                      : "no kernel " + quote(name);
    return false;
  }
  diagnostic.message = readHeader(read, program.target);
  if (!diagnostic.message.empty()) {
    return false;
  }
  return FunctionDecoder(table, read, *found, {}, program, diagnostic)
      .decodeFunction();
}
