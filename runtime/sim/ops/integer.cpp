// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic, logic and bits.

#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/int_math.h"

#include <limits>

using namespace attn::sim;

namespace {

template <typename T> constexpr int kBits = int(8 * sizeof(T));
template <typename T> constexpr bool kSigned = std::is_signed_v<T>;
template <typename T> using Unsigned = std::make_unsigned_t<T>;

/// Twice as wide.
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 2,
                       std::conditional_t<kSigned<T>, int32_t, uint32_t>,
                       std::conditional_t<kSigned<T>, int64_t, uint64_t>>;

template <typename T> T add(T a, T b) { return T(uint64_t(a) + uint64_t(b)); }
template <typename T> T sub(T a, T b) { return T(uint64_t(a) - uint64_t(b)); }
template <typename T> T mulLo(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
template <typename T> T madLo(T a, T b, T c) {
  return T(uint64_t(a) * uint64_t(b) + uint64_t(c));
}
template <typename T> T mulHi(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return T(mulHigh64(uint64_t(a), uint64_t(b), kSigned<T>));
  } else {
    return T(Wide<T>(Wide<T>(a) * Wide<T>(b)) >> kBits<T>);
  }
}
template <typename T> T madHi(T a, T b, T c) { return add(mulHi(a, b), c); }
template <typename T> Wide<T> mulWide(T a, T b) {
  return Wide<T>(Wide<T>(a) * Wide<T>(b));
}
template <typename T> Wide<T> madWide(T a, T b, Wide<T> c) {
  return add<Wide<T>>(mulWide(a, b), c);
}
template <typename T> T div(T a, T b) {
  return T(divide(uint64_t(Unsigned<T>(a)), uint64_t(Unsigned<T>(b)), kBits<T>,
                  kSigned<T>));
}
template <typename T> T rem(T a, T b) {
  return T(remainder(uint64_t(Unsigned<T>(a)), uint64_t(Unsigned<T>(b)),
                     kBits<T>, kSigned<T>));
}
template <typename T> T min(T a, T b) { return a < b ? a : b; }
template <typename T> T max(T a, T b) { return a > b ? a : b; }
template <typename T> T minRelu(T a, T b) { return max<T>(min(a, b), 0); }
template <typename T> T maxRelu(T a, T b) { return max<T>(max(a, b), 0); }
template <typename T> T abs(T a) { return a < 0 ? sub<T>(0, a) : a; }
template <typename T> T neg(T a) { return sub<T>(0, a); }
template <typename T> T sad(T a, T b, T c) {
  return T(
      sumAbsDiff(uint64_t(a), uint64_t(b), uint64_t(c), kBits<T>, kSigned<T>));
}
template <typename T> T shr(T a, uint32_t amount) {
  constexpr uint32_t most = kBits<T> - 1;
  return amount > most ? (kSigned<T> ? T(a >> most) : T(0)) : T(a >> amount);
}
template <typename T> T shl(T a, uint32_t amount) {
  return amount >= uint32_t(kBits<T>) ? T(0) : T(a << amount);
}
template <typename T> T andBits(T a, T b) { return a & b; }
template <typename T> T orBits(T a, T b) { return a | b; }
template <typename T> T xorBits(T a, T b) { return a ^ b; }
template <typename T> T notBits(T a) { return T(~a); }
template <typename T> T cnot(T a) { return a == 0; }
template <typename T> uint32_t popc(T a) { return popCount(a); }
template <typename T> uint32_t clz(T a) {
  return countLeadingZeros(a, kBits<T>);
}
template <typename T> T brev(T a) { return T(bitReverse(a, kBits<T>)); }
template <typename T> uint32_t bfind(T a) {
  return bitFind(uint64_t(Unsigned<T>(a)), kBits<T>, kSigned<T>, false);
}
template <typename T> uint32_t bfindShift(T a) {
  return bitFind(uint64_t(Unsigned<T>(a)), kBits<T>, kSigned<T>, true);
}
template <typename T> T bfe(T a, uint32_t position, uint32_t length) {
  return T(bitFieldExtract(uint64_t(Unsigned<T>(a)), position, length, kBits<T>,
                           kSigned<T>));
}
template <typename T> T bfi(T a, T b, uint32_t position, uint32_t length) {
  return T(bitFieldInsert(a, b, position, length, kBits<T>));
}
template <bool left, bool clamp>
uint32_t funnel(uint32_t low, uint32_t high, uint32_t amount) {
  return left ? funnelLeft(low, high, amount, clamp)
              : funnelRight(low, high, amount, clamp);
}
template <PrmtMode mode>
uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
  return permuteBytes(a, b, selector, mode);
}
template <bool clamp> uint32_t bmsk(uint32_t position, uint32_t length) {
  return bitMask(position, length, clamp);
}
template <typename T, bool clamp> T szext(T a, uint32_t position) {
  return T(signZeroExtend(uint32_t(a), position, kSigned<T>, clamp));
}
template <bool aSigned, bool bSigned>
uint32_t dot4(uint32_t a, uint32_t b, uint32_t c) {
  return dp4a(a, b, c, aSigned, bSigned);
}
template <bool aSigned, bool bSigned, bool high>
uint32_t dot2(uint32_t a, uint32_t b, uint32_t c) {
  return dp2a(a, b, c, aSigned, bSigned, high);
}

