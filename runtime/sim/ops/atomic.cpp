// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red, of one element a lane or of a vector, which is not atomic as a
// whole.

#include "hazards/tracker.h"
#include "ops/async_signal.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/scope.h"
#include "units/reduce_op.h"

#include <algorithm>

using namespace attn::sim;

namespace {

enum class Action : uint8_t { Reduce, Exchange, CompareAndSwap };

/// Packed into Inst::aux.
struct Atomic {
  Space space = Space::Generic;
  Action action = Action::Reduce;
  ReduceOp op = ReduceOp::Add;
  ReduceType type = ReduceType::U32;
  uint8_t bytes = 4;
  /// atom, which has a destination.
  bool hasResult = false;
  /// Elements packed in one register.
  uint8_t elements = 1;
  /// kAcquires, kReleases, and the scope above them.
  uint8_t order = 0;
};
static_assert(sizeof(Atomic) == 8, "fits Inst::aux");

constexpr uint8_t kAcquires = 1;
constexpr uint8_t kReleases = 2;
constexpr unsigned kScopeShift = 2;

/// In one register.
uint64_t reduceElements(const Atomic &how, uint64_t old, uint64_t operand) {
  if (how.elements == 1) {
    bool inShared = isShared(how.space);
    ReduceMode mode = {/*ftz=*/!inShared, inShared};
    return applyReduce(how.op, how.type, old, operand, mode);
  }
  uint64_t low = applyReduce(how.op, how.type, old & 0xffff, operand & 0xffff);
  uint64_t high = applyReduce(how.op, how.type, old >> 16, operand >> 16);
  return high << 16 | low;
}

bool addsFloats(const Atomic &how) {
  return how.action == Action::Reduce && isFloatSum(how.op, how.type);
}

void beginAtomic(Warp &warp, const Atomic &how) {
  warp.cta.notePoll();
  if (!warp.cta.hazards) {
    return;
  }
  MemoryAction action;
  action.reads = true;
  action.writes = true;
  action.returns = how.hasResult;
  action.scope = Scope(how.order >> kScopeShift);
  action.acquires = how.order & kAcquires;
  action.releases = how.order & kReleases;
  action.adds = addsFloats(how);
  warp.cta.hazards->plain.begin(warp, action);
}

/// The memory of one lane's operation, or null after a fault.
uint8_t *locate(Warp &warp, const Inst &inst, const Atomic &how, unsigned lane,
                uint32_t bytes) {
  uint64_t address = address64(warp, inst, inst.slots[0], lane);
  address &= isShared(how.space) ? 0xffffffff : ~uint64_t(0);
  if (address % bytes != 0) {
    warp.fault(Rule::Align, "misaligned address", lane);
    return nullptr;
  }
  std::string problem;
  uint8_t *memory =
      warp.cta.resolve(how.space, address, bytes, true, warp, lane, problem);
  if (!memory) {
    warp.fault(problem, lane);
  } else if (warp.cta.hazards) {
    warp.cta.hazards->plain.access(warp, lane, how.space, address, bytes);
  }
  return memory;
}

/// Slots: address, operand, second operand (of cas), destination.
Step atomic(Warp &warp, const Inst &inst) {
  Atomic how = bitCast<Atomic>(inst.aux);
  auto read = [&](uint32_t slot, unsigned lane) {
    return how.bytes == 8 ? warp.wide(slot)[lane] : warp.word(slot)[lane];
  };
  auto lock = lockAccess(Scope(how.order >> kScopeShift));
  beginAtomic(warp, how);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint8_t *memory = locate(warp, inst, how, lane, how.bytes);
    if (!memory) {
      return Step::Fault;
    }
    uint64_t old = 0;
    std::memcpy(&old, memory, how.bytes);
    uint64_t operand = read(inst.slots[1], lane);
    uint64_t value = operand;
    if (how.action == Action::Reduce) {
      value = reduceElements(how, old, operand);
    } else if (how.action == Action::CompareAndSwap) {
      value = old == operand ? read(inst.slots[2], lane) : old;
    }
    std::memcpy(memory, &value, how.bytes);
    if (how.hasResult && how.bytes == 8) {
      warp.wide(inst.slots[3])[lane] = old;
    } else if (how.hasResult) {
      warp.word(inst.slots[3])[lane] = uint32_t(old);
    }
  }
  return Step::Next;
}

