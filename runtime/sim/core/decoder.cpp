// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scopes, layout and instructions; operands are in decode_operands.cpp.

#include "core/decoder.h"

#include "hazards/result_use.h"

#include <algorithm>
#include <cstdlib>

using namespace attn::sim;

/// More than any GPU's.
static constexpr uint64_t kMaxSharedBytes = 1 << 20;
static constexpr uint64_t kMaxParamBytes = 32 << 10;

bool Decoder::fail(Position at, const std::string &message) {
  if (diagnostic.message.empty()) {
    diagnostic.at = at;
    diagnostic.message = message;
  }
  return false;
}

static std::string quote(std::string_view name) {
  return "'" + std::string(name) + "'";
}

unsigned attn::sim::typeSize(std::string_view type) {
  if (type.size() < 2) {
    return 0;
  }
  std::string_view bits =
      type.substr(type.find_first_of("0123456789") == std::string_view::npos
                      ? type.size()
                      : type.find_first_of("0123456789"));
  return bits == "8"                      ? 1
         : bits == "16"                   ? 2
         : bits == "32" || bits == "16x2" ? 4
         : bits == "64" || bits == "32x2" ? 8
         : bits == "128"                  ? 16
                                          : 0;
}

/// A variable's size in bytes, as far as any limit goes; 0 with `known` false.
static uint64_t variableSize(const ptx::Variable &variable, bool &known) {
  constexpr uint64_t tooMany = kMaxSharedBytes + 1;
  uint64_t size = typeSize(variable.type);
  known = size != 0;
  if (!variable.vector.empty()) {
    size *= uint64_t(variable.vector[2] - '0');
  }
  for (int64_t extent : variable.dims) {
    known &= extent >= 0;
    size = known ? std::min(size * uint64_t(extent), tooMany) : 0;
  }
  return size;
}

static uint64_t alignmentOf(const ptx::Variable &variable) {
  uint64_t align = std::max<uint64_t>(variable.align, typeSize(variable.type));
  if (variable.align == 0 && !variable.vector.empty()) {
    align *= uint64_t(variable.vector[2] - '0');
  }
  return std::max<uint64_t>(align, 1);
}

static bool isPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

static uint64_t alignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

bool Decoder::layOutParams() {
  if (returnTarget != kNone) {
    scopes[0].variables.insert(bound.begin(), bound.end());
    return true;
  }
  uint64_t offset = 0;
  for (const ptx::Variable &param : function.params) {
    bool known = false;
    uint64_t size = variableSize(param, known);
    uint64_t align = alignmentOf(param);
    if (!known || !isPowerOfTwo(align) || align > 1024) {
      return fail(param.at,
                  "unsupported type of parameter " + quote(param.name));
    }
    offset = alignUp(offset, align);
    program.params.push_back({param.name, uint32_t(offset), uint32_t(size)});
    scopes[0].variables[param.name] = {SymbolAddress::Space::Param, offset};
    offset += size;
    if (offset > kMaxParamBytes) {
      return fail(param.at, "expected at most 32768 bytes of parameters");
    }
  }
  program.paramBytes = uint32_t(offset);
  return true;
}

/// Nothing says what memory of a CTA or thread holds when it starts.
bool Decoder::checkNoInitializer(const ptx::Variable &variable) {
  return variable.initializer.empty() ||
         fail(variable.at, "expected no initializer of " +
                               quote(variable.name) + ", which is in " +
                               quote(variable.space));
}

static bool isExtern(const ptx::Variable &variable) {
  return std::find(variable.linkage.begin(), variable.linkage.end(),
                   ".extern") != variable.linkage.end();
}

bool Decoder::placeShared(const ptx::Variable &variable,
                          SymbolAddress &symbol) {
  uint64_t align = alignmentOf(variable);
  if (!isPowerOfTwo(align) || align > 4096) {
    return fail(variable.at,
                "unsupported alignment of " + quote(variable.name));
  }
  if (!checkNoInitializer(variable)) {
    return false;
  }
  symbol.space = SymbolAddress::Space::Shared;
  if (isExtern(variable)) {
    dynamicAlign = std::max(dynamicAlign, align);
    dynamicNames.push_back(variable.name);
    return true;
  }
  bool known = false;
  uint64_t size = variableSize(variable, known);
  if (!known) {
    return fail(variable.at, "unsupported type of " + quote(variable.name));
  }
  uint64_t at = alignUp(sharedEnd, align);
  symbol.address = at;
  if (at + size > kMaxSharedBytes) {
    return fail(variable.at, "expected at most 1 MiB of shared memory");
  }
  sharedEnd = uint32_t(at + size);
  return true;
}

/// The module's shared variables. Others are refused where they are used.
bool Decoder::layOutShared() {
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space == ".shared" &&
        !placeShared(variable, scopes[0].variables[variable.name])) {
      return false;
    }
  }
  moduleSharedEnd = sharedEnd;
  return true;
}

