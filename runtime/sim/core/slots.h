// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of a warp that a function uses: its registers and the values that
// are set before a warp starts.

#ifndef ATTN_SIM_CORE_SLOTS_H
#define ATTN_SIM_CORE_SLOTS_H

#include "core/program.h"

#include <map>

namespace attn::sim {

/// A register's width; Predicate for .pred.
enum class Width : uint8_t { Predicate, B8, B16, B32, B64, B128 };

/// The size in bytes of a type's name, as ".b32"; 0 if unknown or .pred.
unsigned typeSize(std::string_view type);

class Slots {
public:
  explicit Slots(Program &program) : program(program) {}

  uint32_t allocate(Width width);
  /// The slots of values that do not change; `bytes`: 8, or less for a word.
  uint32_t constant(uint64_t value, unsigned bytes);
  uint32_t sharedAddress(uint64_t address, unsigned bytes);
  uint32_t special(Special special, unsigned bytes);
  uint32_t truePredicate();
  /// The slot of %is_explicit_cluster.
  uint32_t explicitCluster();

private:
  uint32_t preset(const PresetSlot &slot);

  Program &program;
  /// By value and whether it is wide.
  std::map<std::pair<uint64_t, bool>, uint32_t> constants;
  std::map<std::pair<uint64_t, bool>, uint32_t> sharedAddresses;
  std::map<std::pair<Special, bool>, uint32_t> specials;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_SLOTS_H
