// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/declarations.h"

#include "core/decode_call.h"

#include <algorithm>

using namespace attn::sim;

/// More than on any GPU.
static constexpr uint64_t kMaxSharedBytes = 1 << 20;
static constexpr uint64_t kMaxParamBytes = 32 << 10;

std::string attn::sim::quote(std::string_view name) {
  return "'" + std::string(name) + "'";
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

bool Declarations::layOutParams() {
  if (call.returnTarget != kNone) {
    scopes.outermost().variables.insert(call.bound.begin(), call.bound.end());
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
    scopes.outermost().variables[param.name] = {SymbolAddress::Space::Param,
                                                offset};
    offset += size;
    if (offset > kMaxParamBytes) {
      return fail(param.at, "expected at most 32768 bytes of parameters");
    }
  }
  program.paramBytes = uint32_t(offset);
  return true;
}

/// The memory of a CTA or thread has no defined content at its start.
bool Declarations::checkNoInitializer(const ptx::Variable &variable) {
  return variable.initializer.empty() ||
         fail(variable.at, "expected no initializer of " +
                               quote(variable.name) + ", which is in " +
                               quote(variable.space));
}

static bool isExtern(const ptx::Variable &variable) {
  return std::find(variable.linkage.begin(), variable.linkage.end(),
                   ".extern") != variable.linkage.end();
}

bool Declarations::placeShared(const ptx::Variable &variable,
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

/// Lays out the module's shared variables first, so that a kernel and the
/// functions that it calls agree on their addresses. Other variables are
/// refused where they are used.
bool Declarations::layOutShared() {
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space == ".shared" &&
        !placeShared(variable, scopes.outermost().variables[variable.name])) {
      return false;
    }
  }
  moduleSharedEnd = sharedEnd;
  return true;
}

/// Extents that a directive omits are 1.
static void readExtents(const ptx::Directive &directive, unsigned (&out)[3]) {
  for (size_t i = 0; i < 3; ++i) {
    uint64_t extent = i < directive.values.size() ? directive.values[i] : 1;
    out[i] = unsigned(std::min<uint64_t>(extent, 1 << 16));
  }
}

bool Declarations::readDirectives() {
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

bool Declarations::declare(const ptx::Registers &registers, Position at) {
  Width width = Width::Predicate;
  if (!registers.vector.empty()) {
    return fail(at, "vector registers are not supported");
  }
  if (registers.type != ".pred") {
    unsigned bytes = typeSize(registers.type);
    if (bytes == 0) {
      return fail(at, "unsupported register type " + quote(registers.type));
    }
    width = bytes == 1   ? Width::B8
            : bytes == 2 ? Width::B16
            : bytes == 4 ? Width::B32
            : bytes == 8 ? Width::B64
                         : Width::B128;
  }
  NameScope &here = scopes.here();
  for (const ptx::Registers::Item &item : registers.items) {
    bool isFresh = true;
    if (item.count < 0) {
      isFresh = here.registers.insert({item.name, {width, kNone}}).second;
    } else {
      isFresh = std::none_of(
          here.families.begin(), here.families.end(),
          [&](const RegisterFamily &each) { return each.prefix == item.name; });
      here.families.push_back({item.name, uint64_t(item.count), width});
    }
    if (!isFresh) {
      return fail(at, "register " + quote(item.name) + " is there twice");
    }
  }
  return true;
}

bool Declarations::declare(const ptx::Variable &variable) {
  NameScope &here = scopes.here();
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

bool Declarations::readStatement(const ptx::Statement &statement,
                                 uint32_t &count) {
  NameScope &here = scopes.here();
  switch (statement.kind) {
  case ptx::Statement::Kind::Instruction: {
    const ptx::Instruction &next = function.instructions[statement.index];
    uint32_t size =
        next.opcode == "call" ? countCall(module, next, diagnostic) : 1;
    count += size;
    return size != 0;
  }
  case ptx::Statement::Kind::Label:
    return here.labels.emplace(statement.text, count).second ||
           fail(statement.at,
                "label " + quote(statement.text) + " is there twice");
  case ptx::Statement::Kind::Open:
    scopes.openScope();
    return true;
  case ptx::Statement::Kind::Close:
    scopes.leaveScope();
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

bool Declarations::collect() {
  if (!layOutParams() || !layOutShared() || !readDirectives()) {
    return false;
  }
  auto count = uint32_t(program.code.size());
  std::string_view lastLabel;
  for (const ptx::Statement &statement : function.body) {
    if (statement.kind == ptx::Statement::Kind::BranchTargets) {
      scopes.here().targets[lastLabel] = statement.labels;
    }
    lastLabel = statement.kind == ptx::Statement::Kind::Label
                    ? statement.text
                    : std::string_view();
    if (!readStatement(statement, count)) {
      return false;
    }
  }
  if (call.returnTarget == kNone) {
    program.dynamicShared = uint32_t(alignUp(sharedEnd, dynamicAlign));
  }
  for (std::string_view name : dynamicNames) {
    scopes.place(name, program.dynamicShared);
  }
  return true;
}
