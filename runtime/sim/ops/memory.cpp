// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld and st.

#include "core/cta.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/scope.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// The elements that a load or store moves; packed into Inst::aux.
struct Access {
  Space space = Space::Generic;
  /// Of one element in memory, and of its register.
  uint8_t bytes = 4;
  uint8_t registerBytes = 4;
  bool isSigned = false;
  Scope scope = Scope::None;
  /// ld.acquire or st.release.
  bool orders = false;
  bool readOnly = false;
  /// Elements that "_" stands for, a bit each: neither loaded nor stored.
  uint8_t skipped = 0;

  bool skips(uint32_t element) const { return skipped >> element & 1; }
};
static_assert(sizeof(Access) == 8, "fits Inst::aux");

std::string misaligned(uint64_t address, uint32_t bytes) {
  return "address " + std::to_string(address) + " is not a multiple of " +
         std::to_string(bytes);
}

/// Bytes of ld and st that only Blackwell has.
constexpr unsigned kWideAccess = 32;
const char *const kWideSpace =
    "expected global memory of an access of 256 bits";

/// Tells the hazard tracker which bytes of `memory` a lane accesses. For a
/// store, `stored` has the new values.
void noteAccess(Warp &warp, const Access &access, unsigned lane,
                uint64_t address, uint32_t elements, const uint8_t *memory,
                const uint8_t *stored) {
  for (uint32_t first = 0; first < elements;) {
    uint32_t end = first;
    while (end < elements && !access.skips(end)) {
      ++end;
    }
    if (end > first) {
      uint32_t at = first * access.bytes;
      uint32_t bytes = (end - first) * access.bytes;
      bool keeps = stored && std::memcmp(memory + at, stored + at, bytes) == 0;
      warp.cta.hazards->plain.access(warp, lane, access.space, address + at,
                                     bytes, keeps);
    }
    first = end + 1;
  }
}

/// The memory of one lane's access, or null after a fault. `stored`: what it
/// stores, null for a load.
uint8_t *locate(Warp &warp, const Inst &inst, const Access &access,
                uint32_t slot, unsigned lane, const uint8_t *stored) {
  uint64_t address = address64(warp, inst, slot, lane);
  if (isShared(access.space)) {
    address &= 0xffffffff;
  }
  uint32_t bytes = access.bytes * inst.listSize;
  if (address % bytes != 0) {
    warp.fault(Rule::Align, misaligned(address, bytes), lane);
    return nullptr;
  }
  if (bytes == kWideAccess && access.space == Space::Generic &&
      (address & kWindowMask) != 0) {
    warp.fault(Rule::Bounds, kWideSpace, lane);
    return nullptr;
  }
  std::string problem;
  uint8_t *found = warp.cta.resolve(access.space, address, bytes, stored, warp,
                                    lane, problem);
  if (!found) {
    warp.fault(problem, lane);
  } else if (warp.cta.hazards) {
    noteAccess(warp, access, lane, address, inst.listSize, found, stored);
  }
  return found;
}

void beginAccess(Warp &warp, const Access &access, bool write) {
  if (!warp.cta.hazards) {
    return;
  }
  MemoryAction action;
  action.reads = !write;
  action.writes = write;
  action.scope = access.scope;
  action.acquires = access.orders && !write;
  action.releases = access.orders && write;
  action.readOnly = access.readOnly;
  warp.cta.hazards->plain.begin(warp, action);
}

Step load(Warp &warp, const Inst &inst) {
  Access access = bitCast<Access>(inst.aux);
  const uint32_t *to = &warp.cta.program.lists[inst.list];
  auto lock = lockAccess(access.scope);
  beginAccess(warp, access, false);
  if (access.scope != Scope::None) {
    warp.cta.notePoll();
  }
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    const uint8_t *from =
        locate(warp, inst, access, inst.slots[0], lane, nullptr);
    if (!from) {
      return Step::Fault;
    }
    for (uint32_t i = 0; i < inst.listSize; ++i) {
      if (access.skips(i)) {
        continue;
      }
      if (access.registerBytes == 16) {
        std::memcpy(&warp.at<Wide128>(to[i])[lane], from + i * access.bytes,
                    sizeof(Wide128));
        continue;
      }
      uint64_t value = 0;
      std::memcpy(&value, from + i * access.bytes, access.bytes);
      if (access.isSigned) {
        unsigned shift = 64 - 8u * access.bytes;
        value = uint64_t(int64_t(value << shift) >> shift);
      }
      if (access.registerBytes == 8) {
        warp.wide(to[i])[lane] = value;
      } else {
        warp.word(to[i])[lane] = access.registerBytes == 1   ? uint8_t(value)
                                 : access.registerBytes == 2 ? uint16_t(value)
                                                             : uint32_t(value);
      }
    }
  }
  return Step::Next;
}

