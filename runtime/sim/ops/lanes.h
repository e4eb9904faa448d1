// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a function for one lane into a handler for 32, in loops that a compiler
// can vectorize. The function may be called for lanes that do not execute:
// these results are dropped.

#ifndef ATTN_SIM_OPS_LANES_H
#define ATTN_SIM_OPS_LANES_H

#include "core/operand_decoder.h"
#include "core/warp.h"
#include "units/bits.h"

#include <string>
#include <tuple>
#include <utility>

namespace attn::sim {

/// The type in which a register of type T is stored: 16-bit registers have 32
/// bits.
template <typename T>
using WordOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// The value of a register of 128 bits.
struct Wide128 {
  uint64_t low = 0;
  uint64_t high = 0;
};

template <typename T> inline T fromWord(WordOf<T> word) {
  if constexpr (sizeof(T) == sizeof(WordOf<T>)) {
    return bitCast<T>(word);
  } else {
    return T(word);
  }
}

template <typename T> inline WordOf<T> toWord(T value) {
  if constexpr (sizeof(T) == sizeof(WordOf<T>)) {
    return bitCast<WordOf<T>>(value);
  } else {
    return uint16_t(value);
  }
}

/// A lane's address operand.
inline uint32_t address32(Warp &warp, const Inst &inst, uint32_t slot,
                          unsigned lane) {
  return (inst.wideAddress ? uint32_t(warp.wide(slot)[lane])
                           : warp.word(slot)[lane]) +
         uint32_t(inst.imm);
}
inline uint64_t address64(Warp &warp, const Inst &inst, uint32_t slot,
                          unsigned lane) {
  return (inst.wideAddress ? warp.wide(slot)[lane] : warp.word(slot)[lane]) +
         uint64_t(inst.imm);
}

/// Writes the executing lanes of a register.
template <typename Word>
inline void store(Warp &warp, uint32_t slot, const Word *values) {
  Word *to = warp.at<Word>(slot);
  uint32_t exec = warp.exec;
  if (exec == kAllLanes) {
    std::memcpy(to, values, kLanes * sizeof(Word));
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    to[lane] = exec >> lane & 1 ? values[lane] : to[lane];
  }
}

template <auto Function> struct LaneOp;

/// Slot 0 is the destination, the sources follow.
template <typename Result, typename... Sources, Result (*function)(Sources...)>
struct LaneOp<function> {
  static Step run(Warp &warp, const Inst &inst) {
    return runAll(warp, inst, std::index_sequence_for<Sources...>());
  }

private:
  template <size_t... I>
  static Step runAll(Warp &warp, const Inst &inst, std::index_sequence<I...>) {
    std::tuple<const WordOf<Sources> *...> from(
        warp.at<WordOf<Sources>>(inst.slots[I + 1])...);
    WordOf<Result> results[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      results[lane] = toWord<Result>(
          function(fromWord<Sources>(std::get<I>(from)[lane])...));
    }
    store(warp, inst.slots[0], results);
    return Step::Next;
  }
};

/// The handler of a function of one lane.
template <auto function> constexpr Handler lanewise = &LaneOp<function>::run;

/// The handler of instructions without an effect here.
inline Step doNothing(Warp &, const Inst &) { return Step::Next; }

/// Replaces every "%" in `pattern`.
inline const char *fill(std::string pattern, const std::string &with) {
  for (size_t at = pattern.find('%'); at != std::string::npos;
       at = pattern.find('%', at + with.size())) {
    pattern.replace(at, 1, with);
  }
  return keep(std::move(pattern));
}

} // namespace attn::sim

#endif // ATTN_SIM_OPS_LANES_H