/// atom.exch.b128 and atom.cas.b128. Slots: as of others.
Step wideAtomic(Warp &warp, const Inst &inst) {
  Atomic how = bitCast<Atomic>(inst.aux);
  auto lock = lockAccess(Scope(how.order >> kScopeShift));
  beginAtomic(warp, how);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint8_t *memory = locate(warp, inst, how, lane, sizeof(Wide128));
    if (!memory) {
      return Step::Fault;
    }
    Wide128 old;
    std::memcpy(&old, memory, sizeof(old));
    const Wide128 &operand = warp.at<Wide128>(inst.slots[1])[lane];
    if (how.action == Action::Exchange) {
      std::memcpy(memory, &operand, sizeof(operand));
    } else if (std::memcmp(&old, &operand, sizeof(old)) == 0) {
      std::memcpy(memory, &warp.at<Wide128>(inst.slots[2])[lane], sizeof(old));
    }
    warp.at<Wide128>(inst.slots[3])[lane] = old;
  }
  return Step::Next;
}

/// The list has the operands and, of atom, the destinations.
Step vectorAtomic(Warp &warp, const Inst &inst) {
  Atomic how = bitCast<Atomic>(inst.aux);
  uint32_t count = how.hasResult ? inst.listSize / 2 : inst.listSize;
  const uint32_t *operands = &warp.cta.program.lists[inst.list];
  auto lock = lockAccess(Scope(how.order >> kScopeShift));
  beginAtomic(warp, how);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint8_t *memory = locate(warp, inst, how, lane, count * how.bytes);
    if (!memory) {
      return Step::Fault;
    }
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t old = 0;
      std::memcpy(&old, memory + i * how.bytes, how.bytes);
      uint64_t value = reduceElements(how, old, warp.word(operands[i])[lane]);
      std::memcpy(memory + i * how.bytes, &value, how.bytes);
      if (how.hasResult) {
        warp.word(operands[count + i])[lane] = uint32_t(old);
      }
    }
  }
  return Step::Next;
}

bool parseReduceType(std::string_view name, Atomic &how) {
  static const struct {
    const char *name;
    ReduceType type;
    uint8_t bytes;
    uint8_t elements;
  } types[] = {
      {".u32", ReduceType::U32, 4, 1},     {".s32", ReduceType::S32, 4, 1},
      {".b32", ReduceType::U32, 4, 1},     {".u64", ReduceType::U64, 8, 1},
      {".s64", ReduceType::S64, 8, 1},     {".b64", ReduceType::U64, 8, 1},
      {".f32", ReduceType::F32, 4, 1},     {".f64", ReduceType::F64, 8, 1},
      {".f16", ReduceType::F16, 2, 1},     {".bf16", ReduceType::BF16, 2, 1},
      {".b16", ReduceType::U16, 2, 1},     {".f16x2", ReduceType::F16, 4, 2},
      {".bf16x2", ReduceType::BF16, 4, 2}, {".b128", ReduceType::U64, 16, 1}};
  for (const auto &each : types) {
    if (name == each.name) {
      how.type = each.type;
      how.bytes = each.bytes;
      how.elements = each.elements;
      return true;
    }
  }
  return false;
}

bool parseAction(const Match &match, Atomic &how) {
  how.action = match.has(".exch")  ? Action::Exchange
               : match.has(".cas") ? Action::CompareAndSwap
                                   : Action::Reduce;
  parseReduce(match, how.op);
  return how.action != Action::Reduce || isReduceLegal(how.op, how.type);
}

/// Reads the modifiers that all forms have.
bool parseAtomic(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, std::string_view type, Atomic &how) {
  how.space = match.has(".global") ? Space::Global
              : match.has(".shared") || match.has(".shared::cta")
                  ? Space::Shared
              : match.has(".shared::cluster") ? Space::SharedCluster
                                              : Space::Generic;
  bool both = match.has(".acq_rel");
  how.order = uint8_t(unsigned(scopeOf(match)) << kScopeShift) |
              (both || match.has(".acquire") ? kAcquires : 0) |
              (both || match.has(".release") ? kReleases : 0);
  return (parseReduceType(type, how) && parseAction(match, how)) ||
         decoder.fail(instruction.at, "there is no such operation");
}

