// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Nvx.h"

using namespace mlir;
using namespace attn::nvx;

#include "attn/dialect/NvxDialect.cpp.inc"
#include "attn/dialect/NvxEnums.cpp.inc"
#define GET_OP_CLASSES
#include "attn/dialect/NvxOps.cpp.inc"

void NvxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "attn/dialect/NvxOps.cpp.inc"
      >();
}
