// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the instructions whose registers must be checked during execution, when
// a kernel is decoded. Most instructions need no check: their operands are
// written on every path to them, and neither wgmma nor tcgen05.ld uses them.

#ifndef ATTN_SIM_HAZARDS_REGISTER_PLAN_H
#define ATTN_SIM_HAZARDS_REGISTER_PLAN_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace attn::sim {

struct Program;

/// The limit on registers times blocks of instructions for finding reads before
/// writes: each pair needs a bit.
constexpr uint64_t kMaxRegisterBlocks = uint64_t(1) << 33;

/// A register as an instruction names it.
struct RegisterName {
  /// Counts registers of 32 lanes, or predicates.
  uint32_t number = 0;
  bool isPredicate = false;
  std::string_view name;
};

/// The registers of one instruction and its successors in the control flow.
struct RegisterUse {
  enum class Kind : uint8_t {
    Plain,
    Copy, // mov of one register
    Pack, // mov to or from several
    Wgmma,
    TensorLoad // tcgen05.ld
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

/// The checks for an instruction. Registers are numbered among the watched
/// registers.
struct RegisterWatch {
  RegisterUse::Kind kind = RegisterUse::Kind::Plain;
  /// A move whose sources are all unwritten on some path.
  bool movesUnwritten = false;
  /// Some register is also the result of a tcgen05.ld.
  bool usesLoads = false;
  /// The guard if it is unwritten on some path, or kNone.
  uint32_t guard = ~0u;
  /// Sources that are unwritten on some path.
  RegisterRange unwritten;
  /// Sources that may be in use by a wgmma or a tcgen05.ld in flight.
  RegisterRange reads;
  /// Watched destinations; for a wgmma, its accumulators.
  RegisterRange writes;
  /// For a wgmma, the registers of A.
  RegisterRange fragment;
};

struct RegisterPlan {
  /// Registers times blocks. If the product is too large, all registers count
  /// as written.
  uint64_t registerBlocks = 0;
  std::vector<RegisterWatch> watches;
  std::vector<uint32_t> numbers;
  /// By watched register.
  std::vector<std::string_view> names;
  /// Registers that may be read before they are written.
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