/// Those that a directive leaves out are 1.
static void readExtents(const ptx::Directive &directive, unsigned (&out)[3]) {
  for (size_t i = 0; i < 3; ++i) {
    uint64_t extent = i < directive.values.size() ? directive.values[i] : 1;
    out[i] = unsigned(std::min<uint64_t>(extent, 1 << 16));
  }
}

bool Decoder::readDirectives() {
  for (const ptx::Directive &directive : function.directives) {
    uint64_t product = 1;
    for (uint64_t value : directive.values) {
      product *= std::min<uint64_t>(value, 1 << 16);
    }
    if (directive.name == ".maxntid") {
      program.maxThreads = product;
    } else if (directive.name == ".reqntid") {
      program.maxThreads = product;
      readExtents(directive, program.block);
    } else if (directive.name == ".maxnreg") {
      program.maxRegisters = product;
    } else if (directive.name == ".minnctapersm") {
      program.minCtas = product;
    } else if (directive.name == ".reqnctapercluster") {
      readExtents(directive, program.cluster);
    } else if (directive.name == ".explicitcluster") {
      program.hasExplicitCluster = true;
    } else if (directive.name != ".maxclusterrank" &&
               directive.name != ".blocksareclusters") {
      return fail(function.at, "unknown directive " + quote(directive.name));
    }
  }
  return true;
}

bool Decoder::declare(const ptx::Registers &registers, Position at) {
  Width width = Width::Predicate;
  if (!registers.vector.empty()) {
    return fail(at, "vector registers are not supported");
  }
  if (registers.type != ".pred") {
    unsigned bytes = typeSize(registers.type);
    if (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
      return fail(at, "unsupported register type " + quote(registers.type));
    }
    width = bytes == 2   ? Width::B16
            : bytes == 4 ? Width::B32
            : bytes == 8 ? Width::B64
                         : Width::B128;
  }
  Scope &here = scopes[size_t(scope)];
  for (const ptx::Registers::Item &item : registers.items) {
    bool isFresh = true;
    if (item.count < 0) {
      isFresh = here.registers.insert({item.name, {width, kNone}}).second;
    } else {
      isFresh = std::none_of(
          here.families.begin(), here.families.end(),
          [&](const Family &each) { return each.prefix == item.name; });
      here.families.push_back({item.name, uint64_t(item.count), width});
    }
    if (!isFresh) {
      return fail(at, "register " + quote(item.name) + " is there twice");
    }
  }
  return true;
}

bool Decoder::declare(const ptx::Variable &variable) {
  Scope &here = scopes[size_t(scope)];
  if (variable.space == ".shared") {
    return placeShared(variable, here.variables[variable.name]);
  }
  if (variable.space != ".local" && variable.space != ".param") {
    return fail(variable.at,
                "variables in " + quote(variable.space) + " are not supported");
  }
  bool known = false;
  uint64_t size = variableSize(variable, known);
  uint64_t align = alignmentOf(variable);
  if (!known || !isPowerOfTwo(align) || align > 4096) {
    return fail(variable.at, "unsupported type of " + quote(variable.name));
  }
  if (!checkNoInitializer(variable)) {
    return false;
  }
  uint64_t at = alignUp(program.localBytes, align);
  here.variables[variable.name] = {SymbolAddress::Space::Local, at};
  if (at + size > kMaxSharedBytes) {
    return fail(variable.at, "expected at most 1 MiB of local memory");
  }
  program.localBytes = uint32_t(at + size);
  return true;
}

bool Decoder::readStatement(const ptx::Statement &statement, uint32_t &count) {
  Scope &here = scopes[size_t(scope)];
  switch (statement.kind) {
  case ptx::Statement::Kind::Instruction: {
    const ptx::Instruction &next = function.instructions[statement.index];
    uint32_t size = next.opcode == "call" ? countCall(next) : 1;
    count += size;
    return size != 0;
  }
  case ptx::Statement::Kind::Label:
    return here.labels.emplace(statement.text, count).second ||
           fail(statement.at,
                "label " + quote(statement.text) + " is there twice");
  case ptx::Statement::Kind::Open:
    scopes.emplace_back();
    scopes.back().parent = scope;
    scope = int(scopes.size()) - 1;
    return true;
  case ptx::Statement::Kind::Close:
    scope = here.parent;
    return true;
  case ptx::Statement::Kind::Registers:
    return declare(function.registers[statement.index], statement.at);
  case ptx::Statement::Kind::Variable:
    return declare(function.variables[statement.index]);
  case ptx::Statement::Kind::BranchTargets:
  case ptx::Statement::Kind::Loc:
  case ptx::Statement::Kind::Pragma:
    return true;
  case ptx::Statement::Kind::Raw:
    return fail(statement.at, "calls by address are not supported");
  }
  return true;
}

