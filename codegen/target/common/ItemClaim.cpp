// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ItemClaim.h"
#include "Arithmetic.h"
#include "SharedMemory.h"
#include "attn/codegen/launch/StampLayout.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns a pointer to the number, which lies before the words of stamps.
static Value claimPointer(OpBuilder &builder, Location loc,
                          ws::KernelOp kernel) {
  std::optional<StampLayout> stamps = StampLayout::of(kernel);
  int64_t offset = static_cast<int64_t>(*kernel.getSmemBytes()) -
                   (stamps ? stamps->sharedBytes() : 0) - ws::claimBytes;
  Arithmetic emit{builder, loc};
  return sharedPointer(builder, loc,
                       smemAddress(builder, loc, emit.constant(offset)));
}

/// Every CTA asks once, so that the counter wraps to 0 for the next launch. It
/// orders nothing but itself: an item waits for turns, not for claims.
void codegen::claimItem(ws::KernelOp kernel, const ParamValues &params) {
  OpBuilder builder(*kernel.getBody().getOps<ws::RoleOp>().begin());
  Location loc = kernel.getLoc();
  auto setup = ws::SetupOp::create(builder, loc);
  builder.createBlock(&setup.getBody());
  if (kernel.getSchedule().getLaunch() == Launch::Dependent) {
    // The launch before may use the counter, too.
    NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  }
  Arithmetic emit{builder, loc};
  Value ctas = NVVM::GridDimXOp::create(builder, loc, builder.getI32Type());
  Value number = LLVM::AtomicRMWOp::create(
      builder, loc, LLVM::AtomicBinOp::uinc_wrap, params.workspace(),
      emit.sub(ctas, emit.constant(1)), LLVM::AtomicOrdering::monotonic,
      "device");
  LLVM::StoreOp::create(builder, loc, number,
                        claimPointer(builder, loc, kernel));
}

Value codegen::claimedItem(OpBuilder &builder, Location loc,
                           ws::KernelOp kernel) {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                              claimPointer(builder, loc, kernel));
}