template <typename T, T (*function)(T, T)>
uint32_t eachHalf(uint32_t a, uint32_t b) {
  uint32_t low = uint16_t(function(T(a), T(b)));
  return low | uint32_t(uint16_t(function(T(a >> 16), T(b >> 16)))) << 16;
}

/// The low 24 bits, extended.
template <typename T> int64_t low24(T a) {
  return kSigned<T> ? signExtend(uint32_t(a) & 0xffffff, 24)
                    : int64_t(uint32_t(a) & 0xffffff);
}
template <typename T, bool high> T mul24(T a, T b) {
  return T((low24(a) * low24(b)) >> (high ? 16 : 0));
}
template <typename T, bool high> T mad24(T a, T b, T c) {
  return add(mul24<T, high>(a, b), c);
}

/// add.cc, addc, sub.cc, subc, mad.cc and madc: bits of Inst::aux.
constexpr uint64_t kCarryIn = 1;
constexpr uint64_t kCarryOut = 2;

bool finishCarry(OperandDecoder &, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  inst.aux = (instruction.opcode.back() == 'c' ? kCarryIn : 0) |
             (match.has(".cc") ? kCarryOut : 0);
  return true;
}

void storeCarry(Warp &warp, const Inst &inst, uint32_t carry) {
  if (inst.aux & kCarryOut) {
    warp.carry = (warp.carry & ~warp.exec) | (carry & warp.exec);
  }
}

/// The carry of a subtraction is its borrow.
template <typename Word, bool subtract>
Step addCarry(Warp &warp, const Inst &inst) {
  const Word *a = warp.at<Word>(inst.slots[1]);
  const Word *b = warp.at<Word>(inst.slots[2]);
  Word results[kLanes];
  uint32_t carry = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    Word in = inst.aux & kCarryIn ? warp.carry >> lane & 1 : 0;
    Word first = subtract ? a[lane] - b[lane] : a[lane] + b[lane];
    results[lane] = subtract ? first - in : first + in;
    bool out = subtract ? a[lane] < b[lane] || first < in
                        : first < a[lane] || results[lane] < first;
    carry |= uint32_t(out) << lane;
  }
  store(warp, inst.slots[0], results);
  storeCarry(warp, inst, carry);
  return Step::Next;
}

template <typename T, bool high> Step madCarry(Warp &warp, const Inst &inst) {
  using Word = Unsigned<T>;
  const T *a = warp.at<T>(inst.slots[1]);
  const T *b = warp.at<T>(inst.slots[2]);
  const Word *c = warp.at<Word>(inst.slots[3]);
  Word results[kLanes];
  uint32_t carry = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    Word in = inst.aux & kCarryIn ? warp.carry >> lane & 1 : 0;
    Word product =
        Word(high ? mulHi(a[lane], b[lane]) : mulLo(a[lane], b[lane]));
    Word sum = product + c[lane];
    results[lane] = sum + in;
    carry |= uint32_t(sum < product || results[lane] < sum) << lane;
  }
  store(warp, inst.slots[0], results);
  storeCarry(warp, inst, carry);
  return Step::Next;
}

