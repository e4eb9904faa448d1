// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps that a kernel changes: tensormap.replace, the copy of a changed
// map to global memory, and the fences between that and its use.

#include "hazards/tracker.h"
#include "ops/address_list.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/scope.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// Packed into Inst::aux.
struct Replacement {
  Space space = Space::Generic;
  MapField field = MapField::Rank;
  uint8_t bytes = 4;
  uint8_t padding = 0;
  uint32_t ordinal = 0;
};
static_assert(sizeof(Replacement) == 8, "fits Inst::aux");

/// A lane's map in memory, or null after a fault.
uint8_t *locate(Warp &warp, Space space, uint64_t address, unsigned lane,
                bool reads, bool writes) {
  constexpr uint64_t alignment = 64;
  address &= isShared(space) ? 0xffffffff : ~uint64_t(0);
  if (address % alignment != 0) {
    warp.fault(Rule::Align, "the map's address is not a multiple of 64", lane);
    return nullptr;
  }
  std::string problem;
  uint8_t *map = warp.cta.resolve(space, address, kTensorMapBytes, writes, warp,
                                  lane, problem);
  if (!map) {
    warp.fault(problem, lane);
  } else if (warp.cta.hazards) {
    MemoryAction action;
    action.reads = reads;
    action.writes = writes;
    warp.cta.hazards->plain.begin(warp, action);
    warp.cta.hazards->plain.access(warp, lane, space, address, kTensorMapBytes);
  }
  return map;
}

/// Slots: address, value.
Step replace(Warp &warp, const Inst &inst) {
  Replacement how = bitCast<Replacement>(inst.aux);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint8_t *map = locate(warp, how.space,
                          address64(warp, inst, inst.slots[0], lane), lane,
                          /*reads=*/true, /*writes=*/true);
    if (!map) {
      return Step::Fault;
    }
    uint64_t value = how.bytes == 8 ? warp.wide(inst.slots[1])[lane]
                                    : warp.word(inst.slots[1])[lane];
    std::string problem = replaceField(map, how.field, how.ordinal, value);
    if (!problem.empty()) {
      return warp.fault(Rule::TensorMapInvalid, problem, lane);
    }
  }
  return Step::Next;
}

struct FieldName {
  const char *name;
  MapField field;
  uint8_t bytes;
  bool hasOrdinal;
};

constexpr FieldName kFields[] = {
    {".global_address", MapField::GlobalAddress, 8, false},
    {".rank", MapField::Rank, 4, false},
    {".box_dim", MapField::BoxDim, 4, true},
    {".global_dim", MapField::GlobalDim, 4, true},
    {".global_stride", MapField::GlobalStride, 8, true},
    {".element_stride", MapField::ElementStride, 4, true},
    {".elemtype", MapField::Type, 4, false},
    {".interleave_layout", MapField::Interleave, 4, false},
    {".swizzle_mode", MapField::Swizzle, 4, false},
    {".fill_mode", MapField::OobFill, 4, false}};

Space spaceOf(const Match &match) {
  return match.has(".global")        ? Space::Global
         : match.has(".shared::cta") ? Space::Shared
                                     : Space::Generic;
}

/// [address], perhaps an ordinal, value.
bool finishReplace(OperandDecoder &decoder, const ptx::Instruction &instruction,
                   const Match &match, Inst &inst) {
  const FieldName &field = *std::find_if(
      std::begin(kFields), std::end(kFields),
      [&](const FieldName &each) { return match.has(each.name); });
  const auto &operands = instruction.operands;
  size_t count = field.hasOrdinal ? 3 : 2;
  int64_t ordinal = 0;
  if (!decoder.countOperands(instruction, count, count) ||
      !decoder.decodeAddress(operands[0], inst, inst.slots[0]) ||
      (field.hasOrdinal && !decoder.decodeImmediate(operands[1], ordinal)) ||
      !decoder.decodeSource(operands.back(), field.bytes, inst.slots[1])) {
    return false;
  }
  if (typeSize(match.chosen.back()) != field.bytes) {
    return decoder.fail(instruction.at, "expected a value of " +
                                            std::to_string(8 * field.bytes) +
                                            " bits");
  }
  if (ordinal < 0 || ordinal >= kMaxTensorRank) {
    return decoder.fail(operands[1].at, "expected an ordinal from 0 to 4");
  }
  inst.aux = bitCast<uint64_t>(Replacement{spaceOf(match), field.field,
                                           field.bytes, 0, uint32_t(ordinal)});
  return true;
}

