// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/KernelParams.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/dialect/Launch.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

int64_t codegen::sharersOf(ws::KernelOp kernel, TypedValue<ws::SlotType> slot) {
  auto channel =
      kernel.lookupSymbol<ws::ChannelOp>(slot.getType().getChannel());
  return channel.getCluster() ? clusterOf(kernel) : 1;
}

namespace {

class Collector {
public:
  explicit Collector(ws::KernelOp kernel) : kernel(kernel) {}

  FailureOr<SmallVector<Param>> run() {
    WalkResult result = kernel.walk([&](Operation *op) {
      return failed(visit(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return failure();
    }
    if (claimsItem(kernel)) {
      add({Param::Workspace, 0, 0, {}, {}});
    }
    llvm::sort(params, [](const Param &a, const Param &b) {
      return std::tie(a.kind, a.argument, a.dim) <
             std::tie(b.kind, b.argument, b.dim);
    });
    return params;
  }

private:
  static unsigned number(Value argument) {
    return cast<BlockArgument>(argument).getArgNumber();
  }
  void add(Param param) {
    if (!llvm::is_contained(params, param)) {
      params.push_back(param);
    }
  }

  LogicalResult addMap(Operation *op, Value tensor, RankedTensorType box,
                       AffineMap map, int64_t ctas) {
    Param param{Param::TensorMap, number(tensor), 0, box, map, ctas};
    auto *known = llvm::find(params, param);
    if (known != params.end() && known->box != box) {
      return op->emitOpError(
                 "attn-lower-to-nvvm: expected one box for argument ")
             << param.argument << ", got " << known->box << " and " << box;
    }
    if (known != params.end() && known->ctas != ctas) {
      return op->emitOpError(
                 "attn-lower-to-nvvm: expected one scope for copies "
                 "of argument ")
             << param.argument << ", got shares of " << known->ctas << " and "
             << ctas << " CTAs";
    }
    add(param);
    return success();
  }

  void addAccess(Value tensor) {
    add({Param::Pointer, number(tensor), 0, {}, {}});
    auto type = cast<RankedTensorType>(tensor.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      add({Param::Dim, number(tensor), dim, {}, {}});
      add({Param::Stride, number(tensor), dim, {}, {}});
    }
  }

  /// Returns the tensor whose elements the threads themselves read or write.
  static Value tensorOfElements(Operation *op) {
    return TypeSwitch<Operation *, Value>(op)
        .Case<tile::StoreRowOp, tile::StoreRegOp, tile::ScatterOp,
              tile::ReduceAddOp, ws::ReduceAddOp>(
            [](auto store) { return store.getDest(); })
        .Case<ws::CopyOp, tile::LoadOp, tile::LoadRowOp, tile::GatherOp>(
            [](auto load) { return load.getSource(); })
        .Case<tile::TurnWaitOp, tile::TurnPassOp>(
            [](auto turn) { return turn.getTurns(); })
        .Default(Value());
  }

  LogicalResult visit(Operation *op) {
    auto copy = dyn_cast<ws::CopyOp>(op);
    if (copy && copy.getMap()) {
      return addMap(op, copy.getSource(),
                    cast<ws::SlotType>(copy.getSlot().getType()).getTile(),
                    *copy.getMap(), sharersOf(kernel, copy.getSlot()));
    }
    if (auto store = dyn_cast<ws::StoreOp>(op)) {
      auto hold = kernel.lookupSymbol<ws::HoldOp>(store.getHold());
      auto tile = cast<RankedTensorType>(hold.getType());
      return addMap(
          op, store.getDest(),
          RankedTensorType::get(tile.getShape(), tile.getElementType()),
          store.getMap(), /*ctas=*/1);
    }
    if (Value tensor = tensorOfElements(op)) {
      addAccess(tensor);
    } else if (isa<ws::FetchWorkOp, ws::StampsOp, tile::JoinOp>(op)) {
      add({Param::Workspace, 0, 0, {}, {}});
    } else if (isa<tile::CutOp>(op)) {
      for (int64_t result : {0, 1}) {
        add({Param::Cut, 0, result, {}, {}});
      }
    } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      add({Param::Dim,
           number(dim.getSource()),
           *dim.getConstantIndex(),
           {},
           {}});
    }
    for (Value operand : op->getOperands()) {
      if (operand.getType().isIntOrFloat() && isa<BlockArgument>(operand) &&
          operand.getParentBlock() == &kernel.getBody().front()) {
        add({Param::Scalar, number(operand), 0, {}, {}});
      }
    }
    return success();
  }

  ws::KernelOp kernel;
  SmallVector<Param> params;
};

} // namespace

FailureOr<SmallVector<Param>> codegen::collectParams(ws::KernelOp kernel) {
  return Collector(kernel).run();
}

SmallVector<Attribute> codegen::sizesOf(ws::KernelOp kernel,
                                        unsigned argument) {
  return launch::sizesOf(kernel.getArgs(), kernel.getBody().getArgumentTypes(),
                         argument);
}

Attribute codegen::sizeNamed(ws::KernelOp kernel, StringAttr name) {
  return launch::sizeNamed(kernel.getArgs(),
                           kernel.getBody().getArgumentTypes(), name);
}
