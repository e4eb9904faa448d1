// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VectorDims.h"

using namespace mlir;
using namespace attn;

static bool isVector(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && tensor.hasStaticShape() && tensor.getRank() == 1;
}

void VectorDims::join(Value a, Value b) {
  if (isVector(a) && isVector(b)) {
    alike.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
}

void VectorDims::join(ValueRange a, ValueRange b) {
  for (auto [first, second] : llvm::zip(a, b)) {
    join(first, second);
  }
}

/// Joins the vectors that an op requires to have the same dimension.
void VectorDims::visit(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case([&](tile::ReduceOp op) {
        anchors.push_back({op, op.getResult(), int64_t(op.getDim())});
      })
      .Case([&](tile::BroadcastOp op) {
        anchors.push_back({op, op.getSource(), int64_t(op.getDim())});
      })
      .Case([&](tile::StepOp op) {
        join(op.getOperands(), op.getBody().getArguments());
        join(op.getBody().front().getTerminator()->getOperands(),
             op.getResults());
        if (op.getMasked()) {
          join(op.getOperands().take_front(1), op.getResults());
        }
      })
      .Case([&](tile::ForOp op) {
        Block &body = op.getBody().front();
        join(op.getInits(), op.getResults());
        join(body.getArguments().drop_front(1), op.getResults());
        join(body.getTerminator()->getOperands(), op.getResults());
      })
      .Case([&](tile::JoinOp op) {
        Block &body = op.getBody().front();
        size_t count = op.getValues().size();
        join(op.getValues(), op.getResults());
        join(body.getArguments().take_front(count), op.getResults());
        join(body.getArguments().drop_front(count), op.getResults());
        join(body.getTerminator()->getOperands(), op.getResults());
      })
      .Case([&](scf::IfOp op) {
        for (Region &region : op->getRegions()) {
          if (!region.empty()) {
            join(region.front().getTerminator()->getOperands(),
                 op.getResults());
          }
        }
      })
      .Default([&](Operation *op) {
        // Elementwise arithmetic, and gathers.
        Value first;
        for (Value value :
             llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                 SmallVector<Value>(op->getResults()))) {
          if (isVector(value)) {
            first = first ? first : value;
            join(first, value);
          }
        }
      });
}

VectorDims::VectorDims(tile::KernelOp kernel) {
  kernel.getBody().walk([&](Operation *op) { visit(op); });
  for (const Anchor &anchor : anchors) {
    void *vector = anchor.vector.getAsOpaquePointer();
    alike.insert(vector);
    auto [known, isNew] =
        anchorOf.insert({alike.getLeaderValue(vector), anchor});
    if (!isNew && known->second.dim != anchor.dim && !conflict) {
      conflict = {known->second, anchor};
    }
  }
}

LogicalResult VectorDims::check() const {
  if (!conflict) {
    return success();
  }
  auto [first, second] = *conflict;
  InFlightDiagnostic diagnostic =
      second.op->emitOpError("attn-resolve-layouts: expected a vector along "
                             "dimension ")
      << 1 - first.dim << ", as others that it is computed with, got one along "
      << "dimension " << 1 - second.dim;
  diagnostic.attachNote(first.op->getLoc()) << "one of the others";
  return diagnostic;
}

int64_t VectorDims::of(Value vector) const {
  void *value = vector.getAsOpaquePointer();
  auto found = alike.findLeader(value);
  if (found == alike.member_end()) {
    return 1;
  }
  auto anchor = anchorOf.find(*found);
  return anchor == anchorOf.end() ? 1 : anchor->second.dim;
}
