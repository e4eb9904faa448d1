// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the `ws` dialect.
#include "attn/dialect/Ws.h"

using namespace mlir;
using namespace attn::ws;

LogicalResult KernelOp::verifyRegions() {
  // ws.kernel C1
  if (getArgNames().size() != getBody().getNumArguments()) {
    return emitOpError("expected as many argument names as arguments, got ")
           << getArgNames().size() << " names and "
           << getBody().getNumArguments() << " arguments";
  }
  // ws.kernel C2
  if (getBody().getOps<RoleOp>().empty()) {
    return emitOpError("expected at least one role, got none");
  }
  return success();
}

LogicalResult ChannelOp::verify() {
  // ws.channel C1
  if (getDepth() < 1) {
    return emitOpError("expected a depth of at least 1, got ") << getDepth();
  }
  // ws.channel C2
  if (getTypes().empty()) {
    return emitOpError("expected at least one type, got none");
  }
  for (Type type : getTypes().getAsValueRange<TypeAttr>()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile || tile.getRank() != 2 || !tile.hasStaticShape() ||
        tile.getElementTypeBitWidth() != 16) {
      return emitOpError("expected static 16-bit tiles of rank 2, got ")
             << type;
    }
  }
  return success();
}

LogicalResult RoleOp::verifyRegions() {
  // ws.role C1
  if (getBody().getNumArguments() != 1 ||
      !getBody().getArgument(0).getType().isInteger(32)) {
    return emitOpError("expected one i32 block argument, got ")
           << getBody().getNumArguments() << " arguments";
  }
  // ws.role C2
  if (getWarps() < 1 || getReplicas() < 1) {
    return emitOpError("expected at least one warp and one replica, got ")
           << getWarps() << " warps and " << getReplicas() << " replicas";
  }
  return success();
}

LogicalResult ForOp::verifyRegions() {
  // ws.for C2
  if (getBounds().size() != getKinds().size() + 1) {
    return emitOpError("expected one more bound than kinds, got ")
           << getBounds().size() << " bounds and " << getKinds().size()
           << " kinds";
  }
  llvm::SmallDenseSet<int64_t> slots;
  std::optional<int64_t> maskedShift;
  for (Operation &op : getBody().front().without_terminator()) {
    auto entry = dyn_cast<EntryOp>(op);
    // ws.for C1
    if (!entry) {
      return op.emitOpError("expected only 'ws.entry' in the body of 'ws.for'");
    }
    if (!slots.insert(entry.getSlot()).second) {
      return entry.emitOpError("expected a slot of its own, got slot ")
             << entry.getSlot() << " a second time";
    }
    // ws.for C3
    if (entry.getPassthrough()) {
      if (maskedShift && *maskedShift != (int64_t)entry.getShift()) {
        return entry.emitOpError("expected masked entries to have one shift, "
                                 "got ")
               << entry.getShift() << " after " << *maskedShift;
      }
      maskedShift = entry.getShift();
    }
  }
  return success();
}
