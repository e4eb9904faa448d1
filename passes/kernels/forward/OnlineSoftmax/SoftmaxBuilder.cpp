// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SoftmaxBuilder.h"

using namespace mlir;
using namespace attn;

Value SoftmaxBuilder::constant(double value, RankedTensorType type) {
  auto attr = DenseElementsAttr::get(type, static_cast<float>(value));
  return make<arith::ConstantOp>(attr);
}
