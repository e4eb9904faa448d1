// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 arithmetic whose first operands are f16 or bf16.

#include "ops/float_lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

template <bool isBF16> float widen(uint32_t word) {
  return isBF16 ? fromBF16(uint16_t(word)) : fromF16(uint16_t(word));
}

template <float (*function)(float, float, const F32Mode &), bool isBF16>
Step mixed2(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = function(widen<isBF16>(warp.word(inst.slots[1])[lane]),
                             warp.at<float>(inst.slots[2])[lane], mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <bool isBF16> Step mixedFma(Warp &warp, const Inst &inst) {
  F32Mode mode = modeOf(inst);
  float results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = fmaF32(widen<isBF16>(warp.word(inst.slots[1])[lane]),
                           widen<isBF16>(warp.word(inst.slots[2])[lane]),
                           warp.at<float>(inst.slots[3])[lane], mode);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <bool isBF16> void addType(Rows &rows, const char *name) {
  Finish mode = finishMode<nullptr, nullptr>;
  rows.insert(rows.end(), {{fill("add[.rn|.rz|.rm|.rp][.sat].f32.%", name),
                            "d4 2 f4", mixed2<addF32, isBF16>, mode},
                           {fill("sub[.rn|.rz|.rm|.rp][.sat].f32.%", name),
                            "d4 2 f4", mixed2<subF32, isBF16>, mode},
                           {fill("fma{.rn|.rz|.rm|.rp}[.sat].f32.%", name),
                            "d4 2 2 f4", mixedFma<isBF16>, mode}});
}

} // namespace

void attn::sim::addMixedFloatRows(Rows &rows) {
  const size_t first = rows.size();
  addType<false>(rows, "f16");
  addType<true>(rows, "bf16");
  require(rows, first, kBlackwell);
}
