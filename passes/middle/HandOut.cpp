// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-hand-out: writes the ops through which roles, and the CTAs of a cluster,
// receive work items: handing out, verdicts and second runs, and the mailbox.
#include "attn/dialect/ItemMemory.h"
#include "attn/passes/middle/Passes.h"

namespace attn {
#define GEN_PASS_DEF_HANDOUT
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

class HandOut {
public:
  explicit HandOut(ws::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()) {}

  LogicalResult run();
  /// Checks the postconditions of the pass.
  LogicalResult check();

private:
  bool isHandedOut() {
    return kernel.getConfig().getWork() == WorkKind::Dynamic;
  }
  LogicalResult declareVerdict();
  LogicalResult giveVerdicts();
  LogicalResult endItem(ws::WorkLoopOp loop);
  void handOut(tile::NextWorkOp next);
  Value chooseItem(tile::NextWorkOp next);

  ws::KernelOp kernel;
  OpBuilder builder;
  FlatSymbolRefAttr verdict, mailbox;
};

/// Adds a declaration before the roles; `name` is changed if it is already
/// used.
template <typename Op>
FlatSymbolRefAttr declare(ws::KernelOp kernel, OpBuilder &builder,
                          StringRef name) {
  auto roles = kernel.getBody().getOps<ws::RoleOp>();
  builder.setInsertionPoint(*roles.begin());
  auto op = Op::create(builder, kernel.getLoc(), builder.getStringAttr(name),
                       IntegerAttr());
  return FlatSymbolRefAttr::get(SymbolTable(kernel).insert(op));
}

} // namespace

LogicalResult HandOut::run() {
  if (ws::mayReject(kernel)) {
    if (failed(declareVerdict()) || failed(giveVerdicts())) {
      return failure();
    }
  }
  if (!isHandedOut()) {
    return success();
  }
  SmallVector<tile::NextWorkOp> items;
  kernel.walk([&](tile::NextWorkOp next) {
    if (next->getParentOfType<ws::WorkLoopOp>()) {
      items.push_back(next);
    }
  });
  if (items.size() > 1) {
    return items[1].emitOpError("attn-hand-out: expected one role to take the "
                                "work items that are handed out, got another "
                                "'tile.next_work' before");
  }
  if (!items.empty() && ws::hasMailbox(kernel.getConfig())) {
    mailbox = declare<ws::MailboxOp>(kernel, builder, "mailbox");
  }
  llvm::for_each(items, [&](tile::NextWorkOp next) { handOut(next); });
  return success();
}

LogicalResult HandOut::declareVerdict() {
  if (kernel.getConfig().getWork() == WorkKind::Static) {
    return kernel.emitOpError("attn-hand-out: expected 'work' to be grid or "
                              "dynamic where items may be rejected, got "
                              "static");
  }
  verdict = declare<ws::VerdictOp>(kernel, builder, "verdict");
  return success();
}

/// If items are not handed out, all roles agree at the end of an item's first
/// run on whether it has a second one.
LogicalResult HandOut::giveVerdicts() {
  SmallVector<tile::RejectOp> rejects;
  kernel.walk([&](tile::RejectOp reject) { rejects.push_back(reject); });
  for (tile::RejectOp reject : rejects) {
    builder.setInsertionPoint(reject);
    ws::GiveVerdictOp::create(builder, reject.getLoc(), verdict,
                              reject.getWork(), reject.getFailed());
    reject.erase();
  }
  if (isHandedOut()) {
    return success();
  }
  return failure(kernel
                     .walk([&](ws::WorkLoopOp loop) {
                       return failed(endItem(loop)) ? WalkResult::interrupt()
                                                    : WalkResult::advance();
                     })
                     .wasInterrupted());
}

LogicalResult HandOut::endItem(ws::WorkLoopOp loop) {
  auto items = loop.getBody().getOps<tile::NextWorkOp>();
  if (!llvm::hasSingleElement(items)) {
    return loop.emitOpError("attn-hand-out: expected one 'tile.next_work' "
                            "where items may be rejected, got ")
           << std::distance(items.begin(), items.end());
  }
  builder.setInsertionPointToEnd(&loop.getBody().front());
  ws::SecondRunOp::create(builder, loop.getLoc(), (*items.begin()).getWork(),
                          verdict, Value());
  return success();
}

/// Returns the item that the counter gave, or one that was rejected.
Value HandOut::chooseItem(tile::NextWorkOp next) {
  Location loc = next.getLoc();
  Type type = next.getWork().getType();
  Value item = ws::TakeItemOp::create(
      builder, loc, type, next.getBlocks(), next.getHeads(), next.getBatches(),
      next.getSection(), next.getWhole(), next.getParts());
  return verdict ? ws::ChooseItemOp::create(builder, loc, type, item, verdict)
                       .getWork()
                 : item;
}

void HandOut::handOut(tile::NextWorkOp next) {
  builder.setInsertionPoint(next);
  Value work;
  if (mailbox) {
    auto share = ws::ShareWorkOp::create(builder, next.getLoc(),
                                         next.getWork().getType(), mailbox);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&share.getBody());
    ws::YieldOp::create(builder, next.getLoc(), chooseItem(next));
    work = share.getWork();
  } else {
    work = chooseItem(next);
  }
  next.getWork().replaceAllUsesWith(work);
  next.erase();
}

LogicalResult HandOut::check() {
  WalkResult walked = kernel.walk([&](Operation *op) {
    bool isLeft = isa<tile::RejectOp>(op) ||
                  (isHandedOut() && isa<tile::NextWorkOp>(op) &&
                   op->getParentOfType<ws::WorkLoopOp>());
    if (isLeft) {
      op->emitOpError("attn-hand-out: expected the op to be lowered");
    }
    return isLeft ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

namespace {

class HandOutPass : public attn::impl::HandOutBase<HandOutPass> {
public:
  using HandOutBase::HandOutBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      HandOut handOut(kernel);
      if (failed(handOut.run()) || failed(handOut.check())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
