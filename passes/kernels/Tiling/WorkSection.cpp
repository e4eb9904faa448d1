// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkSection.h"

using namespace mlir;
using namespace attn;

Value attn::writeSection(TileBuilder &b, ConfigAttr config, Value keyHeads,
                         Value keys, int64_t bytesOfKey) {
  if (config.getSectionMib() == 0) {
    return {};
  }
  int64_t fitting = (config.getSectionMib() << 20) / bytesOfKey;
  Value one = b.i32(1);
  Value most = b.div(b.i32(fitting), b.max(keys, one));
  Value sections = b.max(b.ceilDiv(keyHeads, b.max(most, one)), one);
  return b.ceilDiv(keyHeads, sections);
}
