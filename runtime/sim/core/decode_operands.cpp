// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From operands to slots.

#include "core/decoder.h"

#include <cstring>

using namespace attn::sim;
using Kind = ptx::Operand::Kind;

static const struct {
  const char *name;
  const char *member;
  Special special;
} kSpecials[] = {
    {"%tid", ".x", Special::TidX},
    {"%tid", ".y", Special::TidY},
    {"%tid", ".z", Special::TidZ},
    {"%ntid", ".x", Special::NtidX},
    {"%ntid", ".y", Special::NtidY},
    {"%ntid", ".z", Special::NtidZ},
    {"%ctaid", ".x", Special::CtaidX},
    {"%ctaid", ".y", Special::CtaidY},
    {"%ctaid", ".z", Special::CtaidZ},
    {"%nctaid", ".x", Special::NctaidX},
    {"%nctaid", ".y", Special::NctaidY},
    {"%nctaid", ".z", Special::NctaidZ},
    {"%laneid", "", Special::LaneId},
    {"%warpid", "", Special::WarpId},
    {"%nwarpid", "", Special::NWarpId},
    {"%cluster_ctarank", "", Special::ClusterCtaRank},
    {"%cluster_nctarank", "", Special::ClusterNctaRank},
    {"%cluster_ctaid", ".x", Special::ClusterCtaidX},
    {"%cluster_ctaid", ".y", Special::ClusterCtaidY},
    {"%cluster_ctaid", ".z", Special::ClusterCtaidZ},
    {"%cluster_nctaid", ".x", Special::ClusterNctaidX},
    {"%cluster_nctaid", ".y", Special::ClusterNctaidY},
    {"%cluster_nctaid", ".z", Special::ClusterNctaidZ},
    {"%clusterid", ".x", Special::ClusteridX},
    {"%clusterid", ".y", Special::ClusteridY},
    {"%clusterid", ".z", Special::ClusteridZ},
    {"%nclusterid", ".x", Special::NclusteridX},
    {"%nclusterid", ".y", Special::NclusteridY},
    {"%nclusterid", ".z", Special::NclusteridZ},
    {"%lanemask_eq", "", Special::LanemaskEq},
    {"%lanemask_le", "", Special::LanemaskLe},
    {"%lanemask_lt", "", Special::LanemaskLt},
    {"%lanemask_ge", "", Special::LanemaskGe},
    {"%lanemask_gt", "", Special::LanemaskGt},
    {"%smid", "", Special::SmId},
    {"%nsmid", "", Special::NSmId},
    {"%gridid", "", Special::GridId},
    {"%dynamic_smem_size", "", Special::DynamicSmemSize},
    {"%total_smem_size", "", Special::TotalSmemSize},
};

static std::string spell(const ptx::Operand &operand) {
  constexpr size_t longest = 40;
  std::string text = ptx::print(operand);
  return "'" +
         (text.size() <= longest ? text : text.substr(0, longest) + "...") +
         "'";
}

uint32_t Decoder::allocate(Width width) {
  if (width == Width::Predicate) {
    return program.predicates++;
  }
  uint32_t slot = program.words;
  program.words += kLanes * (width == Width::B128  ? 4
                             : width == Width::B64 ? 2
                                                   : 1);
  return slot;
}

uint32_t Decoder::preset(const PresetSlot &slot) {
  PresetSlot placed = slot;
  placed.slot = allocate(slot.wide ? Width::B64 : Width::B32);
  program.presets.push_back(placed);
  return placed.slot;
}

uint32_t Decoder::constant(uint64_t value, unsigned bytes) {
  bool wide = bytes == 8;
  value &= bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
  auto [entry, fresh] = constants.try_emplace({value, wide}, kNone);
  if (fresh) {
    PresetSlot slot;
    slot.wide = wide;
    slot.value = value;
    entry->second = preset(slot);
  }
  return entry->second;
}

uint32_t Decoder::truePredicate() {
  if (program.truePredicates.empty()) {
    program.truePredicates.push_back(allocate(Width::Predicate));
  }
  return program.truePredicates[0];
}

