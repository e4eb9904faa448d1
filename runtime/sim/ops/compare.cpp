// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setp, set, selp, slct and testp.

#include "ops/lanes.h"
#include "units/f32_math.h"

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
  bool unordered = a != a || b != b;
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

/// The lanes in which slots `a` and `b` compare so.
template <Compare compare, typename T, bool ftz>
uint32_t compareLanes(Warp &warp, uint32_t aSlot, uint32_t bSlot) {
  const WordOf<T> *a = warp.at<WordOf<T>>(aSlot);
  const WordOf<T> *b = warp.at<WordOf<T>>(bSlot);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    T x = fromWord<T>(a[lane]);
    T y = fromWord<T>(b[lane]);
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

bool finishSetp(Decoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  Combine how = match.has(".and")   ? Combine::And
                : match.has(".or")  ? Combine::Or
                : match.has(".xor") ? Combine::Xor
                                    : Combine::None;
  inst.aux = uint64_t(how);
  size_t wanted = how == Combine::None ? 3 : 4;
  return decoder.countOperands(instruction, wanted, wanted);
}

bool finishSet(Decoder &, const ptx::Instruction &, const Match &match,
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

template <Test test> Step testp(Warp &warp, const Inst &inst) {
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t magnitude = warp.word(inst.slots[1])[lane] & 0x7fffffff;
    bool holds = test == Test::Finite       ? magnitude < 0x7f800000
                 : test == Test::Infinite   ? magnitude == 0x7f800000
                 : test == Test::Number     ? magnitude <= 0x7f800000
                 : test == Test::NotANumber ? magnitude > 0x7f800000
                 : test == Test::Normal
                     ? magnitude >= 0x00800000 && magnitude < 0x7f800000
                     : magnitude != 0 && magnitude < 0x00800000;
    lanes |= uint32_t(holds) << lane;
  }
  warp.writePredicate(inst.slots[0], lanes);
  return Step::Next;
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
        lanewise<&slctFloat<uint32_t, true>>},
       {"testp.finite.f32", "dp f4", testp<Test::Finite>},
       {"testp.infinite.f32", "dp f4", testp<Test::Infinite>},
       {"testp.number.f32", "dp f4", testp<Test::Number>},
       {"testp.notanumber.f32", "dp f4", testp<Test::NotANumber>},
       {"testp.normal.f32", "dp f4", testp<Test::Normal>},
       {"testp.subnormal.f32", "dp f4", testp<Test::Subnormal>}});
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
  addSelectRows(rows);
}
