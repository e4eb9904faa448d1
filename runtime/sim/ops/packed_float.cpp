// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on pairs of f32, each as the instruction on one f32.

#include "ops/float_lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

void attn::sim::addPackedFloatRows(Rows &rows) {
  const size_t first = rows.size();
  rows.insert(
      rows.end(),
      {{"add[.rn|.rz|.rm|.rp][.ftz].f32x2", "d8 8 8", general2<addF32, 2>,
        finishMode<plain2<add<false>, 2>, plain2<add<true>, 2>>},
       {"sub[.rn|.rz|.rm|.rp][.ftz].f32x2", "d8 8 8", general2<subF32, 2>,
        finishMode<plain2<sub<false>, 2>, plain2<sub<true>, 2>>},
       {"mul[.rn|.rz|.rm|.rp][.ftz].f32x2", "d8 8 8", general2<mulF32, 2>,
        finishMode<plain2<mul, 2>, mulFlushing<2>>},
       {"fma{.rn|.rz|.rm|.rp}[.ftz].f32x2", "d8 8 8 8", generalFma<2>,
        finishMode<plainFma<2>, fmaFlushing<2>>}});
  require(rows, first, kBlackwell);
}
