// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setp, set, selp, slct and testp.

#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/packed_half.h"

using namespace attn::sim;

namespace {

enum class Compare {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};

template <Compare compare, typename T> bool holds(T a, T b) {
  bool unordered = a != a || b != b; // NOLINT(misc-redundant-expression): NaN
  switch (compare) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b && !unordered;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  case Compare::Equ:
    return a == b || unordered;
  case Compare::Neu:
    return a != b;
  case Compare::Ltu:
    return !(a >= b);
  case Compare::Leu:
    return !(a > b);
  case Compare::Gtu:
    return !(a <= b);
  case Compare::Geu:
    return !(a < b);
  case Compare::Num:
    return !unordered;
  case Compare::Nan:
    return unordered;
  }
  return false;
}

/// Reads a register as a T, or a half of it as f16 or bf16.
template <typename T> struct Read {
  using Word = WordOf<T>;
  static T get(Word word) { return fromWord<T>(word); }
};
template <HalfType type, bool high> struct Half;
template <HalfType type, bool high> struct Read<Half<type, high>> {
  using Word = uint32_t;
  static float get(Word word) {
    return fromHalf(type, uint16_t(high ? word >> 16 : word));
  }
};

/// The lanes in which slots `a` and `b` compare so.
template <Compare compare, typename T, bool ftz>
uint32_t compareLanes(Warp &warp, uint32_t aSlot, uint32_t bSlot) {
  const auto *a = warp.at<typename Read<T>::Word>(aSlot);
  const auto *b = warp.at<typename Read<T>::Word>(bSlot);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto x = Read<T>::get(a[lane]);
    auto y = Read<T>::get(b[lane]);
    if constexpr (ftz) {
      x = flushF32(x);
      y = flushF32(y);
    }
    result |= uint32_t(holds<compare>(x, y)) << lane;
  }
  return result;
}

/// Inst::aux of setp: how the result is combined with predicate slot 4.
enum class Combine : uint64_t { None, And, Or, Xor };

uint32_t combine(uint32_t lanes, Combine how, uint32_t with) {
  return how == Combine::And   ? lanes & with
         : how == Combine::Or  ? lanes | with
         : how == Combine::Xor ? lanes ^ with
                               : lanes;
}

/// Slots: p, q, a, b, c.
template <Compare compare, typename T, bool ftz>
Step setp(Warp &warp, const Inst &inst) {
  uint32_t lanes =
      compareLanes<compare, T, ftz>(warp, inst.slots[2], inst.slots[3]);
  Combine how = Combine(inst.aux);
  uint32_t with = how == Combine::None
                      ? 0
                      : warp.readPredicate(inst.slots[4], inst.negated);
  warp.writePredicate(inst.slots[0], combine(lanes, how, with));
  if (inst.slots[1] != kNone) {
    warp.writePredicate(inst.slots[1], combine(~lanes, how, with));
  }
  return Step::Next;
}

/// setp of pairs. Slots: p (of the low halves), q (of the high ones), a, b, c.
template <Compare compare, HalfType type>
Step setpPair(Warp &warp, const Inst &inst) {
  uint32_t low = compareLanes<compare, Half<type, false>, false>(
      warp, inst.slots[2], inst.slots[3]);
  uint32_t high = compareLanes<compare, Half<type, true>, false>(
      warp, inst.slots[2], inst.slots[3]);
  Combine how = Combine(inst.aux);
  uint32_t with = how == Combine::None
                      ? 0
                      : warp.readPredicate(inst.slots[4], inst.negated);
  warp.writePredicate(inst.slots[0], combine(low, how, with));
  if (inst.slots[1] != kNone) {
    warp.writePredicate(inst.slots[1], combine(high, how, with));
  }
  return Step::Next;
}

/// set of pairs gives 1.0 or 0 in each half. Slots: d, a, b.
template <Compare compare, HalfType type>
Step setPair(Warp &warp, const Inst &inst) {
  constexpr uint32_t one = type == HalfType::F16 ? 0x3c00 : 0x3f80;
  uint32_t low = compareLanes<compare, Half<type, false>, false>(
      warp, inst.slots[1], inst.slots[2]);
  uint32_t high = compareLanes<compare, Half<type, true>, false>(
      warp, inst.slots[1], inst.slots[2]);
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] =
        (low >> lane & 1 ? one : 0) | (high >> lane & 1 ? one << 16 : 0);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// set: all ones (or 1.0) where it holds. Slots: d, a, b.