/// The scope of a fence's Inst::aux.
Scope scopeOf(const Inst &inst) { return Scope(inst.aux); }

/// Copies a map from shared to global memory and releases it. The warp does
/// so as one.
Step copyMap(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!warp.gather(kAllLanes, Rule::WarpDivergent, step)) {
    return step;
  }
  unsigned first = unsigned(__builtin_ctz(warp.exec));
  uint64_t to = readAddress(warp, inst, 0, first);
  uint64_t from = readAddress(warp, inst, 1, first);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    if (readAddress(warp, inst, 0, lane) != to ||
        readAddress(warp, inst, 1, lane) != from) {
      return warp.fault("expected the same addresses in all lanes", lane);
    }
  }
  const uint8_t *source =
      locate(warp, Space::Shared, from, first, /*reads=*/true, false);
  uint8_t *target =
      source ? locate(warp, Space::Global, to, first, false, /*writes=*/true)
             : nullptr;
  if (!target) {
    return Step::Fault;
  }
  std::memcpy(target, source, kTensorMapBytes);
  if (warp.cta.hazards) {
    warp.cta.hazards->knowledge.fence(warp, scopeOf(inst), false,
                                      /*releases=*/true);
  }
  return Step::Next;
}

bool isWhole(OperandDecoder &decoder, const ptx::Operand &operand) {
  int64_t size = 0;
  return decoder.decodeImmediate(operand, size) &&
         (size == kTensorMapBytes ||
          decoder.fail(operand.at, "expected a size of 128"));
}

/// [global], [shared], 128.
bool finishCopy(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  inst.aux = uint64_t(scopeOf(match));
  return decoder.countOperands(instruction, 3, 3) &&
         appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[1], inst) &&
         isWhole(decoder, operands[2]);
}

Step release(Warp &warp, const Inst &inst) {
  if (warp.cta.hazards) {
    warp.cta.hazards->knowledge.fence(warp, scopeOf(inst), false,
                                      /*releases=*/true);
  }
  return Step::Next;
}

Step acquire(Warp &warp, const Inst &inst) {
  if (!warp.cta.hazards) {
    return Step::Next;
  }
  warp.cta.hazards->knowledge.fence(warp, scopeOf(inst), /*acquires=*/true,
                                    false);
  forLanes(warp.exec, [&](unsigned lane) {
    uint64_t address = address64(warp, inst, inst.slots[0], lane);
    if (classify(Space::Generic, address) == Space::Global) {
      warp.cta.hazards->tensorMaps.acquireTensorMap(warp, lane, address);
    }
  });
  return Step::Next;
}

bool finishRelease(OperandDecoder &, const ptx::Instruction &,
                   const Match &match, Inst &inst) {
  inst.aux = uint64_t(scopeOf(match));
  return true;
}

/// [address], 128.
bool finishAcquire(OperandDecoder &decoder, const ptx::Instruction &instruction,
                   const Match &match, Inst &inst) {
  const auto &operands = instruction.operands;
  inst.aux = uint64_t(scopeOf(match));
  return decoder.countOperands(instruction, 2, 2) &&
         decoder.decodeAddress(operands[0], inst, inst.slots[0]) &&
         isWhole(decoder, operands[1]);
}

} // namespace

void attn::sim::addTensorMapRows(Rows &rows) {
  const std::string scopes = "{.cta|.cluster|.gpu|.sys}";
  std::string fields;
  for (const FieldName &field : kFields) {
    fields += (fields.empty() ? "{" : "|") + std::string(field.name);
  }
  rows.insert(rows.end(),
              {{keep("tensormap.replace.tile" + fields +
                     "}[.global|.shared::cta].b1024{.b32|.b64}"),
                "*", replace, finishReplace},
               {keep("tensormap.cp_fenceproxy.global.shared::cta"
                     ".tensormap::generic.release" +
                     scopes + ".sync.aligned"),
                "*", copyMap, finishCopy},
               {keep("fence.proxy.tensormap::generic.release" + scopes), "",
                release, finishRelease},
               {keep("fence.proxy.tensormap::generic.acquire" + scopes), "*",
                acquire, finishAcquire}});
}
