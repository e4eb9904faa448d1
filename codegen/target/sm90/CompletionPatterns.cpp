// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product belongs to the warpgroup, but a warp's wait covers only that warp's
// part.
#include "../common/HoldPatterns.h"
#include "../common/SyncPatterns.h"
#include "Patterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static bool anyMma(ws::RoleOp role, function_ref<bool(ws::MmaOp)> holds) {
  return role
      ->walk([&](ws::MmaOp mma) {
        return holds(mma) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether products of the role read what a put overwrites.
static bool overwritesOperands(ws::PutOp put) {
  return anyMma(put->getParentOfType<ws::RoleOp>(),
                [&](ws::MmaOp mma) { return overwritesOperand(put, mma); });
}

/// Whether warps of the role add rows of another hold to memory that a put
/// overwrites.
static bool overwritesAdditions(ws::PutOp put) {
  return put->getParentOfType<ws::RoleOp>()
      ->walk([&](ws::ReduceAddOp add) {
        bool overwrites =
            add.getHold() != put.getHold() && overlaps(put, add.getHold());
        return overwrites ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether products of the role read the tile.
static bool isOperand(ws::PutOp put, ws::RoleOp role) {
  return anyMma(role, [&](ws::MmaOp mma) {
    return readsPlace(mma,
                      [&](StringRef place) { return place == put.getHold(); });
  });
}

/// Whether a product reads the pieces of all replicas.
static bool isReadWhole(ws::PutOp put) {
  auto kernel = put->getParentOfType<ws::KernelOp>();
  return kernel
      ->walk([&](ws::HeldOp held) {
        return held.getHold() == put.getHold() && !held.getPiece()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether another role stores the tile, or adds it to memory.
static bool isStoredElsewhere(ws::PutOp put, ws::RoleOp role) {
  auto kernel = role->getParentOfType<ws::KernelOp>();
  auto moves = [&](auto op) {
    return op.getHold() == put.getHold() &&
           op->template getParentOfType<ws::RoleOp>() != role;
  };
  return kernel
      ->walk([&](Operation *op) {
        bool isElsewhere = TypeSwitch<Operation *, bool>(op)
                               .Case<ws::StoreOp, ws::ReduceAddOp>(moves)
                               .Default(false);
        return isElsewhere ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the warps of the replica have met since their last wait for a
/// product or an addition. The ops before `op` are already lowered.
static bool haveMet(Operation *op) {
  for (op = op->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<NVVM::BarrierOp>(op)) {
      return true;
    }
    auto waits = [](Operation *inner) {
      return isa<ws::AwaitOp, NVVM::CpAsyncBulkWaitGroupOp>(inner)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (op->walk(waits).wasInterrupted()) {
      return false;
    }
  }
  return false;
}

/// Returns the meeting that replicas have before they read each other's pieces,
/// or null if something else may read them before. What stands between need not
/// wait for the writes to shared memory.
static ws::SyncOp meetingAfter(Operation *op) {
  for (op = op->getNextNode(); op; op = op->getNextNode()) {
    if (auto meeting = dyn_cast<ws::SyncOp>(op)) {
      return meeting;
    }
    if (op->getNumRegions() != 0 ||
        isa<ws::PutOp, ws::HeldOp, ws::SignalOp>(op)) {
      return {};
    }
  }
  return {};
}

namespace {

/// Before a warp overwrites operands of the last product, all warps must have
/// waited for it. Of a tile that a role puts for itself, each warp reads only
/// the rows that it has put, so only its lanes meet; they also meet before one
/// lane signals the tile to another role.
struct PutPattern : SyncPattern<ws::PutOp> {
  using SyncPattern::SyncPattern;

  /// Numbers the piece within the ring of a hold; returns the ring's depth.
  int64_t enterSlot(ws::PutOp op, const BarrierOps &emit,
                    PatternRewriter &rewriter) const {
    auto hold = sync.getKernel().lookupSymbol<ws::HoldOp>(op.getHold());
    int64_t depth = hold.getDepth();
    if (depth > 1) {
      auto cycle = sync.getCounters().currentCycle(emit, op.getHold(), depth);
      Value piece =
          emit.add(op.getPiece(), emit.mul(cycle.slot, hold.getPieces()));
      rewriter.modifyOpInPlace(op, [&] { op.getPieceMutable().assign(piece); });
      sync.getCounters().moveOn(emit, op.getHold(), depth, cycle);
    }
    return depth;
  }

  void lower(ws::PutOp op, const BarrierOps &emit,
             PatternRewriter &rewriter) const override {
    bool isOfAll = isReadWhole(op), isAlone = sync.getRole().getReplicas() == 1;
    int64_t depth = enterSlot(op, emit, rewriter);
    // Replicas that read each other's pieces meet; so do the warps of one that
    // fills a ring.
    bool meets = isOfAll && (!isAlone || depth > 1);
    if (!meets && (overwritesOperands(op) || overwritesAdditions(op)) &&
        !haveMet(op)) {
      roleBarrier(emit, sync);
    }
    if (isOperand(op, sync.getRole()) ||
        isStoredElsewhere(op, sync.getRole())) {
      ws::SyncOp meeting = meets ? meetingAfter(op) : nullptr;
      meeting ? rewriter.setInsertionPoint(meeting)
              : rewriter.setInsertionPointAfter(op);
      fenceAsyncProxy(emit);
      if (isOfAll && isAlone) {
        roleBarrier(emit, sync);
      } else {
        NVVM::SyncWarpOp::create(rewriter, op.getLoc(), emit.constant(-1));
      }
    }
  }
};

} // namespace

void sm90::populateCompletionPatterns(RewritePatternSet &patterns,
                                      RoleSync &sync) {
  patterns.add<PutPattern>(patterns.getContext(), sync);
}