template <typename T>
void addCarryRows(Rows &rows, const char *type, const char *width) {
  auto row = [&](const char *pattern, const char *operands, Handler handler) {
    rows.push_back(
        {fill(pattern, type), fill(operands, width), handler, finishCarry});
  };
  using Word = Unsigned<T>;
  row("add.cc.%", "d% % %", addCarry<Word, false>);
  row("addc[.cc].%", "d% % %", addCarry<Word, false>);
  row("sub.cc.%", "d% % %", addCarry<Word, true>);
  row("subc[.cc].%", "d% % %", addCarry<Word, true>);
  row("mad.lo.cc.%", "d% % % %", madCarry<T, false>);
  row("mad.hi.cc.%", "d% % % %", madCarry<T, true>);
  row("madc.lo[.cc].%", "d% % % %", madCarry<T, false>);
  row("madc.hi[.cc].%", "d% % % %", madCarry<T, true>);
}

template <typename T>
void addArithmetic(Rows &rows, const char *type, const char *width) {
  auto row = [&](const char *pattern, const char *operands, Handler handler) {
    rows.push_back({fill(pattern, type), fill(operands, width), handler});
  };
  row("add.%", "d% % %", lanewise<&add<T>>);
  row("sub.%", "d% % %", lanewise<&sub<T>>);
  row("mul.lo.%", "d% % %", lanewise<&mulLo<T>>);
  row("mul.hi.%", "d% % %", lanewise<&mulHi<T>>);
  row("mad.lo.%", "d% % % %", lanewise<&madLo<T>>);
  row("mad.hi.%", "d% % % %", lanewise<&madHi<T>>);
  row("div.%", "d% % %", lanewise<&div<T>>);
  row("rem.%", "d% % %", lanewise<&rem<T>>);
  row("min.%", "d% % %", lanewise<&min<T>>);
  row("max.%", "d% % %", lanewise<&max<T>>);
  row("sad.%", "d% % % %", lanewise<&sad<T>>);
  row("shr.%", "d% % 4", lanewise<&shr<T>>);
  if constexpr (kSigned<T>) {
    row("abs.%", "d% %", lanewise<&abs<T>>);
    row("neg.%", "d% %", lanewise<&neg<T>>);
  }
  if constexpr (sizeof(T) > 2) {
    row("bfe.%", "d% % 4 4", lanewise<&bfe<T>>);
    row("bfind.%", "d4 %", lanewise<&bfind<T>>);
    row("bfind.shiftamt.%", "d4 %", lanewise<&bfindShift<T>>);
  }
  if constexpr (sizeof(T) < 8) {
    const char *wide = sizeof(T) == 2 ? "4" : "8";
    rows.push_back({fill("mul.wide.%", type),
                    keep(std::string("d") + wide + " " + width + " " + width),
                    lanewise<&mulWide<T>>});
    rows.push_back(
        {fill("mad.wide.%", type),
         keep(std::string("d") + wide + " " + width + " " + width + " " + wide),
         lanewise<&madWide<T>>});
  }
}

template <typename T>
void addBits(Rows &rows, const char *type, const char *width) {
  auto row = [&](const char *pattern, const char *operands, Handler handler) {
    rows.push_back({fill(pattern, type), fill(operands, width), handler});
  };
  row("and.%", "d% % %", lanewise<&andBits<T>>);
  row("or.%", "d% % %", lanewise<&orBits<T>>);
  row("xor.%", "d% % %", lanewise<&xorBits<T>>);
  row("not.%", "d% %", lanewise<&notBits<T>>);
  row("cnot.%", "d% %", lanewise<&cnot<T>>);
  row("shl.%", "d% % 4", lanewise<&shl<T>>);
  row("shr.%", "d% % 4", lanewise<&shr<T>>);
  if constexpr (sizeof(T) > 2) {
    row("popc.%", "d4 %", lanewise<&popc<T>>);
    row("clz.%", "d4 %", lanewise<&clz<T>>);
    row("brev.%", "d% %", lanewise<&brev<T>>);
    row("bfi.%", "d% % % 4 4", lanewise<&bfi<T>>);
  }
}

