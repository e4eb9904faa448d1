// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds have no barriers in memory: what orders the accesses to one are its
// replica's own waits, a named barrier where its warps have to meet, and an
// edge where another role stores it.
#include "HoldPatterns.h"
#include "SyncPatterns.h"

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

bool codegen::warpsMeet(ws::RoleOp role) {
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
static void roleBarrier(const Arithmetic &emit, const RoleSync &sync) {
  ws::RoleOp role = sync.getRole();
  Value id = emit.add(role.getBody().getArgument(0),
                      sync.plan.named(role.getSymName()));
  NVVM::BarrierOp::create(emit.builder, emit.loc, TypeRange{}, id,
                          emit.constant(warpThreads * role.getWarps()), {},
                          Value());
}

/// What this thread has written to shared memory becomes visible to copies and
/// matrix instructions.
static void fenceAsyncProxy(const Arithmetic &emit) {
  MLIRContext *context = emit.builder.getContext();
  NVVM::FenceProxyOp::create(
      emit.builder, emit.loc,
      NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

namespace {

/// A matrix instruction is the warpgroup's, and a warp's wait for it tells of
/// that warp's part alone: before a warp overwrites what the last one has read,
/// all of them have waited. Of its own tile each warp reads the rows that it
/// has put itself, so its lanes alone meet; as they do before one of them tells
/// another role that the tile is there.
struct PutPattern : SyncPattern<ws::PutOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::PutOp op,
                                PatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    if (overwritesOperands(op, sync.getRole()) && !haveMet(op)) {
      roleBarrier(emit, sync);
    }
    if (isOperand(op, sync.getRole()) ||
        isStoredElsewhere(op, sync.getRole())) {
      rewriter.setInsertionPointAfter(op);
      fenceAsyncProxy(emit);
      NVVM::SyncWarpOp::create(rewriter, op.getLoc(), emit.constant(-1));
    }
    return success();
  }
};

struct HeldPattern : SyncPattern<ws::HeldOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::HeldOp op,
                                PatternRewriter &rewriter) const override {
    Arithmetic emit{rewriter, op.getLoc()};
    auto hold = sync.getKernel().lookupSymbol<ws::HoldOp>(op.getHold());
    Value bytes = emit.mul(op.getPiece(), hold.getPieceBytes());
    rewriter.replaceOpWithNewOp<ws::SlotAtOp>(
        op, op.getTile().getType(), emit.add(bytes, *hold.getOffset()));
    return success();
  }
};

/// Every thread has made its share visible to the copy engine; one thread
/// issues. Where a role of one thread stores what another has put, that role
/// has, before it signalled.
struct StorePattern : SyncPattern<ws::StoreOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::StoreOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    if (sync.isSingleThread) {
      awaitFirstResults(emit, sync, op);
      return success();
    }
    fenceAsyncProxy(emit);
    roleBarrier(emit, sync);
    emit.enterIf(emit.isRoleThreadZero());
    awaitFirstResults(emit, sync, op);
    rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                          rewriter.getInsertionPoint());
    return success();
  }
};

struct AwaitStorePattern : SyncPattern<ws::AwaitStoreOp> {
  using SyncPattern::SyncPattern;

  LogicalResult matchAndRewrite(ws::AwaitStoreOp op,
                                PatternRewriter &rewriter) const override {
    BarrierOps emit = sync.at(rewriter, op.getLoc());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      if (!sync.isSingleThread) {
        emit.enterIf(emit.isRoleThreadZero());
      }
      NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, op.getLoc(), 0,
                                           rewriter.getUnitAttr());
    }
    if (!sync.isSingleThread) {
      roleBarrier(emit, sync);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void codegen::populateHoldPatterns(RewritePatternSet &patterns,
                                   const RoleSync &sync) {
  patterns.add<PutPattern, HeldPattern, StorePattern, AwaitStorePattern>(
      patterns.getContext(), sync);
}
