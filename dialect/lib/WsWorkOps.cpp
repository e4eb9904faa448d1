// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the ops on work items, and the rules of ws.kernel about them;
// labels are those of WsOps.td and WsWorkOps.td.
#include "WsWorkOps.h"

using namespace mlir;
using namespace attn::ws;

//===----------------------------------------------------------------------===//
// Ops.
//===----------------------------------------------------------------------===//

bool VerdictOp::isHandedOut() {
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  return kernel.getConfig().getWork() == attn::WorkKind::Dynamic;
}

bool VerdictOp::isInCluster() {
  return cast<KernelOp>((*this)->getParentOp()).getConfig().getCluster() > 1;
}

/// Returns "a block argument" or "'ws.get_work'".
static std::string sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? "'" + op->getName().getStringRef().str() + "'"
            : "a block argument";
}

LogicalResult ChooseItemOp::verify() {
  auto take = getNext().getDefiningOp<TakeItemOp>(); // C1
  if (!take || take->getBlock() != (*this)->getBlock()) {
    return emitOpError("expected the item of a 'ws.take_item' in its block, "
                       "got that of ")
           << sourceOf(getNext());
  }
  if (!getNext().hasOneUse()) {
    return emitOpError("expected no other use of the item of 'ws.take_item', "
                       "because a rejected item may run before it");
  }
  return success();
}

/// Checks that the role hands the item out itself: it is not the result of a
/// ws.get_work.
static LogicalResult verifyTakenByRole(Operation *op, Value work) {
  if (!isa_and_nonnull<attn::tile::NextWorkOp, TakeItemOp, ChooseItemOp,
                       ShareWorkOp>(work.getDefiningOp())) {
    return op->emitOpError("expected the item that its role takes, got that "
                           "of ")
           << sourceOf(work);
  }
  return success();
}

LogicalResult PutWorkOp::verify() {
  return verifyTakenByRole(*this, getWork()); // C2
}

LogicalResult FetchWorkOp::verify() {
  return verifyTakenByRole(*this, getWork()); // C1
}

LogicalResult ShareWorkOp::verifyRegions() {
  Block &body = getBody().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  unsigned chosen = 0;
  for (Operation &op : body) { // C1
    chosen += isa<ChooseItemOp>(op);
    bool isFirst = &op == &body.front();
    if (isa<TakeItemOp>(op) != isFirst || chosen > 1 ||
        !isa<TakeItemOp, ChooseItemOp, YieldOp>(op)) {
      return op.emitOpError("expected a 'ws.take_item', then at most one "
                            "'ws.choose_item', in a 'ws.share_work'");
    }
  }
  if (!yield || yield.getNumOperands() != 1 || &body.front() == yield ||
      yield.getOperand(0) != yield->getPrevNode()->getResult(0)) {
    return emitOpError("expected to yield the work item that was taken last");
  }
  return success();
}