/// Collects what every scope declares; labels may be used before they stand.
bool Decoder::readScopes() {
  scopes.emplace_back();
  scope = 0;
  if (!layOutParams() || !layOutShared() || !readDirectives()) {
    return false;
  }
  auto count = uint32_t(program.code.size());
  std::string_view lastLabel;
  for (const ptx::Statement &statement : function.body) {
    if (statement.kind == ptx::Statement::Kind::BranchTargets) {
      scopes[size_t(scope)].targets[lastLabel] = statement.labels;
    }
    lastLabel = statement.kind == ptx::Statement::Kind::Label
                    ? statement.text
                    : std::string_view();
    if (!readStatement(statement, count)) {
      return false;
    }
  }
  if (returnTarget == kNone) {
    program.dynamicShared = uint32_t(alignUp(sharedEnd, dynamicAlign));
  }
  for (Scope &each : scopes) {
    for (std::string_view name : dynamicNames) {
      auto found = each.variables.find(name);
      if (found != each.variables.end()) {
        found->second.address = program.dynamicShared;
      }
    }
  }
  return true;
}

uint32_t Decoder::addOrigin(const ptx::Instruction &instruction) {
  program.origins.push_back(&instruction);
  return uint32_t(program.origins.size() - 1);
}

bool Decoder::decodeInstruction(const ptx::Instruction &instruction) {
  if (instruction.opcode == "call") {
    return decodeCall(instruction);
  }
  Match match;
  std::string problem;
  if (!table.findRow(instruction, match, problem)) {
    return fail(instruction.at, problem);
  }
  use = {};
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
    if (!predicate(guard, inst.guard, inst.guardNegated)) {
      return false;
    }
  }
  if (!decodeOperands(instruction, match, inst)) {
    return false;
  }
  if (instruction.opcode == "ret" && returnTarget != kNone) {
    return appendBranch(inst, returnTarget);
  }
  if (!inst.run) {
    return fail(instruction.at,
                "no handler for " + quote(ptx::print(instruction)));
  }
  noteFlow(instruction, inst);
  program.code.push_back(inst);
  uses.push_back(std::move(use));
  return true;
}

/// %is_explicit_cluster is a guard, but no register.
void Decoder::noteGuard(const Inst &inst) {
  use.isGuarded = inst.guard != kNone;
  use.readsGuard =
      use.isGuarded && inst.guard != program.explicitClusterPredicate;
}

/// What the register plan has to know of an instruction besides its operands.
void Decoder::noteFlow(const ptx::Instruction &instruction, const Inst &inst) {
  std::string_view opcode = instruction.opcode;
  noteGuard(inst);
  bool hasList = inst.listSize != 0;
  use.kind = opcode == "mov"
                 ? (hasList ? RegisterUse::Kind::Pack : RegisterUse::Kind::Copy)
             : opcode == "wgmma" && hasList ? RegisterUse::Kind::Wgmma
                                            : RegisterUse::Kind::Plain;
  if (opcode == "bra") {
    use.targets = {uint32_t(inst.imm)};
  } else if (opcode == "brx") {
    auto first = program.lists.begin() + inst.list;
    use.targets.assign(first, first + inst.listSize);
  }
  bool leaves = opcode == "ret" || opcode == "exit" || opcode == "trap";
  use.fallsThrough = use.isGuarded || (!leaves && use.targets.empty());
}

/// Walks the statements a second time, through the same scopes.
bool Decoder::decodeBody() {
  int opened = 0;
  scope = 0;
  for (const ptx::Statement &statement : function.body) {
    switch (statement.kind) {
    case ptx::Statement::Kind::Open:
      scope = ++opened;
      break;
    case ptx::Statement::Kind::Close:
      scope = scopes[size_t(scope)].parent;
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

bool Decoder::decodeFunction() {
  program.function = &function;
  if (!readScopes() || !decodeBody()) {
    return false;
  }
  if (program.code.empty()) {
    return fail(function.at, "expected at least one instruction");
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

/// ISA versions whose instructions are known: LLVM's first, and nvcc 13.0's.
static constexpr double kFirstVersion = 3.2;
static constexpr double kLastVersion = 9.0;

static bool isOneOf(std::string_view name,
                    std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// PTX of targets up to sm_90 executes on an sm_90; that with an "a" there
/// alone.
static bool isKnownTarget(std::string_view name) {
  return isOneOf(name, {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62",
                        "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87",
                        "sm_88", "sm_89", "sm_90", "sm_90a"}) ||
         isOneOf(name, {"debug", "texmode_independent", "texmode_unified"});
}

/// What the module's first lines ask for that is not simulated, or "".
static std::string checkHeader(const ptx::Module &module) {
  double version = std::strtod(std::string(module.version).c_str(), nullptr);
  if (version < kFirstVersion || version > kLastVersion) {
    return "expected '.version' 3.2 to 9.0, got " + std::string(module.version);
  }
  for (std::string_view target : module.targets) {
    if (!isKnownTarget(target)) {
      return "expected '.target' sm_50 to sm_90 or sm_90a, got " +
             std::string(target);
    }
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
  program.module = module;
  const ptx::Function *found = nullptr;
  for (const ptx::Function &function : module->functions) {
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
  diagnostic.message = checkHeader(*module);
  if (!diagnostic.message.empty()) {
    return false;
  }
  return Decoder(table, *module, *found, program, diagnostic).decodeFunction();
}