/// Returns the value that a lane stores from one register.
Wide128 storedValue(Warp &warp, const Access &access, uint32_t slot,
                    unsigned lane) {
  return access.registerBytes == 16  ? warp.at<Wide128>(slot)[lane]
         : access.registerBytes == 8 ? Wide128{warp.wide(slot)[lane], 0}
                                     : Wide128{warp.word(slot)[lane], 0};
}

/// Whether each lane finds what it stored: another lane may have stored there
/// too.
void checkStored(Warp &warp, const Inst &inst, const Access &access) {
  const uint32_t *from = &warp.cta.program.lists[inst.list];
  forLanes(warp.exec, [&](unsigned lane) {
    uint64_t address = address64(warp, inst, inst.slots[0], lane);
    address &= isShared(access.space) ? 0xffffffff : ~uint64_t(0);
    std::string problem;
    const uint8_t *memory =
        warp.cta.resolve(access.space, address, access.bytes * inst.listSize,
                         true, warp, lane, problem);
    for (uint32_t i = 0; memory && i < inst.listSize; ++i) {
      if (access.skips(i)) {
        continue;
      }
      Wide128 value = storedValue(warp, access, from[i], lane);
      if (std::memcmp(memory + i * access.bytes, &value, access.bytes) != 0) {
        warp.cta.hazards->plain.overwritten(warp, lane, address);
      }
    }
  });
}

Step storeMemory(Warp &warp, const Inst &inst) {
  Access access = bitCast<Access>(inst.aux);
  const uint32_t *from = &warp.cta.program.lists[inst.list];
  auto lock = lockAccess(access.scope);
  beginAccess(warp, access, true);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint8_t stored[kWideAccess] = {};
    for (uint32_t i = 0; i < inst.listSize; ++i) {
      if (!access.skips(i)) {
        Wide128 value = storedValue(warp, access, from[i], lane);
        std::memcpy(stored + i * access.bytes, &value, access.bytes);
      }
    }
    uint8_t *to = locate(warp, inst, access, inst.slots[0], lane, stored);
    if (!to) {
      return Step::Fault;
    }
    for (uint32_t i = 0; i < inst.listSize; ++i) {
      if (!access.skips(i)) {
        std::memcpy(to + i * access.bytes, stored + i * access.bytes,
                    access.bytes);
      }
    }
  }
  if (warp.cta.hazards) {
    checkStored(warp, inst, access);
  }
  return Step::Next;
}

/// None: the access is weak.
Scope strengthOf(const Match &match) {
  bool isStrong = match.has(".volatile") || match.has(".relaxed") ||
                  match.has(".acquire") || match.has(".release");
  return isStrong ? scopeOf(match) : Scope::None;
}

Space spaceOf(const Match &match) {
  return match.has(".global")                                ? Space::Global
         : match.has(".shared") || match.has(".shared::cta") ? Space::Shared
         : match.has(".shared::cluster") ? Space::SharedCluster
         : match.has(".local")           ? Space::Local
         : match.has(".param") || match.has(".param::entry") ? Space::Param
                                                             : Space::Generic;
}

/// The widest register among `operand`'s, which may be wider than the type.
unsigned registerBytes(OperandDecoder &decoder, const ptx::Operand &operand,
                       unsigned bytes) {
  const ptx::Operand *one = &operand;
  if (operand.kind == ptx::Operand::Kind::Vector) {
    one = nullptr;
    for (const ptx::Operand &each : operand.elements) {
      one = !one && decoder.findRegister(each) ? &each : one;
    }
  }
  const Register *found = one ? decoder.findRegister(*one) : nullptr;
  return std::max(found ? bytesOf(found->width) : 2, bytes);
}

/// Checks the rules for accesses of 32 bytes, and that other accesses have no
/// modifier that only these may have.
bool checkWide(OperandDecoder &decoder, const ptx::Instruction &instruction,
               const Match &match, const Access &access, size_t count) {
  const bool isWide = access.bytes * count == kWideAccess;
  const bool hasL2 = match.has(".L2::evict_normal") ||
                     match.has(".L2::evict_first") ||
                     match.has(".L2::evict_last");
  if (count == 8 && !isWide) {
    return decoder.fail(instruction.at,
                        "expected elements of 32 bits with .v8");
  }
  if (!isWide) {
    return !hasL2 || decoder.fail(instruction.at,
                                  "expected .v8 of 32 bits or .v4 of 64 bits "
                                  "with an eviction priority of L2");
  }
  return decoder.requireTargets(instruction, kBlackwell) &&
         (access.space == Space::Global || access.space == Space::Generic ||
          decoder.fail(instruction.at, kWideSpace));
}