/// A register of this scope itself, one of a family included.
Register *Decoder::findInScope(Scope &here, std::string_view name) {
  auto found = here.registers.find(name);
  if (found != here.registers.end()) {
    return &found->second;
  }
  for (const Family &family : here.families) {
    std::string_view prefix = family.prefix;
    if (name.size() <= prefix.size() || name.size() > prefix.size() + 7 ||
        name.substr(0, prefix.size()) != prefix) {
      continue;
    }
    uint64_t number = 0;
    bool digits =
        name[prefix.size()] != '0' || name.size() == prefix.size() + 1;
    for (char c : name.substr(prefix.size())) {
      digits &= c >= '0' && c <= '9';
      number = number * 10 + uint64_t(c - '0');
    }
    if (digits && number < family.count) {
      return &(here.registers[name] = {family.width, kNone});
    }
  }
  return nullptr;
}

const Register *Decoder::findRegister(const ptx::Operand &operand) {
  if (operand.kind != Kind::Name || !operand.member.empty()) {
    return nullptr;
  }
  for (int at = scope; at >= 0; at = scopes[size_t(at)].parent) {
    Register *found = findInScope(scopes[size_t(at)], operand.name);
    if (found) {
      if (found->slot == kNone) {
        found->slot = allocate(found->width);
      }
      return found;
    }
  }
  return nullptr;
}

