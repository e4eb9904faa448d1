// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers of f32 arithmetic, `width` values a lane: 2 of .f32x2, whose
// register of 64 bits holds element 0 in its low half.

#ifndef ATTN_SIM_OPS_FLOAT_LANES_H
#define ATTN_SIM_OPS_FLOAT_LANES_H

#include "ops/lanes.h"
#include "units/f32_math.h"

namespace attn::sim {

/// A mode in Inst::aux.
constexpr uint64_t kFtzBit = 16;
constexpr uint64_t kSatBit = 32;

inline F32Mode modeOf(const Inst &inst) {
  F32Mode mode;
  mode.rounding = Rounding(inst.aux & 7);
  mode.ftz = inst.aux & kFtzBit;
  mode.sat = inst.aux & kSatBit;
  return mode;
}

inline uint64_t encodeMode(const Match &match) {
  Rounding rounding = match.has(".rz")   ? Rounding::RZ
                      : match.has(".rm") ? Rounding::RM
                      : match.has(".rp") ? Rounding::RP
                                         : Rounding::RN;
  return uint64_t(rounding) | (match.has(".ftz") ? kFtzBit : 0) |
         (match.has(".sat") ? kSatBit : 0);
}

/// Writes the executing lanes of a register of `width` values.
template <unsigned width>
void storeFloats(Warp &warp, uint32_t slot, const float *values) {
  if constexpr (width == 1) {
    store(warp, slot, values);
  } else {
    uint64_t words[kLanes];
    std::memcpy(words, values, sizeof(words));
    store(warp, slot, words);
  }
}

// Rounding to nearest without .sat, the usual case in kernels; these functions
// are made to be inlined. Products use the general form where .ftz may depend
// on the bits that rounding dropped.
template <bool ftz> float flushIn(float a) { return ftz ? flushF32(a) : a; }
template <bool ftz> float flushOut(float a) {
  return canonicalF32(ftz ? flushF32(a) : a);
}
template <bool ftz> float add(float a, float b) {
  return flushOut<ftz>(flushIn<ftz>(a) + flushIn<ftz>(b));
}
template <bool ftz> float sub(float a, float b) {
  return flushOut<ftz>(flushIn<ftz>(a) - flushIn<ftz>(b));
}
inline float mul(float a, float b) { return canonicalF32(a * b); }

template <float (*function)(float, float), unsigned width = 1>
Step plain2(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  float results[width * kLanes];
  for (unsigned i = 0; i < width * kLanes; ++i) {
    results[i] = function(a[i], b[i]);
  }
  storeFloats<width>(warp, inst.slots[0], results);
  return Step::Next;
}

template <unsigned width = 1> Step plainFma(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  const float *c = warp.at<float>(inst.slots[3]);
  float results[width * kLanes];
  for (unsigned i = 0; i < width * kLanes; ++i) {
    results[i] = canonicalF32(__builtin_fmaf(a[i], b[i], c[i]));
  }
  storeFloats<width>(warp, inst.slots[0], results);
  return Step::Next;
}

// Any mode.
template <float (*function)(float, float, const F32Mode &), unsigned width = 1>
Step general2(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[width * kLanes];
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  for (unsigned i = 0; i < width * kLanes; ++i) {
    results[i] = function(a[i], b[i], mode);
  }
  storeFloats<width>(warp, inst.slots[0], results);
  return Step::Next;
}

template <unsigned width = 1> Step generalFma(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[width * kLanes];
  for (unsigned i = 0; i < width * kLanes; ++i) {
    results[i] = fmaF32(warp.at<float>(inst.slots[1])[i],
                        warp.at<float>(inst.slots[2])[i],
                        warp.at<float>(inst.slots[3])[i], mode);
  }
  storeFloats<width>(warp, inst.slots[0], results);
  return Step::Next;
}

/// Whether a result is the smallest normal number, which .ftz flushes if it was
/// rounded up to that.
inline bool isBoundary(float result) {
  return (toBits(result) & 0x7fffffff) == 0x00800000;
}

template <unsigned width = 1> Step mulFlushing(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  float results[width * kLanes];
  bool boundary = false;
  for (unsigned i = 0; i < width * kLanes; ++i) {
    results[i] = flushOut<true>(flushIn<true>(a[i]) * flushIn<true>(b[i]));
    boundary |= isBoundary(results[i]);
  }
  if (boundary) {
    return general2<mulF32, width>(warp, inst);
  }
  storeFloats<width>(warp, inst.slots[0], results);
  return Step::Next;
}

template <unsigned width = 1> Step fmaFlushing(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.slots[1]);
  const float *b = warp.at<float>(inst.slots[2]);
  const float *c = warp.at<float>(inst.slots[3]);
  float results[width * kLanes];
  bool boundary = false;
  for (unsigned i = 0; i < width * kLanes; ++i) {
    results[i] = flushOut<true>(__builtin_fmaf(
        flushIn<true>(a[i]), flushIn<true>(b[i]), flushIn<true>(c[i])));
    boundary |= isBoundary(results[i]);
  }
  if (boundary) {
    return generalFma<width>(warp, inst);
  }
  storeFloats<width>(warp, inst.slots[0], results);
  return Step::Next;
}

/// Picks the inlined form where there is one: the row's handler is the general
/// one.
template <Handler plain, Handler flushing>
bool finishMode(OperandDecoder &, const ptx::Instruction &, const Match &match,
                Inst &inst) {
  inst.aux = encodeMode(match);
  if (inst.aux == 0 && plain != nullptr) {
    inst.run = plain;
  } else if (inst.aux == kFtzBit && flushing != nullptr) {
    inst.run = flushing;
  }
  return true;
}

} // namespace attn::sim

#endif // ATTN_SIM_OPS_FLOAT_LANES_H