enum class Logic { And, Or, Xor, Not };

template <Logic logic> Step predicateLogic(Warp &warp, const Inst &inst) {
  uint32_t a = warp.readPredicate(inst.slots[1]);
  uint32_t b = inst.slots[2] == kNone ? 0 : warp.readPredicate(inst.slots[2]);
  warp.writePredicate(inst.slots[0], logic == Logic::And   ? a & b
                                     : logic == Logic::Or  ? a | b
                                     : logic == Logic::Xor ? a ^ b
                                                           : ~a);
  return Step::Next;
}

/// Predicate sources of these instructions cannot be negated: Inst has a single
/// flag for that.
bool finishLogic(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &, Inst &inst) {
  for (size_t i = 1; i < instruction.operands.size(); ++i) {
    bool negated = false;
    if (!decoder.decodePredicate(instruction.operands[i], inst.slots[i],
                                 negated)) {
      return false;
    }
    if (negated) {
      return decoder.fail(instruction.operands[i].at,
                          "expected a plain predicate");
    }
  }
  return true;
}

Step runLop3(Warp &warp, const Inst &inst) {
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] =
        lop3(warp.word(inst.slots[1])[lane], warp.word(inst.slots[2])[lane],
             warp.word(inst.slots[3])[lane], uint32_t(inst.imm));
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

void addFixedRows(Rows &rows) {
  rows.insert(
      rows.end(),
      {{"add.sat.s32", "d4 4 4", lanewise<&addSatS32>},
       {"sub.sat.s32", "d4 4 4", lanewise<&subSatS32>},
       {"mad.hi.sat.s32", "d4 4 4 4", lanewise<&madHighSatS32>},
       {"min.relu.s32", "d4 4 4", lanewise<&minRelu<int32_t>>},
       {"max.relu.s32", "d4 4 4", lanewise<&maxRelu<int32_t>>},
       {"shf.l.wrap.b32", "d4 4 4 4", lanewise<&funnel<true, false>>},
       {"shf.l.clamp.b32", "d4 4 4 4", lanewise<&funnel<true, true>>},
       {"shf.r.wrap.b32", "d4 4 4 4", lanewise<&funnel<false, false>>},
       {"shf.r.clamp.b32", "d4 4 4 4", lanewise<&funnel<false, true>>},
       {"prmt.b32", "d4 4 4 4", lanewise<&prmt<PrmtMode::Default>>},
       {"prmt.b32.f4e", "d4 4 4 4", lanewise<&prmt<PrmtMode::F4E>>},
       {"prmt.b32.b4e", "d4 4 4 4", lanewise<&prmt<PrmtMode::B4E>>},
       {"prmt.b32.rc8", "d4 4 4 4", lanewise<&prmt<PrmtMode::RC8>>},
       {"prmt.b32.ecl", "d4 4 4 4", lanewise<&prmt<PrmtMode::ECL>>},
       {"prmt.b32.ecr", "d4 4 4 4", lanewise<&prmt<PrmtMode::ECR>>},
       {"prmt.b32.rc16", "d4 4 4 4", lanewise<&prmt<PrmtMode::RC16>>},
       {"lop3.b32", "d4 4 4 4 i", runLop3},
       {"bmsk.clamp.b32", "d4 4 4", lanewise<&bmsk<true>>},
       {"bmsk.wrap.b32", "d4 4 4", lanewise<&bmsk<false>>},
       {"szext.clamp.s32", "d4 4 4", lanewise<&szext<int32_t, true>>},
       {"szext.wrap.s32", "d4 4 4", lanewise<&szext<int32_t, false>>},
       {"szext.clamp.u32", "d4 4 4", lanewise<&szext<uint32_t, true>>},
       {"szext.wrap.u32", "d4 4 4", lanewise<&szext<uint32_t, false>>},
       {"fns.b32", "d4 4 4 4", lanewise<&findNthSet>},
       {"dp4a.s32.s32", "d4 4 4 4", lanewise<&dot4<true, true>>},
       {"dp4a.s32.u32", "d4 4 4 4", lanewise<&dot4<true, false>>},
       {"dp4a.u32.s32", "d4 4 4 4", lanewise<&dot4<false, true>>},
       {"dp4a.u32.u32", "d4 4 4 4", lanewise<&dot4<false, false>>},
       {"dp2a.lo.s32.s32", "d4 4 4 4", lanewise<&dot2<true, true, false>>},
       {"dp2a.hi.s32.s32", "d4 4 4 4", lanewise<&dot2<true, true, true>>},
       {"dp2a.lo.s32.u32", "d4 4 4 4", lanewise<&dot2<true, false, false>>},
       {"dp2a.hi.s32.u32", "d4 4 4 4", lanewise<&dot2<true, false, true>>},
       {"dp2a.lo.u32.s32", "d4 4 4 4", lanewise<&dot2<false, true, false>>},
       {"dp2a.hi.u32.s32", "d4 4 4 4", lanewise<&dot2<false, true, true>>},
       {"dp2a.lo.u32.u32", "d4 4 4 4", lanewise<&dot2<false, false, false>>},
       {"dp2a.hi.u32.u32", "d4 4 4 4", lanewise<&dot2<false, false, true>>},
       {"and.pred", "dp *", predicateLogic<Logic::And>, finishLogic},
       {"or.pred", "dp *", predicateLogic<Logic::Or>, finishLogic},
       {"xor.pred", "dp *", predicateLogic<Logic::Xor>, finishLogic},
       {"not.pred", "dp *", predicateLogic<Logic::Not>, finishLogic}});
}