/// The operands of a vector access: of one of 32 bytes, "_" stands for what is
/// not accessed.
bool decodeValues(OperandDecoder &decoder, const ptx::Operand &values,
                  bool isLoad, Access &access, Inst &inst) {
  const size_t count = values.elements.size();
  if (access.bytes * count != kWideAccess) {
    return isLoad
               ? decoder.decodeDestinations(values, access.registerBytes, inst)
               : decoder.decodeSources(values, access.registerBytes, inst);
  }
  for (size_t i = 0; i < count; ++i) {
    const ptx::Operand &each = values.elements[i];
    uint32_t slot = kNone;
    if (each.kind == ptx::Operand::Kind::Sink) {
      access.skipped |= uint8_t(1 << i);
    } else if (!(isLoad ? decoder.decodeDestination(each, access.registerBytes,
                                                    slot)
                        : decoder.decodeSource(each, access.registerBytes,
                                               slot))) {
      return false;
    }
    decoder.appendSlot(inst, slot);
  }
  return true;
}

template <bool isLoad>
bool finishAccess(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  size_t hint = match.has(".L2::cache_hint");
  uint32_t policy = 0;
  if (!decoder.countOperands(instruction, 2 + hint, 2 + hint) ||
      (hint && !decoder.decodeSource(instruction.operands[2], 8, policy))) {
    return false;
  }
  const ptx::Operand &place = instruction.operands[isLoad ? 1 : 0];
  const ptx::Operand &values = instruction.operands[isLoad ? 0 : 1];
  std::string_view type = match.chosen.back();
  Access access;
  access.space = spaceOf(match);
  if (access.space == Space::Param && decoder.isInLocalMemory(place)) {
    access.space = Space::Local;
  }
  access.bytes = uint8_t(typeSize(type));
  access.isSigned = type[1] == 's';
  access.scope = strengthOf(match);
  access.orders = match.has(".acquire") || match.has(".release");
  access.readOnly = match.has(".nc");
  access.registerBytes = uint8_t(registerBytes(decoder, values, access.bytes));
  if (access.registerBytes == 16 && access.bytes < 16) {
    return decoder.fail(values.at, "expected no 128-bit register");
  }
  std::string_view vector = match.chosen[match.chosen.size() - 2];
  size_t count = vector.empty() ? 1 : size_t(vector[2] - '0');
  size_t given =
      values.kind == ptx::Operand::Kind::Vector ? values.elements.size() : 1;
  if (given != count) {
    return decoder.fail(values.at, "expected " + std::to_string(count) +
                                       " registers, got " +
                                       std::to_string(given));
  }
  if (access.bytes == 16 && count > 1) {
    return decoder.fail(values.at, "expected at most 128 bits");
  }
  if (!checkWide(decoder, instruction, match, access, count) ||
      !decoder.decodeAddress(place, inst, inst.slots[0]) ||
      !decodeValues(decoder, values, isLoad, access, inst)) {
    return false;
  }
  inst.aux = bitCast<uint64_t>(access);
  return true;
}

} // namespace

void attn::sim::addMemoryRows(Rows &rows) {
  const std::string order = "[.weak|.relaxed|.acquire|.release|.volatile]"
                            "[.cta|.cluster|.gpu|.sys]";
  const std::string spaces =
      "[.global|.shared|.shared::cta|.shared::cluster|.local|.param|"
      ".param::entry|.param::func]";
  const std::string hints = "[.ca|.cg|.cs|.lu|.cv|.wb|.wt][.nc]"
                            "[.L1::evict_normal|.L1::evict_unchanged|"
                            ".L1::evict_first|.L1::evict_last|"
                            ".L1::no_allocate]"
                            "[.L2::evict_normal|.L2::evict_first|"
                            ".L2::evict_last]"
                            "[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]";
  const std::string types =
      "[.v2|.v4|.v8]{.b8|.b16|.b32|.b64|.b128|.u8|.u16|.u32|.u64|.s8|.s16|"
      ".s32|.s64|.f32|.f64}";
  rows.push_back({keep("ld" + order + spaces + hints + types), "*", load,
                  finishAccess<true>});
  rows.push_back({keep("st" + order + spaces + hints + types), "*", storeMemory,
                  finishAccess<false>});
}