LogicalResult WorkLoopOp::verifyRegions() {
  for (auto second : getBody().getOps<SecondRunOp>()) { // C1
    if (second->getNextNode()) {
      return second.emitOpError(
                 "expected to be the last op of the iteration, got a '")
             << second->getNextNode()->getName() << "' after it";
    }
  }
  auto ends = getBody().getOps<EndUnlessWorkOp>();
  if (ends.empty()) {
    return success();
  }
  for (Operation *op = &getBody().front().front(); op != *ends.begin();
       op = op->getNextNode()) { // C2
    WalkResult walked = op->walk([](FetchWorkOp fetch) {
      fetch.emitOpError("expected to come after 'ws.end_unless_work' in its "
                        "iteration, got one before it");
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted()) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels.
//===----------------------------------------------------------------------===//

namespace {

/// The ops of a kernel on work items.
class ItemRules {
public:
  explicit ItemRules(KernelOp kernel) : kernel(kernel) {
    auto verdicts = kernel.getBody().getOps<VerdictOp>();
    auto mailboxes = kernel.getBody().getOps<MailboxOp>();
    verdict = verdicts.empty() ? VerdictOp() : *verdicts.begin();
    mailbox = mailboxes.empty() ? MailboxOp() : *mailboxes.begin();
  }

  LogicalResult verify();

private:
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyTake(TakeItemOp take);
  LogicalResult verifyDeclarations();
  LogicalResult verifyStores();
  template <typename Op> LogicalResult verifyAtMostOne();

  attn::WorkKind work() { return kernel.getConfig().getWork(); }
  bool isCluster() { return kernel.getConfig().getCluster() > 1; }

  KernelOp kernel;
  VerdictOp verdict;
  MailboxOp mailbox;
  TakeItemOp taken;
  bool mayReject = false;
  SmallVector<StoreOp> stores;
};

} // namespace

/// C11: one of each.
template <typename Op> LogicalResult ItemRules::verifyAtMostOne() {
  auto declared = kernel.getBody().getOps<Op>();
  if (declared.empty() || llvm::hasSingleElement(declared)) {
    return success();
  }
  Op second = *std::next(declared.begin());
  return second.emitOpError("expected at most one '")
         << second->getName() << "' in a kernel, got another before";
}

/// C13 and C14, of the declarations.
LogicalResult ItemRules::verifyDeclarations() {
  if (verdict && work() == attn::WorkKind::Static) {
    return verdict.emitOpError("expected work 'grid' or 'dynamic', got '")
           << stringifyWorkKind(work()) << "'";
  }
  if (mailbox && !(work() == attn::WorkKind::Dynamic && isCluster())) {
    return mailbox.emitOpError(
               "expected work 'dynamic' in a cluster, got work '")
           << stringifyWorkKind(work()) << "' and a cluster of "
           << kernel.getConfig().getCluster();
  }
  return success();
}

/// C9 and C13, where items are handed out.
LogicalResult ItemRules::verifyTake(TakeItemOp take) {
  if (taken) {
    InFlightDiagnostic error = take.emitOpError(
        "expected one 'ws.take_item' in a kernel, got another before");
    error.attachNote(taken.getLoc()) << "the other 'ws.take_item'";
    return error;
  }
  taken = take;
  Operation *parent = take->getParentOp();
  bool isShared = isa<ShareWorkOp>(parent);
  auto loop = dyn_cast<WorkLoopOp>(isShared ? parent->getParentOp() : parent);
  if (!loop || work() != attn::WorkKind::Dynamic) {
    return take.emitOpError("expected to be an op of a 'ws.work_loop' with work"
                            " 'dynamic', got one of a '")
           << parent->getName() << "' with work '" << stringifyWorkKind(work())
           << "'";
  }
  // Without a cluster there is no mailbox (C14), and so no sharing.
  if (isCluster() && !isShared) {
    return take.emitOpError("expected a 'ws.share_work' around it where "
                            "'cluster' is ")
           << kernel.getConfig().getCluster() << ", got none";
  }
  int64_t parts = kernel.getConfig().getLastWaveParts();
  if (bool(take.getWhole()) != (parts > 1)) {
    return take.emitOpError(parts > 1 ? "expected a" : "expected no")
           << " 'cut' where 'last_wave_parts' is " << parts << ", got "
           << (parts > 1 ? "none" : "one");
  }
  auto role = cast<RoleOp>(loop->getParentOp());
  if (!role.isSingleThread() || role.getReplicas() != 1) {
    return take.emitOpError("expected one thread to hand out items, got role '")
           << role.getSymName() << "' of " << role.getReplicas() << " x "
           << role.getWarps() << " warps";
  }
  bool isChosen = take->hasOneUse() && isa<ChooseItemOp>(*take->user_begin());
  if (verdict && !isChosen) {
    return take.emitOpError("expected 'ws.choose_item' to be the only use of "
                            "the item where items may be rejected");
  }
  return success();
}

/// C18: the stores of the first run must not complete after those of the
/// second.
LogicalResult ItemRules::verifyStores() {
  for (StoreOp store : stores) {
    if (bool(store.getFirstRun()) != mayReject) {
      return store.emitOpError(mayReject ? "expected 'after_first_run' where "
                                           "items may be rejected, got none"
                                         : "expected no 'after_first_run' "
                                           "where no item may be rejected, got "
                                           "one");
    }
  }
  return success();
}

LogicalResult ItemRules::verifyOp(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op)) {
    stores.push_back(store);
  }
  mayReject |= isa<attn::tile::RejectOp, GiveVerdictOp>(op);
  if (auto take = dyn_cast<TakeItemOp>(op)) {
    return verifyTake(take);
  }
  if (isa<attn::tile::RejectOp, GiveVerdictOp>(op) &&
      !isa<WorkLoopOp>(op->getParentOp())) { // C10
    return op->emitOpError("expected to be an op of a 'ws.work_loop', got one "
                           "of a '")
           << op->getParentOp()->getName() << "'";
  }
  if (isa<SecondRunOp>(op) && work() != attn::WorkKind::Grid) { // C13
    return op->emitOpError("expected work 'grid', got '")
           << stringifyWorkKind(work()) << "'";
  }
  auto loop = dyn_cast<WorkLoopOp>(op);
  if (loop && verdict && work() == attn::WorkKind::Grid &&
      loop.getBody().getOps<SecondRunOp>().empty()) { // C13
    return loop.emitOpError("expected to end with a 'ws.second_run' where "
                            "items may be rejected, got none");
  }
  return success();
}

LogicalResult ItemRules::verify() {
  if (failed(verifyAtMostOne<VerdictOp>()) ||
      failed(verifyAtMostOne<MailboxOp>()) || failed(verifyDeclarations())) {
    return failure();
  }
  WalkResult walked = kernel.walk([&](Operation *op) {
    return failed(verifyOp(op)) ? WalkResult::interrupt()
                                : WalkResult::advance();
  });
  return failure(walked.wasInterrupted() || failed(verifyStores()));
}

LogicalResult attn::ws::verifyItems(KernelOp kernel) {
  return ItemRules(kernel).verify();
}
