// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkSection.h"

using namespace mlir;
using namespace attn;

Value attn::headsOfSection(TileBuilder &b, ConfigAttr config, Value planes,
                           Value keys, int64_t bytesOfKey) {
  int64_t fitting = (config.getSectionMib() << 20) / bytesOfKey;
  Value one = b.i32(1);
  Value most = b.max(b.div(b.i32(fitting), b.max(keys, one)), one);
  if (config.getOrder() == WorkOrder::ShortestLast) {
    return most; // the only section
  }
  Value sections = b.max(b.ceilDiv(planes, most), one);
  return b.ceilDiv(planes, sections);
}
