// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fault.h"

using namespace mlir;
using namespace attn;
using namespace attn::faults;

bool faults::isEvent(Operation *op) {
  return isa<ws::AcquireOp, ws::CopyOp, ws::WaitOp, ws::ReleaseOp,
             ws::FetchWorkOp, ws::PutWorkOp, ws::GetWorkOp, ws::EndUnlessWorkOp,
             ws::MmaOp, ws::AwaitOp, ws::AwaitStepOp, ws::PutOp, ws::StoreOp,
             ws::AwaitStoreOp, ws::TakeOp, ws::GiveOp, ws::SignalOp,
             ws::WaitEdgeOp, ws::SyncOp, ws::GiveVerdictOp, ws::SecondRunOp,
             ws::TakeItemOp, ws::ChooseItemOp, ws::ShareWorkOp, tile::JoinOp>(
      op);
}

bool faults::hasEvent(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isEvent(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The channel, hold, turn, edge or rendezvous that `op` names, or whose slot
/// it uses.
static StringRef objectOf(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs()) {
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue())) {
      return symbol.getValue();
    }
  }
  auto types = llvm::concat<Type>(op->getResultTypes(), op->getOperandTypes());
  StringRef found;
  for (Type type : types) {
    // The last slot type; for a product, that of B.
    if (auto slot = dyn_cast<ws::SlotType>(type)) {
      found = slot.getChannel().getValue();
    }
  }
  return found;
}

/// Tells the parts of a program by the loops and branches around `op`.
static std::string partOf(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto entry = dyn_cast<ws::EntryOp>(parent)) {
    return "entry " + entry.getName().str();
  }
  if (isa<ws::RoleOp>(parent)) {
    return "role end";
  }
  if (isa<ws::ForOp>(parent)) {
    return "loop";
  }
  auto isNested = [](Operation &each) {
    return isa<scf::ForOp, scf::IfOp, ws::ForOp>(each) && hasEvent(&each);
  };
  auto isBehindNested = [&] {
    return llvm::any_of(
        llvm::make_range(op->getBlock()->begin(), op->getIterator()), isNested);
  };
  if (isa<ws::WorkLoopOp>(parent)) {
    return isBehindNested() ? "item end" : "item start";
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    auto role = op->getParentOfType<ws::RoleOp>();
    bool computes =
        !loop.getOps<ws::MmaOp>().empty() || role.getReplicas() == 1;
    return computes ? "loop" : "skipped";
  }
  if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    if (op->getParentRegion() == &branch.getElseRegion()) {
      return "empty";
    }
    return isBehindNested() ? "epilogue" : "prologue";
  }
  return parent->getName().stripDialect().str();
}

Fault faults::faultAt(Operation *op, StringRef kind, const Twine &detail,
                      std::function<void()> plant) {
  Fault fault;
  fault.kind = kind.str();
  if (auto role = op->getParentOfType<ws::RoleOp>()) {
    fault.place = role.getSymName().str() + " " + partOf(op);
  } else {
    fault.place = "kernel";
  }
  auto symbol = op->getAttrOfType<StringAttr>("sym_name");
  StringRef object = symbol ? symbol.getValue() : objectOf(op);
  fault.object = op->getName().stripDialect().str();
  if (!object.empty()) {
    fault.object += " " + object.str();
  }
  fault.detail = detail.str();
  auto location = op->getLoc()->findInstanceOf<FileLineColLoc>();
  fault.line = location ? location.getLine() : 0;
  fault.plant = std::move(plant);
  return fault;
}
