// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Ws.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace attn::ws;

#include "attn/dialect/WsDialect.cpp.inc"
#include "attn/dialect/WsEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/dialect/WsAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/WsTypes.cpp.inc"
#define GET_OP_CLASSES
#include "attn/dialect/WsOps.cpp.inc"

namespace {
/// Constants of a role stay in the role: besides its roles, a kernel only has
/// declarations and scalars.
struct WsFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isa<RoleOp, SetupOp>(region->getParentOp());
  }
};
} // namespace

void WsDialect::initialize() {
  addInterfaces<WsFoldInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/dialect/WsAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/dialect/WsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/dialect/WsOps.cpp.inc"
      >();
}
