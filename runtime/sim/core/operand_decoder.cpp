// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/operand_decoder.h"

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

bool OperandDecoder::fail(Position at, const std::string &message) {
  return diagnostic.fail(at, message);
}

const Register *OperandDecoder::findRegister(const ptx::Operand &operand) {
  if (operand.kind != Kind::Name || !operand.member.empty()) {
    return nullptr;
  }
  Register *found = scopes.findRegister(operand.name);
  if (found && found->slot == kNone) {
    found->slot = slots.allocate(found->width);
  }
  return found;
}

static RegisterName nameOf(const Register &found, const ptx::Operand &operand) {
  bool isPredicate = found.width == Width::Predicate;
  return {isPredicate ? found.slot : found.slot / kLanes, isPredicate,
          operand.name};
}

bool OperandDecoder::decodeDestination(const ptx::Operand &operand,
                                       unsigned bytes, uint32_t &slot) {
  if (operand.kind == Kind::Sink) {
    slot = slots.allocate(bytes == 0    ? Width::Predicate
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

bool OperandDecoder::symbolSource(const ptx::Operand &operand, unsigned bytes,
                                  uint32_t &slot) {
  for (const auto &each : kSpecials) {
    if (operand.name == each.name && operand.member == each.member) {
      slot = slots.special(each.special, bytes);
      return true;
    }
  }
  const SymbolAddress *variable = scopes.findVariable(operand.name);
  if (!variable || !operand.member.empty() || bytes < 4) {
    return fail(operand.at, "unknown name " + spell(operand));
  }
  uint64_t value = variable->address + uint64_t(operand.offset);
  if (variable->space != SymbolAddress::Space::Shared) {
    slot = slots.constant(value, bytes);
    return true;
  }
  slot = slots.sharedAddress(value, bytes);
  return true;
}

bool OperandDecoder::decodeSource(const ptx::Operand &operand, unsigned bytes,
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
    slot = slots.constant(bits, bytes);
    return true;
  case Kind::Single:
    if (bytes != 4) {
      return fail(operand.at, "expected no 32-bit floating-point immediate");
    }
    slot = slots.constant(bits, 4);
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
    slot = slots.constant(bits, bytes);
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

bool OperandDecoder::decodePredicate(const ptx::Operand &operand,
                                     uint32_t &slot, bool &negated) {
  negated = operand.negated;
  if (operand.kind == Kind::Integer) {
    slot = slots.truePredicate();
    negated = operand.bits == 0;
    return true;
  }
  if (operand.name == "%is_explicit_cluster" && operand.member.empty()) {
    slot = slots.explicitCluster();
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

bool OperandDecoder::decodeAddress(const ptx::Operand &operand, Inst &inst,
                                   uint32_t &slot) {
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
    const SymbolAddress *symbol = scopes.findVariable(base.name);
    bytes = symbol && symbol->space == SymbolAddress::Space::Shared ? 4 : 8;
  }
  inst.wideAddress = bytes == 8;
  inst.imm = operand.offset;
  return decodeSource(base, bytes, slot);
}

bool OperandDecoder::isInLocalMemory(const ptx::Operand &address) const {
  const SymbolAddress *symbol =
      address.kind == Kind::Address
          ? scopes.findVariable(address.elements[0].name)
          : nullptr;
  return symbol && symbol->space == SymbolAddress::Space::Local;
}

bool OperandDecoder::decodeImmediate(const ptx::Operand &operand,
                                     int64_t &value) {
  if (operand.kind != Kind::Integer) {
    return fail(operand.at, "expected an integer immediate");
  }
  value = int64_t(operand.bits);
  return true;
}

bool OperandDecoder::decodeLabel(const ptx::Operand &operand,
                                 uint32_t &target) {
  const uint32_t *found = scopes.findLabel(operand.name);
  if (!found) {
    return fail(operand.at, "no label " + spell(operand));
  }
  target = *found;
  return true;
}

bool OperandDecoder::decodeBranchTargets(const ptx::Operand &operand,
                                         Inst &inst) {
  const std::vector<std::string_view> *found = scopes.findTargets(operand.name);
  if (!found) {
    return fail(operand.at, "no branch targets " + spell(operand));
  }
  for (std::string_view name : *found) {
    ptx::Operand each = operand;
    each.name = name;
    uint32_t target = 0;
    if (!decodeLabel(each, target)) {
      return false;
    }
    appendSlot(inst, target);
  }
  return true;
}

void OperandDecoder::appendSlot(Inst &inst, uint32_t slot) {
  program.lists.push_back(slot);
  ++inst.listSize;
}

bool OperandDecoder::decodeSources(const ptx::Operand &operand, unsigned bytes,
                                   Inst &inst) {
  uint32_t slot = 0;
  if (operand.kind != Kind::Vector) {
    if (!decodeSource(operand, bytes, slot)) {
      return false;
    }
    appendSlot(inst, slot);
    return true;
  }
  for (const ptx::Operand &element : operand.elements) {
    if (!decodeSource(element, bytes, slot)) {
      return false;
    }
    appendSlot(inst, slot);
  }
  return true;
}

bool OperandDecoder::decodeDestinations(const ptx::Operand &operand,
                                        unsigned bytes, Inst &inst) {
  uint32_t slot = 0;
  if (operand.kind != Kind::Vector) {
    if (!decodeDestination(operand, bytes, slot)) {
      return false;
    }
    appendSlot(inst, slot);
    return true;
  }
  for (const ptx::Operand &element : operand.elements) {
    if (!decodeDestination(element, bytes, slot)) {
      return false;
    }
    appendSlot(inst, slot);
  }
  return true;
}

bool OperandDecoder::countOperands(const ptx::Instruction &instruction,
                                   size_t least, size_t most) {
  size_t count = instruction.operands.size();
  if (count >= least && count <= most) {
    return true;
  }
  return fail(instruction.at,
              "expected " + std::to_string(least) +
                  (least == most ? "" : " to " + std::to_string(most)) +
                  " operands, got " + std::to_string(count));
}

bool OperandDecoder::requireTargets(const ptx::Instruction &instruction,
                                    TargetSet targets) {
  if (targets & program.target) {
    return true;
  }
  std::string form = std::string(instruction.opcode);
  for (std::string_view modifier : instruction.modifiers) {
    form += modifier;
  }
  return fail(instruction.at,
              notForTarget("'" + form + "'", targets, program.target));
}

static bool decodePair(OperandDecoder &decoder, const ptx::Operand &operand,
                       unsigned bytes, Inst &inst, unsigned &next) {
  const bool pair = operand.kind == Kind::Pair;
  const ptx::Operand &first = pair ? operand.elements[0] : operand;
  if (!decoder.decodeDestination(first, bytes, inst.slots[next++])) {
    return false;
  }
  uint32_t &second = inst.slots[next++];
  return !pair || decoder.decodeDestination(operand.elements[1], 0, second);
}

static bool decodeOperand(OperandDecoder &decoder, const ptx::Operand &operand,
                          std::string_view letters, Inst &inst,
                          unsigned &next) {
  if (letters == "p") {
    return decoder.decodePredicate(operand, inst.slots[next++], inst.negated);
  }
  if (letters == "m") {
    return decoder.decodeAddress(operand, inst, inst.slots[next++]);
  }
  if (letters == "i") {
    return decoder.decodeImmediate(operand, inst.imm);
  }
  if (letters == "dpp") {
    return decodePair(decoder, operand, 0, inst, next);
  }
  if (letters == "d4p") {
    return decodePair(decoder, operand, 4, inst, next);
  }
  if (letters == "dp") {
    return decoder.decodeDestination(operand, 0, inst.slots[next++]);
  }
  unsigned bytes = unsigned(letters.back() - '0');
  if (letters[0] == 'd') {
    return decoder.decodeDestination(operand, bytes, inst.slots[next++]);
  }
  return decoder.decodeSource(operand, bytes, inst.slots[next++],
                              letters[0] == 'f');
}

bool attn::sim::decodeOperands(OperandDecoder &decoder,
                               const ptx::Instruction &instruction,
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
      return decoder.fail(instruction.at, "expected more than " +
                                              std::to_string(given) +
                                              " operands");
    }
    if (!decodeOperand(decoder, instruction.operands[used++],
                       word.substr(optional ? 1 : 0), inst, next)) {
      return false;
    }
  }
  if (used != given) {
    return decoder.fail(instruction.at, "expected " + std::to_string(used) +
                                            " operands, got " +
                                            std::to_string(given));
  }
  return !match.row->finish ||
         match.row->finish(decoder, instruction, match, inst);
}
