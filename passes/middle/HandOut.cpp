// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-hand-out: writes out how roles, and the CTAs of a cluster, learn of work
// items: verdicts and second runs, handing out, and the mailbox.
#include "attn/dialect/ItemMemory.h"
#include "attn/passes/middle/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
  /// What the pass ensures.
  LogicalResult check();

private:
  bool isHandedOut() {
    return kernel.getConfig().getWork() == WorkKind::Dynamic;
  }
  LogicalResult declareVerdict();
  LogicalResult giveVerdicts();
  LogicalResult takeVerdict(ws::WorkLoopOp loop);
  void handOut(tile::NextWorkOp next);
  Value chooseItem(tile::NextWorkOp next);
  void askOnce(ws::FetchWorkOp fetch, Value work);
  void enterIf(Location loc, Value condition);

  ws::KernelOp kernel;
  OpBuilder builder;
  FlatSymbolRefAttr verdict, mailbox;
};

/// Adds a declaration before the roles; `name` is changed if it is taken.
template <typename Op, typename... Args>
FlatSymbolRefAttr declare(ws::KernelOp kernel, OpBuilder &builder,
                          StringRef name, Args... args) {
  auto roles = kernel.getBody().getOps<ws::RoleOp>();
  builder.setInsertionPoint(*roles.begin());
  auto op = Op::create(builder, kernel.getLoc(), builder.getStringAttr(name),
                       args..., IntegerAttr());
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
  kernel.walk([&](tile::NextWorkOp next) { items.push_back(next); });
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
  auto flag = [&](bool is) { return is ? builder.getUnitAttr() : UnitAttr(); };
  verdict =
      declare<ws::VerdictOp>(kernel, builder, "verdict", flag(isHandedOut()),
                             flag(kernel.getConfig().getCluster() > 1));
  return success();
}

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
  WalkResult walked = kernel.walk([&](ws::WorkLoopOp loop) {
    return failed(takeVerdict(loop)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// All roles agree, at the end of an item's first run, on whether it has a
/// second one.
LogicalResult HandOut::takeVerdict(ws::WorkLoopOp loop) {
  Location loc = loop.getLoc();
  auto items = loop.getBody().getOps<tile::NextWorkOp>();
  if (items.empty()) {
    return loop.emitOpError("attn-hand-out: expected a 'tile.next_work' where "
                            "items may be rejected, got none");
  }
  builder.setInsertionPointToEnd(&loop.getBody().front());
  Value second = tile::IsRedoOp::create(builder, loc, builder.getI1Type(),
                                        (*items.begin()).getWork());
  auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(), second,
                                  /*withElseRegion=*/true);
  OpBuilder inSecond = branch.getThenBodyBuilder();
  Value no = arith::ConstantIntOp::create(inSecond, loc, 0, 1);
  scf::YieldOp::create(inSecond, loc, no);
  OpBuilder inFirst = branch.getElseBodyBuilder();
  Value rejected =
      ws::TakeVerdictOp::create(inFirst, loc, inFirst.getI1Type(), verdict);
  scf::YieldOp::create(inFirst, loc, rejected);
  ws::RunAgainOp::create(builder, loc, branch.getResult(0));
  return success();
}

/// The item that the counter gave, or one that was rejected.
Value HandOut::chooseItem(tile::NextWorkOp next) {
  Location loc = next.getLoc();
  Type i32 = builder.getI32Type(), i1 = builder.getI1Type();
  auto taken = ws::TakeItemOp::create(
      builder, loc, i32, i1, next.getBlocks(), next.getHeads(),
      next.getBatches(), next.getSection(), next.getWhole(), next.getParts());
  Value number = taken.getNumber(), exists = taken.getExists(), second, slot;
  if (verdict) {
    auto chosen = ws::ChooseItemOp::create(builder, loc, i32, i1, i1, i32,
                                           number, exists, verdict);
    number = chosen.getNumber();
    exists = chosen.getExists();
    second = chosen.getSecond();
    slot = chosen.getSlot();
  }
  return ws::ItemAtOp::create(
      builder, loc, next.getWork().getType(), number, exists, second, slot,
      next.getBlocks(), next.getHeads(), next.getBatches(), next.getSection(),
      next.getWhole(), next.getParts());
}

void HandOut::handOut(tile::NextWorkOp next) {
  auto loop = next->getParentOfType<ws::WorkLoopOp>();
  if (!loop) {
    return;
  }
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
  SmallVector<ws::FetchWorkOp> fetches;
  loop.walk([&](ws::FetchWorkOp fetch) { fetches.push_back(fetch); });
  llvm::for_each(fetches, [&](ws::FetchWorkOp op) { askOnce(op, work); });
}

void HandOut::enterIf(Location loc, Value condition) {
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
}

/// In a second run the counter's answer is still to be used.
void HandOut::askOnce(ws::FetchWorkOp fetch, Value work) {
  Location loc = fetch.getLoc();
  builder.setInsertionPoint(fetch);
  if (mailbox) {
    enterIf(loc, ws::IsFirstCtaOp::create(builder, loc, builder.getI1Type()));
  }
  if (verdict) {
    Value second =
        ws::IsSecondRunOp::create(builder, loc, builder.getI1Type(), work);
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    enterIf(loc, arith::XOrIOp::create(builder, loc, second, yes));
  }
  fetch->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
}

LogicalResult HandOut::check() {
  WalkResult walked = kernel.walk([&](Operation *op) {
    bool isLeft = isa<tile::RejectOp>(op) ||
                  (isHandedOut() && isa<tile::NextWorkOp>(op) &&
                   op->getParentOfType<ws::WorkLoopOp>());
    if (isLeft) {
      op->emitOpError("attn-hand-out: expected the op to be written out");
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