template <bool hasResult>
bool finishAtomic(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  Atomic how;
  how.hasResult = hasResult;
  if (!parseAtomic(decoder, instruction, match, match.chosen.back(), how)) {
    return false;
  }
  bool isCas = how.action == Action::CompareAndSwap;
  size_t first = hasResult ? 1 : 0;
  size_t count = first + (isCas ? 3 : 2);
  if (!decoder.countOperands(instruction, count, count)) {
    return false;
  }
  const auto &operands = instruction.operands;
  inst.aux = bitCast<uint64_t>(how);
  bool isFloat = how.type == ReduceType::F32 || how.type == ReduceType::F64;
  return decoder.decodeAddress(operands[first], inst, inst.slots[0]) &&
         decoder.decodeSource(operands[first + 1], how.bytes, inst.slots[1],
                              isFloat) &&
         (!isCas || decoder.decodeSource(operands[first + 2], how.bytes,
                                         inst.slots[2])) &&
         (!hasResult ||
          decoder.decodeDestination(operands[0], how.bytes, inst.slots[3]));
}

/// The number of elements of a vector operand, which is to be `count`.
bool countElements(OperandDecoder &decoder, const ptx::Operand &operand,
                   size_t count) {
  bool isVector = operand.kind == ptx::Operand::Kind::Vector;
  size_t given = isVector ? operand.elements.size() : 1;
  return given == count ||
         decoder.fail(operand.at, "expected " + std::to_string(count) +
                                      " registers, got " +
                                      std::to_string(given));
}

/// At most 16 bytes.
template <bool hasResult>
bool finishVector(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  Atomic how;
  how.hasResult = hasResult;
  const auto &chosen = match.chosen;
  auto vector = std::find_if(chosen.begin(), chosen.end(), [](auto each) {
    return each.size() == 3 && each[1] == 'v';
  });
  size_t count = size_t((*vector)[2] - '0');
  if (!parseAtomic(decoder, instruction, match, *(vector + 1), how) ||
      !decoder.countOperands(instruction, 2 + hasResult, 2 + hasResult)) {
    return false;
  }
  if (count * how.bytes > 16) {
    return decoder.fail(instruction.at, "there is no such operation");
  }
  inst.aux = bitCast<uint64_t>(how);
  const ptx::Operand *operands = instruction.operands.data() + hasResult;
  return decoder.decodeAddress(operands[0], inst, inst.slots[0]) &&
         countElements(decoder, operands[1], count) &&
         decoder.decodeSources(operands[1], how.bytes, inst) &&
         (!hasResult ||
          (countElements(decoder, instruction.operands[0], count) &&
           decoder.decodeDestinations(instruction.operands[0], how.bytes,
                                      inst)));
}

/// The operation may stand before the type or behind it.
void addVectorRows(Rows &rows) {
  const std::string order = "[.relaxed|.acquire|.release|.acq_rel]"
                            "[.cta|.cluster|.gpu|.sys][.global]";
  const std::string op = "{.add|.min|.max}[.noftz]";
  const std::string type = "{.v2|.v4|.v8}{.f32|.f16|.bf16|.f16x2|.bf16x2}";
  for (const std::string &rest : {order + op + type, order + type + op}) {
    rows.push_back(
        {keep("atom" + rest), "*", vectorAtomic, finishVector<true>});
    rows.push_back(
        {keep("red" + rest), "*", vectorAtomic, finishVector<false>});
  }
}

} // namespace

void attn::sim::addAtomicRows(Rows &rows) {
  const std::string order = "[.relaxed|.acquire|.release|.acq_rel]"
                            "[.cta|.cluster|.gpu|.sys]"
                            "[.global|.shared|.shared::cta|.shared::cluster]";
  const std::string ops = "{.add|.min|.max|.inc|.dec|.and|.or|.xor";
  const std::string types = "[.noftz]{.u32|.s32|.b32|.u64|.s64|.b64|.f32|.f64|"
                            ".f16|.bf16|.f16x2|.bf16x2";
  rows.push_back(
      {keep("atom" + order + ops + "|.exch|.cas}" + types + "|.b16}"), "*",
       atomic, finishAtomic<true>});
  rows.push_back({keep("atom" + order + "{.exch|.cas}.b128"), "*", wideAtomic,
                  finishAtomic<true>});
  rows.push_back({keep("red" + order + ops + "}" + types + "}"), "*", atomic,
                  finishAtomic<false>});
  addVectorRows(rows);
}