template <Compare compare, typename T, bool ftz>
Step set(Warp &warp, const Inst &inst) {
  uint32_t lanes =
      compareLanes<compare, T, ftz>(warp, inst.slots[1], inst.slots[2]);
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = lanes >> lane & 1 ? uint32_t(inst.aux) : 0;
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

bool finishSetp(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  Combine how = match.has(".and")   ? Combine::And
                : match.has(".or")  ? Combine::Or
                : match.has(".xor") ? Combine::Xor
                                    : Combine::None;
  inst.aux = uint64_t(how);
  size_t wanted = how == Combine::None ? 3 : 4;
  return decoder.countOperands(instruction, wanted, wanted);
}

bool finishSet(OperandDecoder &, const ptx::Instruction &, const Match &match,
               Inst &inst) {
  inst.aux = match.chosen.size() > 2 && match.has(".f32") &&
                     match.chosen[match.chosen.size() - 2] == ".f32"
                 ? 0x3f800000
                 : 0xffffffff;
  return true;
}

template <Compare compare, typename T, bool ftz>
void addCompare(Rows &rows, const std::string &name, const std::string &type,
                const std::string &width) {
  std::string flush = ftz ? ".ftz" : "";
  rows.push_back({keep("setp." + name + "[.and|.or|.xor]" + flush + "." + type),
                  keep("dpp " + width + " " + width + " ?p"),
                  setp<compare, T, ftz>, finishSetp});
  rows.push_back({keep("set." + name + flush + "{.u32|.s32|.f32}." + type),
                  keep("d4 " + width + " " + width), set<compare, T, ftz>,
                  finishSet});
}

template <Compare compare, HalfType type>
void addHalfCompare(Rows &rows, const std::string &name, const char *format) {
  const std::string start = name + "[.and|.or|.xor].";
  rows.push_back({keep("setp." + start + format), "dpp 2 2 ?p",
                  setp<compare, Half<type, false>, false>, finishSetp});
  rows.push_back({keep("setp." + start + format + "x2"), "dpp 4 4 ?p",
                  setpPair<compare, type>, finishSetp});
  rows.push_back({keep("set." + name + "." + format + "x2." + format + "x2"),
                  "d4 4 4", setPair<compare, type>});
}

template <HalfType type> void addHalves(Rows &rows, const char *format) {
  addHalfCompare<Compare::Eq, type>(rows, "eq", format);
  addHalfCompare<Compare::Ne, type>(rows, "ne", format);
  addHalfCompare<Compare::Lt, type>(rows, "lt", format);
  addHalfCompare<Compare::Le, type>(rows, "le", format);
  addHalfCompare<Compare::Gt, type>(rows, "gt", format);
  addHalfCompare<Compare::Ge, type>(rows, "ge", format);
  addHalfCompare<Compare::Equ, type>(rows, "equ", format);
  addHalfCompare<Compare::Neu, type>(rows, "neu", format);
  addHalfCompare<Compare::Ltu, type>(rows, "ltu", format);
  addHalfCompare<Compare::Leu, type>(rows, "leu", format);
  addHalfCompare<Compare::Gtu, type>(rows, "gtu", format);
  addHalfCompare<Compare::Geu, type>(rows, "geu", format);
  addHalfCompare<Compare::Num, type>(rows, "num", format);
  addHalfCompare<Compare::Nan, type>(rows, "nan", format);
}

template <typename T, bool ftz>
void addOrdered(Rows &rows, const char *type, const char *width) {
  addCompare<Compare::Eq, T, ftz>(rows, "eq", type, width);
  addCompare<Compare::Ne, T, ftz>(rows, "ne", type, width);
  addCompare<Compare::Lt, T, ftz>(rows, "lt", type, width);
  addCompare<Compare::Le, T, ftz>(rows, "le", type, width);
  addCompare<Compare::Gt, T, ftz>(rows, "gt", type, width);
  addCompare<Compare::Ge, T, ftz>(rows, "ge", type, width);
}

template <typename T>
void addUnsigned(Rows &rows, const char *type, const char *width) {
  addOrdered<T, false>(rows, type, width);
  addCompare<Compare::Lt, T, false>(rows, "lo", type, width);
  addCompare<Compare::Le, T, false>(rows, "ls", type, width);
  addCompare<Compare::Gt, T, false>(rows, "hi", type, width);
  addCompare<Compare::Ge, T, false>(rows, "hs", type, width);
}

template <typename T>
void addBits(Rows &rows, const char *type, const char *width) {
  addCompare<Compare::Eq, T, false>(rows, "eq", type, width);
  addCompare<Compare::Ne, T, false>(rows, "ne", type, width);
}

template <typename T, bool ftz>
void addFloats(Rows &rows, const char *type, const char *width) {
  addOrdered<T, ftz>(rows, type, width);
  addCompare<Compare::Equ, T, ftz>(rows, "equ", type, width);
  addCompare<Compare::Neu, T, ftz>(rows, "neu", type, width);
  addCompare<Compare::Ltu, T, ftz>(rows, "ltu", type, width);
  addCompare<Compare::Leu, T, ftz>(rows, "leu", type, width);
  addCompare<Compare::Gtu, T, ftz>(rows, "gtu", type, width);
  addCompare<Compare::Geu, T, ftz>(rows, "geu", type, width);
  addCompare<Compare::Num, T, ftz>(rows, "num", type, width);
  addCompare<Compare::Nan, T, ftz>(rows, "nan", type, width);
}

/// Slots: d, a, b, p.
template <typename Word> Step selp(Warp &warp, const Inst &inst) {
  uint32_t chosen = warp.readPredicate(inst.slots[3], inst.negated);
  const Word *a = warp.at<Word>(inst.slots[1]);
  const Word *b = warp.at<Word>(inst.slots[2]);
  Word results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = chosen >> lane & 1 ? a[lane] : b[lane];
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <typename T> T slct(T a, T b, int32_t c) { return c >= 0 ? a : b; }
template <typename T, bool ftz> T slctFloat(T a, T b, float c) {
  return (ftz ? flushF32(c) : c) >= 0 ? a : b;
}

enum class Test { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

/// Tests the bits of the number.
template <Test test, typename Word> Step testp(Warp &warp, const Inst &inst) {
  constexpr bool wide = sizeof(Word) == 8;
  constexpr Word lowest = wide ? Word(uint64_t(1) << 52) : Word(1) << 23;
  constexpr Word infinity = (wide ? 0x7ff : 0xff) * lowest;
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    Word magnitude = warp.at<Word>(inst.slots[1])[lane] & (Word(~Word(0)) >> 1);
    bool holds =
        test == Test::Finite       ? magnitude < infinity
        : test == Test::Infinite   ? magnitude == infinity
        : test == Test::Number     ? magnitude <= infinity
        : test == Test::NotANumber ? magnitude > infinity
        : test == Test::Normal
            // Zeros count as normal.
            ? magnitude == 0 || (magnitude >= lowest && magnitude < infinity)
            : magnitude != 0 && magnitude < lowest;
    lanes |= uint32_t(holds) << lane;
  }
  warp.writePredicate(inst.slots[0], lanes);
  return Step::Next;
}

template <typename Word>
void addTests(Rows &rows, const char *type, const char *operands) {
  auto row = [&](const char *pattern, Handler handler) {
    rows.push_back({fill(pattern, type), operands, handler});
  };
  row("testp.finite.%", testp<Test::Finite, Word>);
  row("testp.infinite.%", testp<Test::Infinite, Word>);
  row("testp.number.%", testp<Test::Number, Word>);
  row("testp.notanumber.%", testp<Test::NotANumber, Word>);
  row("testp.normal.%", testp<Test::Normal, Word>);
  row("testp.subnormal.%", testp<Test::Subnormal, Word>);
}

void addSelectRows(Rows &rows) {
  rows.insert(
      rows.end(),
      {{"selp{.b16|.u16|.s16}", "d2 2 2 p", selp<uint32_t>},
       {"selp{.b32|.u32|.s32}", "d4 4 4 p", selp<uint32_t>},
       {"selp.f32", "d4 f4 f4 p", selp<uint32_t>},
       {"selp{.b64|.u64|.s64}", "d8 8 8 p", selp<uint64_t>},
       {"selp.f64", "d8 f8 f8 p", selp<uint64_t>},
       {"slct{.b32|.u32|.s32|.f32}.s32", "d4 4 4 4", lanewise<&slct<uint32_t>>},
       {"slct{.b64|.u64|.s64|.f64}.s32", "d8 8 8 4", lanewise<&slct<uint64_t>>},
       {"slct{.b32|.u32|.s32|.f32}.f32", "d4 4 4 f4",
        lanewise<&slctFloat<uint32_t, false>>},
       {"slct.ftz{.b32|.u32|.s32|.f32}.f32", "d4 4 4 f4",
        lanewise<&slctFloat<uint32_t, true>>}});
  addTests<uint32_t>(rows, "f32", "dp f4");
  addTests<uint64_t>(rows, "f64", "dp f8");
}

} // namespace

void attn::sim::addCompareRows(Rows &rows) {
  addBits<uint16_t>(rows, "b16", "2");
  addBits<uint32_t>(rows, "b32", "4");
  addBits<uint64_t>(rows, "b64", "8");
  addOrdered<int16_t, false>(rows, "s16", "2");
  addOrdered<int32_t, false>(rows, "s32", "4");
  addOrdered<int64_t, false>(rows, "s64", "8");
  addUnsigned<uint16_t>(rows, "u16", "2");
  addUnsigned<uint32_t>(rows, "u32", "4");
  addUnsigned<uint64_t>(rows, "u64", "8");
  addFloats<float, false>(rows, "f32", "f4");
  addFloats<float, true>(rows, "f32", "f4");
  addFloats<double, false>(rows, "f64", "f8");
  addHalves<HalfType::F16>(rows, "f16");
  addHalves<HalfType::BF16>(rows, "bf16");
  addSelectRows(rows);
}
