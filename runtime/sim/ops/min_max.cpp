// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// min and max of two or three f32.

#include "ops/float_lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

/// Bits of Inst::aux.
constexpr uint64_t kFtz = 1;
constexpr uint64_t kNaN = 2;
constexpr uint64_t kXorSign = 4;
constexpr uint64_t kAbs = 8;

MinMaxMode readMode(const Inst &inst) {
  MinMaxMode mode;
  mode.ftz = inst.aux & kFtz;
  mode.propagateNaN = inst.aux & kNaN;
  mode.xorsignAbs = inst.aux & kXorSign;
  return mode;
}

template <bool ftz, bool isMax> float minMax(float a, float b) {
  a = flushIn<ftz>(a);
  b = flushIn<ftz>(b);
  uint32_t equal = isMax ? toBits(a) & toBits(b) : toBits(a) | toBits(b);
  float ordered = (isMax ? a > b : a < b) ? a : b;
  float both = a == b ? f32FromBits(equal) : ordered;
  return canonicalF32(a != a ? b : b != b ? a : both);
}

template <bool ftz, bool isMax> float minMax3(float a, float b, float c) {
  return minMax<ftz, isMax>(minMax<ftz, isMax>(a, b), c);
}

template <bool isMax>
float anyMinMax(float a, float b, const MinMaxMode &mode) {
  return isMax ? maxF32(a, b, mode) : minF32(a, b, mode);
}

template <bool isMax> Step generalMinMax(Warp &warp, const Inst &inst) {
  MinMaxMode mode = readMode(inst);
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = anyMinMax<isMax>(warp.at<float>(inst.slots[1])[lane],
                                     warp.at<float>(inst.slots[2])[lane], mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <bool isMax> Step generalMinMax3(Warp &warp, const Inst &inst) {
  MinMaxMode mode = readMode(inst);
  const uint32_t kept = inst.aux & kAbs ? 0x7fffffff : 0xffffffff;
  auto read = [&](unsigned operand, unsigned lane) {
    return f32FromBits(warp.word(inst.slots[operand])[lane] & kept);
  };
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    float both = anyMinMax<isMax>(read(1, lane), read(2, lane), mode);
    results[lane] = anyMinMax<isMax>(both, read(3, lane), mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// The row's handler is the general one of two operands.
template <bool isMax>
bool finishMinMax(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  const bool hasThree = inst.slots[3] != kNone;
  const bool hasAbs = match.has(".abs");
  inst.aux = (match.has(".ftz") ? kFtz : 0) | (match.has(".NaN") ? kNaN : 0) |
             (match.has(".xorsign") ? kXorSign : 0) | (hasAbs ? kAbs : 0);
  if (!hasThree) {
    inst.run = inst.aux == 0      ? lanewise<&minMax<false, isMax>>
               : inst.aux == kFtz ? lanewise<&minMax<true, isMax>>
                                  : inst.run;
    return hasAbs == match.has(".xorsign") ||
           decoder.fail(instruction.at,
                        "expected .xorsign and .abs together of two operands");
  }
  inst.run = inst.aux == 0      ? lanewise<&minMax3<false, isMax>>
             : inst.aux == kFtz ? lanewise<&minMax3<true, isMax>>
                                : generalMinMax3<isMax>;
  return decoder.requireTargets(instruction, kBlackwell) &&
         (!match.has(".xorsign") ||
          decoder.fail(instruction.at, "expected two operands with .xorsign"));
}

} // namespace

void attn::sim::addMinMaxRows(Rows &rows) {
  rows.insert(rows.end(),
              {{"min[.ftz][.NaN][.xorsign][.abs].f32", "d4 f4 f4 ?f4",
                generalMinMax<false>, finishMinMax<false>},
               {"max[.ftz][.NaN][.xorsign][.abs].f32", "d4 f4 f4 ?f4",
                generalMinMax<true>, finishMinMax<true>}});
}
