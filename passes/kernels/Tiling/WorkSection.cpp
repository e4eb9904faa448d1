// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkSection.h"

using namespace mlir;
using namespace attn;

/// Returns the bytes of a row of a head.
static int64_t rowBytesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getDimSize(3) * type.getElementTypeBitWidth() / 8;
}

Value attn::headsOfSection(TileBuilder &b, ConfigAttr config, Value k, Value v,
                           Value planes, Value keys) {
  int64_t fitting =
      (config.getSectionMib() << 20) / (rowBytesOf(k) + rowBytesOf(v));
  Value one = b.i32(1);
  Value most = b.max(b.div(b.i32(fitting), b.max(keys, one)), one);
  if (config.getOrder() == WorkOrder::ShortestLast) {
    return most; // the only section
  }
  Value sections = b.max(b.ceilDiv(planes, most), one);
  return b.ceilDiv(planes, sections);
}
