// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds have no barriers in memory: what orders the accesses to one are its
// replica's own waits, a named barrier where its warps have to meet, and an
// edge where another role stores it.
#include "HoldLowering.h"
#include "ChannelLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {
/// Shared memory of a channel or hold, from its first byte to behind its last.
struct Extent {
  int64_t begin, end;

  bool overlaps(Extent other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

static Extent extentOf(ws::KernelOp kernel, StringRef name) {
  Operation *place = kernel.lookupSymbol(name);
  auto extent = [](auto op) -> Extent {
    int64_t begin = *op.getOffset();
    return {begin, begin + op.getBytes()};
  };
  auto hold = dyn_cast<ws::HoldOp>(place);
  return hold ? extent(hold) : extent(cast<ws::ChannelOp>(place));
}

static bool reads(ws::MmaOp mma, function_ref<bool(StringRef)> isPlace) {
  return llvm::any_of(ValueRange{mma.getA(), mma.getB()}, [&](Value operand) {
    auto slot = dyn_cast<ws::SlotType>(operand.getType());
    return slot && isPlace(slot.getChannel().getValue());
  });
}

bool codegen::overwritesOperand(ws::PutOp put, ws::MmaOp mma) {
  auto kernel = put->getParentOfType<ws::KernelOp>();
  Extent written = extentOf(kernel, put.getHold());
  return reads(mma, [&](StringRef place) {
    return extentOf(kernel, place).overlaps(written);
  });
}

static bool anyMma(ws::RoleOp role, function_ref<bool(ws::MmaOp)> holds) {
  return role
      ->walk([&](ws::MmaOp mma) {
        return holds(mma) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Does the tile lie where matrix instructions of the role read?
static bool overwritesOperands(ws::PutOp put, ws::RoleOp role) {
  return anyMma(role,
                [&](ws::MmaOp mma) { return overwritesOperand(put, mma); });
}

/// Is the tile one that matrix instructions of the role read?
static bool isOperand(ws::PutOp put, ws::RoleOp role) {
  return anyMma(role, [&](ws::MmaOp mma) {
    return reads(mma, [&](StringRef place) { return place == put.getHold(); });
  });
}

/// Is the tile one that another role stores?
static bool isStoredElsewhere(ws::PutOp put, ws::RoleOp role) {
  auto kernel = role->getParentOfType<ws::KernelOp>();
  return kernel
      ->walk([&](ws::StoreOp store) {
        return store.getHold() == put.getHold() &&
                       store->getParentOfType<ws::RoleOp>() != role
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Have the warps of the replica met since they last waited for a matrix
/// instruction? What comes before `op` has been lowered.
static bool haveMet(Operation *op) {
  for (op = op->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<NVVM::BarrierOp>(op)) {
      return true;
    }
    auto waits = [](ws::AwaitOp) { return WalkResult::interrupt(); };
    if (op->walk(waits).wasInterrupted()) {
      return false;
    }
  }
  return false;
}

/// Has the role a barrier on which the warps of a replica meet?
bool ChannelLowering::warpsMeet(ws::RoleOp role) {
  return !role.isSingleThread() &&
         role->walk([&](Operation *op) {
               auto put = dyn_cast<ws::PutOp>(op);
               return isa<ws::StoreOp>(op) ||
                              (put && overwritesOperands(put, role))
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
}

/// All threads of this replica.
void ChannelLowering::roleBarrier() {
  Value id = arith::AddIOp::create(builder, loc, role.getBody().getArgument(0),
                                   constant(namedBarriers[role.getSymName()]));
  NVVM::BarrierOp::create(builder, loc, TypeRange{}, id,
                          constant(warpThreads * role.getWarps()), {}, Value());
}

/// What this thread has written to shared memory becomes visible to copies and
/// matrix instructions.
void ChannelLowering::fenceAsyncProxy() {
  NVVM::FenceProxyOp::create(
      builder, loc,
      NVVM::ProxyKindAttr::get(builder.getContext(),
                               NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

/// A matrix instruction is the warpgroup's, and a warp's wait for it tells of
/// that warp's part alone: before a warp overwrites what the last one has read,
/// all of them have waited. Of its own tile each warp reads the rows that it
/// has put itself, so its lanes alone meet; as they do before one of them tells
/// another role that the tile is there.
void ChannelLowering::lowerPut(ws::PutOp op) {
  if (overwritesOperands(op, role) && !haveMet(op)) {
    roleBarrier();
  }
  if (isOperand(op, role) || isStoredElsewhere(op, role)) {
    builder.setInsertionPointAfter(op);
    fenceAsyncProxy();
    NVVM::SyncWarpOp::create(builder, loc, constant(-1));
  }
}

void ChannelLowering::lowerHeld(ws::HeldOp op) {
  auto hold = kernel.lookupSymbol<ws::HoldOp>(op.getHold());
  Value bytes = arith::MulIOp::create(builder, loc, op.getPiece(),
                                      constant(hold.getPieceBytes()));
  Value offset =
      arith::AddIOp::create(builder, loc, bytes, constant(*hold.getOffset()));
  op.replaceAllUsesWith(
      ws::SlotAtOp::create(builder, loc, op.getTile().getType(), offset)
          .getResult());
  op.erase();
}

/// Every thread has made its share visible to the copy engine; one thread
/// issues. Where a role of one thread stores what another has put, that role
/// has, before it signalled.
void ChannelLowering::lowerStore(ws::StoreOp op) {
  if (singleThread) {
    awaitFirstResults(op);
    return;
  }
  fenceAsyncProxy();
  roleBarrier();
  OpBuilder::InsertionGuard guard(builder);
  onlyIf(isRoleThreadZero());
  awaitFirstResults(op);
  op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
}

void ChannelLowering::lowerAwaitStore(ws::AwaitStoreOp op) {
  {
    OpBuilder::InsertionGuard guard(builder);
    if (!singleThread) {
      onlyIf(isRoleThreadZero());
    }
    NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, 0,
                                         builder.getUnitAttr());
  }
  if (!singleThread) {
    roleBarrier();
  }
  op.erase();
}
