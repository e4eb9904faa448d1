// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../ArgumentNames.h"
#include "../KernelFunction.h"
#include "CaptureGradient.h"
#include "attn/passes/kernels/Gradients.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

namespace {

/// An argument of a function whose gradient can be requested.
struct Candidate {
  std::string name; // in the launch plan
  unsigned number;
  bool isCapture;
};

} // namespace

static FailureOr<SmallVector<Candidate>> listCandidates(func::FuncOp func,
                                                        AttentionOp op) {
  FailureOr<ArgumentNames> names = ArgumentNames::of(func, op.getCaptures());
  if (failed(names)) {
    return failure();
  }
  SmallVector<Candidate> all;
  auto add = [&](const ArgumentName &name, Value argument, bool isCapture) {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    all.push_back({name.name, number, isCapture});
  };
  for (auto [name, value] :
       {std::pair<StringRef, Value>(names::q, op.getQuery()),
        {names::k, op.getKey()},
        {names::v, op.getValue()},
        {names::scale, op.getScale()},
        {names::sinks, op.getSinks()}}) {
    if (value) {
      add(names->take(name), value, /*isCapture=*/false);
    }
  }
  for (auto [name, capture] : llvm::zip(names->captures(), op.getCaptures())) {
    add(name, capture, /*isCapture=*/true);
  }
  return all;
}

static LogicalResult mark(func::FuncOp func, AttentionOp op,
                          const GradientRequest &request) {
  FailureOr<SmallVector<Candidate>> all = listCandidates(func, op);
  if (failed(all)) {
    return failure();
  }
  auto unit = UnitAttr::get(func.getContext());
  auto anyOrder = StringAttr::get(func.getContext(), kAnyOrder);
  for (const std::string &name : request.names) {
    auto *found = llvm::find_if(
        *all, [&](const Candidate &each) { return each.name == name; });
    if (found == all->end()) {
      auto known = llvm::map_range(
          *all, [](const Candidate &each) { return each.name; });
      return op.emitOpError("expected gradients of '")
             << llvm::join(known, "', '") << "', got '" << name << "'";
    }
    bool mayReorder = found->isCapture && request.anyOrder;
    func.setArgAttr(found->number, kGradientAttr,
                    mayReorder ? Attribute(anyOrder) : unit);
  }
  if (request.names.empty()) {
    for (Value operand : {op.getQuery(), op.getKey(), op.getValue()}) {
      func.setArgAttr(cast<BlockArgument>(operand).getArgNumber(),
                      kGradientAttr, unit);
    }
  }
  if (request.anyOrder) {
    func->setAttr(kAnyOrderAttr, unit);
  }
  return success();
}

LogicalResult attn::requestGradients(ModuleOp module,
                                     const GradientRequest &request) {
  SmallVector<AttentionOp> ops;
  module.walk([&](AttentionOp op) {
    if (isa<func::FuncOp>(op->getParentOp())) {
      ops.push_back(op);
    }
  });
  if (ops.empty()) {
    return module.emitError("expected an 'attn.attention' of a function, for "
                            "its gradients, got none");
  }
  for (AttentionOp op : ops) {
    auto func = cast<func::FuncOp>(op->getParentOp());
    if (failed(checkKernelFunction(func, op)) ||
        failed(mark(func, op, request))) {
      return failure();
    }
  }
  return success();
}