template <typename T> void addPairRows(Rows &rows, const char *type) {
  auto row = [&](const char *pattern, Handler handler) {
    rows.push_back({fill(pattern, type), "d4 4 4", handler});
  };
  row("add.%x2", lanewise<&eachHalf<T, add<T>>>);
  row("min.%x2", lanewise<&eachHalf<T, min<T>>>);
  row("max.%x2", lanewise<&eachHalf<T, max<T>>>);
  if constexpr (kSigned<T>) {
    row("min.relu.%x2", lanewise<&eachHalf<T, minRelu<T>>>);
    row("max.relu.%x2", lanewise<&eachHalf<T, maxRelu<T>>>);
  }
}

template <typename T> void add24Rows(Rows &rows, const char *type) {
  auto row = [&](const char *pattern, const char *operands, Handler handler) {
    rows.push_back({fill(pattern, type), operands, handler});
  };
  row("mul24.lo.%", "d4 4 4", lanewise<&mul24<T, false>>);
  row("mul24.hi.%", "d4 4 4", lanewise<&mul24<T, true>>);
  row("mad24.lo.%", "d4 4 4 4", lanewise<&mad24<T, false>>);
  row("mad24.hi.%", "d4 4 4 4", lanewise<&mad24<T, true>>);
}

} // namespace

void attn::sim::addIntegerRows(Rows &rows) {
  addArithmetic<uint16_t>(rows, "u16", "2");
  addArithmetic<int16_t>(rows, "s16", "2");
  addArithmetic<uint32_t>(rows, "u32", "4");
  addArithmetic<int32_t>(rows, "s32", "4");
  addArithmetic<uint64_t>(rows, "u64", "8");
  addArithmetic<int64_t>(rows, "s64", "8");
  addBits<uint16_t>(rows, "b16", "2");
  addBits<uint32_t>(rows, "b32", "4");
  addBits<uint64_t>(rows, "b64", "8");
  addCarryRows<uint32_t>(rows, "u32", "4");
  addCarryRows<int32_t>(rows, "s32", "4");
  addCarryRows<uint64_t>(rows, "u64", "8");
  addCarryRows<int64_t>(rows, "s64", "8");
  addPairRows<uint16_t>(rows, "u16");
  addPairRows<int16_t>(rows, "s16");
  add24Rows<uint32_t>(rows, "u32");
  add24Rows<int32_t>(rows, "s32");
  addFixedRows(rows);
}
