// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instructions have their registers looked at while they execute, found
// when a kernel is decoded. Most need nothing: what they read is written on
// every path that leads there, and wgmma does not use it.

#ifndef ATTN_SIM_HAZARDS_REGISTER_PLAN_H
#define ATTN_SIM_HAZARDS_REGISTER_PLAN_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace attn::sim {

struct Program;

/// Registers times blocks of instructions of a kernel in which reads before
/// writes can be looked for: each takes a bit.
constexpr uint64_t kMaxRegisterBlocks = uint64_t(1) << 33;

/// A register as an instruction names it.
struct RegisterName {
  /// Counts registers of 32 lanes, or predicates.
  uint32_t number = 0;
  bool isPredicate = false;
  std::string_view name;
};

/// The registers of one instruction and where control goes after it.
struct RegisterUse {
  enum class Kind : uint8_t {
    Plain,
    Copy, // mov of one register
    Pack, // mov to or from several
    Wgmma
  };
  Kind kind = Kind::Plain;
  bool isGuarded = false;
  /// The guard is a register, the first of `reads`.
  bool readsGuard = false;
  bool fallsThrough = true;
  std::vector<RegisterName> reads;
  std::vector<RegisterName> writes;
  std::vector<uint32_t> targets;
};

constexpr bool isMove(RegisterUse::Kind kind) {
  return kind == RegisterUse::Kind::Copy || kind == RegisterUse::Kind::Pack;
}

/// A part of RegisterPlan::numbers.
struct RegisterRange {
  uint32_t begin = 0;
  uint32_t count = 0;
};

/// What to look at when an instruction executes. Registers are numbered among
/// those that are watched.
struct RegisterWatch {
  RegisterUse::Kind kind = RegisterUse::Kind::Plain;
  /// A move all of whose sources some path does not write.
  bool movesUnwritten = false;
  /// The guard if some path does not write it, or kNone.
  uint32_t guard = ~0u;
  /// Sources that some path does not write.
  RegisterRange unwritten;
  /// Sources that a wgmma may have in flight.
  RegisterRange reads;
  /// Watched destinations; of a wgmma, its accumulators.
  RegisterRange writes;
  /// Of a wgmma, the registers of A.
  RegisterRange fragment;
};

struct RegisterPlan {
  /// Registers times blocks. If there are too many, all registers count as
  /// written.
  uint64_t registerBlocks = 0;
  std::vector<RegisterWatch> watches;
  std::vector<uint32_t> numbers;
  /// By watched register.
  std::vector<std::string_view> names;
  /// Registers of which some read may come before any write.
  std::vector<bool> startsUnwritten;

  const uint32_t *numbersIn(RegisterRange range) const {
    return numbers.data() + range.begin;
  }
};

/// Makes the program's plan from the uses of its instructions, and sets
/// Inst::watch.
void planRegisterChecks(const std::vector<RegisterUse> &uses, Program &program);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REGISTER_PLAN_H
