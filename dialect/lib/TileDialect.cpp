// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Chip.h"

using namespace mlir;
using namespace attn::tile;

#include "attn/dialect/TileDialect.cpp.inc"
#include "attn/dialect/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/dialect/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "attn/dialect/TileOps.cpp.inc"

void TileDialect::initialize() {
  addInterfaces<ChipInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/dialect/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/dialect/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/dialect/TileOps.cpp.inc"
      >();
}