const SymbolAddress *Decoder::findVariable(std::string_view name) const {
  for (int at = scope; at >= 0; at = scopes[size_t(at)].parent) {
    auto found = scopes[size_t(at)].variables.find(name);
    if (found != scopes[size_t(at)].variables.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

RegisterName Decoder::nameOf(const Register &found,
                             const ptx::Operand &operand) const {
  bool isPredicate = found.width == Width::Predicate;
  return {isPredicate ? found.slot : found.slot / kLanes, isPredicate,
          operand.name};
}

bool Decoder::destination(const ptx::Operand &operand, unsigned bytes,
                          uint32_t &slot) {
  if (operand.kind == Kind::Sink) {
    slot = allocate(bytes == 0    ? Width::Predicate
                    : bytes == 8  ? Width::B64
                    : bytes == 16 ? Width::B128
                                  : Width::B32);
    return true;
  }
  const Register *found = findRegister(operand);
  if (!found || operand.negated || operand.offset != 0) {
    return fail(operand.at, "expected a register, got " + spell(operand));
  }
  if (bytesOf(found->width) != bytes) {
    return fail(operand.at,
                "expected a register of another width than " + spell(operand));
  }
  slot = found->slot;
  use.writes.push_back(nameOf(*found, operand));
  return true;
}

bool Decoder::symbolSource(const ptx::Operand &operand, unsigned bytes,
                           uint32_t &slot) {
  for (const auto &each : kSpecials) {
    if (operand.name == each.name && operand.member == each.member) {
      auto [entry, fresh] =
          specials.try_emplace({each.special, bytes == 8}, kNone);
      if (fresh) {
        PresetSlot special;
        special.kind = PresetSlot::Kind::Special;
        special.special = each.special;
        special.wide = bytes == 8;
        entry->second = preset(special);
      }
      slot = entry->second;
      return true;
    }
  }
  const SymbolAddress *variable = findVariable(operand.name);
  if (!variable || !operand.member.empty() || bytes < 4) {
    return fail(operand.at, "unknown name " + spell(operand));
  }
  uint64_t value = variable->address + uint64_t(operand.offset);
  if (variable->space != SymbolAddress::Space::Shared) {
    slot = constant(value, bytes);
    return true;
  }
  auto [entry, fresh] = sharedAddresses.try_emplace({value, bytes == 8}, kNone);
  if (fresh) {
    PresetSlot address;
    address.kind = PresetSlot::Kind::SharedAddress;
    address.wide = bytes == 8;
    address.value = value;
    entry->second = preset(address);
  }
  slot = entry->second;
  return true;
}

bool Decoder::source(const ptx::Operand &operand, unsigned bytes,
                     uint32_t &slot, bool isFloat) {
  uint64_t bits = operand.bits;
  if (bytes == 16 && operand.kind != Kind::Name) {
    return fail(operand.at, "expected a 128-bit register");
  }
  switch (operand.kind) {
  case Kind::Name:
    break;
  case Kind::Integer:
    if (isFloat) {
      return fail(operand.at, "expected a floating-point immediate");
    }
    slot = constant(bits, bytes);
    return true;
  case Kind::Single:
    if (bytes != 4) {
      return fail(operand.at, "expected no 32-bit floating-point immediate");
    }
    slot = constant(bits, 4);
    return true;
  case Kind::Double:
    if (bytes == 4 && isFloat) {
      double wide = 0;
      std::memcpy(&wide, &bits, sizeof(wide));
      float narrow = float(wide);
      uint32_t narrowBits = 0;
      std::memcpy(&narrowBits, &narrow, sizeof(narrow));
      bits = narrowBits;
    } else if (bytes != 8) {
      return fail(operand.at, "expected no 64-bit floating-point immediate");
    }
    slot = constant(bits, bytes);
    return true;
  default:
    return fail(operand.at, "expected a register or an immediate");
  }
  const Register *found = findRegister(operand);
  if (!found && bytes < 16) {
    return symbolSource(operand, bytes, slot);
  }
  if (!found) {
    return fail(operand.at, "expected a register, got " + spell(operand));
  }
  if (operand.negated || operand.offset != 0) {
    return fail(operand.at, "expected a plain register");
  }
  if (bytesOf(found->width) != bytes) {
    return fail(operand.at,
                "expected a register of another width than " + spell(operand));
  }
  slot = found->slot;
  use.reads.push_back(nameOf(*found, operand));
  return true;
}

bool Decoder::predicate(const ptx::Operand &operand, uint32_t &slot,
                        bool &negated) {
  negated = operand.negated;
  if (operand.kind == Kind::Integer) {
    slot = truePredicate();
    negated = operand.bits == 0;
    return true;
  }
  if (operand.name == "%is_explicit_cluster" && operand.member.empty()) {
    uint32_t &explicitly = program.explicitClusterPredicate;
    explicitly = explicitly == kNone ? allocate(Width::Predicate) : explicitly;
    slot = explicitly;
    return true;
  }
  const Register *found = findRegister(operand);
  if (!found || found->width != Width::Predicate) {
    return fail(operand.at, "expected a predicate, got " + spell(operand));
  }
  slot = found->slot;
  use.reads.push_back(nameOf(*found, operand));
  return true;
}

bool Decoder::address(const ptx::Operand &operand, Inst &inst, uint32_t &slot) {
  if (operand.kind != Kind::Address) {
    return fail(operand.at, "expected an address in brackets");
  }
  if (operand.elements.size() != 1) {
    return fail(operand.at, "expected one address in brackets, got " +
                                std::to_string(operand.elements.size()));
  }
  const ptx::Operand &base = operand.elements[0];
  const Register *found = findRegister(base);
  unsigned bytes = 8;
  if (found) {
    bytes = bytesOf(found->width);
    if (bytes < 4 || bytes > 8) {
      return fail(base.at, "expected a 32- or 64-bit address");
    }
  } else if (base.kind == Kind::Name) {
    const SymbolAddress *symbol = findVariable(base.name);
    bytes = symbol && symbol->space == SymbolAddress::Space::Shared ? 4 : 8;
  }
  inst.wideAddress = bytes == 8;
  inst.imm = operand.offset;
  return source(base, bytes, slot);
}

bool Decoder::isInLocalMemory(const ptx::Operand &address) const {
  const SymbolAddress *symbol = address.kind == Kind::Address
                                    ? findVariable(address.elements[0].name)
                                    : nullptr;
  return symbol && symbol->space == SymbolAddress::Space::Local;
}

bool Decoder::immediate(const ptx::Operand &operand, int64_t &value) {
  if (operand.kind != Kind::Integer) {
    return fail(operand.at, "expected an integer immediate");
  }
  value = int64_t(operand.bits);
  return true;
}

bool Decoder::label(const ptx::Operand &operand, uint32_t &target) {
  for (int at = scope; at >= 0; at = scopes[size_t(at)].parent) {
    auto found = scopes[size_t(at)].labels.find(operand.name);
    if (found != scopes[size_t(at)].labels.end()) {
      target = found->second;
      return true;
    }
  }
  return fail(operand.at, "no label " + spell(operand));
}

bool Decoder::branchTargets(const ptx::Operand &operand, Inst &inst) {
  for (int at = scope; at >= 0; at = scopes[size_t(at)].parent) {
    auto found = scopes[size_t(at)].targets.find(operand.name);
    if (found == scopes[size_t(at)].targets.end()) {
      continue;
    }
    for (std::string_view name : found->second) {
      ptx::Operand each = operand;
      each.name = name;
      uint32_t target = 0;
      if (!label(each, target)) {
        return false;
      }
      append(inst, target);
    }
    return true;
  }
  return fail(operand.at, "no branch targets " + spell(operand));
}

void Decoder::append(Inst &inst, uint32_t slot) {
  program.lists.push_back(slot);
  ++inst.listSize;
}

bool Decoder::sources(const ptx::Operand &operand, unsigned bytes, Inst &inst) {
  uint32_t slot = 0;
  if (operand.kind != Kind::Vector) {
    if (!source(operand, bytes, slot)) {
      return false;
    }
    append(inst, slot);
    return true;
  }
  for (const ptx::Operand &element : operand.elements) {
    if (!source(element, bytes, slot)) {
      return false;
    }
    append(inst, slot);
  }
  return true;
}

bool Decoder::destinations(const ptx::Operand &operand, unsigned bytes,
                           Inst &inst) {
  uint32_t slot = 0;
  if (operand.kind != Kind::Vector) {
    if (!destination(operand, bytes, slot)) {
      return false;
    }
    append(inst, slot);
    return true;
  }
  for (const ptx::Operand &element : operand.elements) {
    if (!destination(element, bytes, slot)) {
      return false;
    }
    append(inst, slot);
  }
  return true;
}

bool Decoder::countOperands(const ptx::Instruction &instruction, size_t least,
                            size_t most) {
  size_t count = instruction.operands.size();
  if (count >= least && count <= most) {
    return true;
  }
  return fail(instruction.at,
              "expected " + std::to_string(least) +
                  (least == most ? "" : " to " + std::to_string(most)) +
                  " operands, got " + std::to_string(count));
}

bool Decoder::decodePair(const ptx::Operand &operand, unsigned bytes,
                         Inst &inst, unsigned &next) {
  const bool pair = operand.kind == Kind::Pair;
  const ptx::Operand &first = pair ? operand.elements[0] : operand;
  if (!destination(first, bytes, inst.slots[next++])) {
    return false;
  }
  uint32_t &second = inst.slots[next++];
  return !pair || destination(operand.elements[1], 0, second);
}

bool Decoder::decodeOperand(const ptx::Operand &operand,
                            std::string_view letters, Inst &inst,
                            unsigned &next) {
  if (letters == "p") {
    return predicate(operand, inst.slots[next++], inst.negated);
  }
  if (letters == "m") {
    return address(operand, inst, inst.slots[next++]);
  }
  if (letters == "i") {
    return immediate(operand, inst.imm);
  }
  if (letters == "dpp") {
    return decodePair(operand, 0, inst, next);
  }
  if (letters == "d4p") {
    return decodePair(operand, 4, inst, next);
  }
  if (letters == "dp") {
    return destination(operand, 0, inst.slots[next++]);
  }
  unsigned bytes = unsigned(letters.back() - '0');
  if (letters[0] == 'd') {
    return destination(operand, bytes, inst.slots[next++]);
  }
  return source(operand, bytes, inst.slots[next++], letters[0] == 'f');
}

bool Decoder::decodeOperands(const ptx::Instruction &instruction,
                             const Match &match, Inst &inst) {
  std::string_view letters = match.row->operands;
  size_t given = instruction.operands.size();
  size_t used = 0;
  unsigned next = 0;
  while (!letters.empty()) {
    size_t end = std::min(letters.find(' '), letters.size());
    std::string_view word = letters.substr(0, end);
    letters.remove_prefix(std::min(end + 1, letters.size()));
    if (word == "*") {
      used = given;
      break;
    }
    bool optional = word[0] == '?';
    if (used == given) {
      if (optional) {
        continue;
      }
      return fail(instruction.at,
                  "expected more than " + std::to_string(given) + " operands");
    }
    if (!decodeOperand(instruction.operands[used++],
                       word.substr(optional ? 1 : 0), inst, next)) {
      return false;
    }
  }
  if (used != given) {
    return fail(instruction.at, "expected " + std::to_string(used) +
                                    " operands, got " + std::to_string(given));
  }
  return !match.row->finish ||
         match.row->finish(*this, instruction, match, inst);
}
