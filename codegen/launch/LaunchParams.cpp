// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchParams.h"
#include "SizeExpressions.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/QueryRows.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

class LaunchParams {
public:
  LaunchParams(ws::KernelOp kernel, const CopyBoxOf &copyBox)
      : kernel(kernel), copyBox(copyBox), make(kernel.getContext()) {}

  Attribute parameter(const Param &param);

private:
  StringAttr nameOf(unsigned argument) {
    return kernel.getArgs()[argument].getName();
  }
  /// Returns the name of an argument in expressions.
  StringAttr symbolOf(unsigned argument) {
    return kernel.getArgs()[argument].getSymbol();
  }
  Attribute stride(const Param &param, int64_t dim) {
    return make.name(symbolOf(param.argument).getValue() + ".stride." +
                     Twine(dim));
  }
  Attribute number(unsigned bits, Attribute expr) {
    return launch::NumberAttr::get(context(), IntegerType::get(context(), bits),
                                   expr);
  }
  Attribute tensorMap(const Param &param);
  launch::Promotion promotion();
  Attribute scalar(unsigned argument);
  MLIRContext *context() { return kernel.getContext(); }

  ws::KernelOp kernel;
  const CopyBoxOf &copyBox;
  launch::Expressions make;
};

} // namespace

/// Five dimensions: columns of a panel, positions, panels, heads, batches, so
/// that one copy loads a whole tile as panels. If the tensor ends within a
/// panel, four: columns, positions, heads, batches. Packed heads come before
/// positions. Where positions have empty rows, five: columns, heads of a group,
/// positions, groups, batches; the heads of a group end before a box does.
Attribute LaunchParams::tensorMap(const Param &param) {
  SmallVector<Attribute> sizes = sizesOf(kernel, param.argument);
  AccessMap access = *AccessMap::parse(param.map);
  int64_t packed = access.packedHeads, rows = access.rowsOfPosition();
  int64_t elementBytes = param.box.getElementTypeBitWidth() / 8;
  SmallVector<launch::MapDimAttr> dims;
  auto add = [&](Attribute size, Attribute stride, int64_t box) {
    dims.push_back(launch::MapDimAttr::get(context(), size, stride, box));
  };
  auto strideOf = [&](AccessMap::Coordinate coordinate, int64_t elements) {
    return make.apply(LaunchOp::Mul, {stride(param, access.dimOf(coordinate)),
                                      make.number(elements * elementBytes)});
  };
  auto addStrided = [&](AccessMap::Coordinate coordinate, int64_t box) {
    add(sizes[access.dimOf(coordinate)], strideOf(coordinate, 1), box);
  };
  int64_t columns = cast<RankedTensorType>(
                        kernel.getBody().getArgument(param.argument).getType())
                        .getDimSize(3);
  CopyBox box = copyBox(param.box, columns, param.ctas);
  bool hasPanels = box.endsWithPanel && !access.hasEmptyRows();
  add(make.number(hasPanels ? box.columns : columns), nullptr, box.columns);
  if (access.hasEmptyRows()) {
    add(make.number(packed), strideOf(AccessMap::Head, 1), rows);
  } else if (packed > 1) {
    addStrided(AccessMap::Head, packed);
  }
  addStrided(AccessMap::Position, box.rows / rows);
  if (hasPanels) {
    add(make.number(columns / box.columns),
        make.number(box.columns * elementBytes), box.panels);
  }
  if (packed == 1) {
    addStrided(AccessMap::Head, 1);
  } else if (access.hasEmptyRows()) {
    Attribute heads = sizes[access.dimOf(AccessMap::Head)];
    add(make.apply(LaunchOp::Div, {heads, make.number(packed)}),
        strideOf(AccessMap::Head, packed), 1);
  }
  addStrided(AccessMap::Batch, 1);
  return launch::TensorMapAttr::get(context(), nameOf(param.argument),
                                    *launch::symbolizeSpan(box.span),
                                    promotion(), dims);
}

/// Tiles that one work item alone reads come from memory, not from the L2
/// cache: HBM3e reads faster by 128 bytes than by 256, and HBM3 equally fast.
launch::Promotion LaunchParams::promotion() {
  return QueryRows::of(kernel).areInOneItem() ? launch::Promotion::B128
                                              : launch::Promotion::B256;
}

/// Whether threads access more than one element of the tensor at a time, or the
/// copy engine does.
static bool isMovedInPairs(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    auto copy = dyn_cast<ws::CopyOp>(user);
    return (copy && !copy.getMap()) ||
           isa<tile::LoadOp, tile::StoreRegOp, ws::ReduceAddOp>(user);
  });
}

Attribute LaunchParams::scalar(unsigned argument) {
  Type type = kernel.getBody().getArgument(argument).getType();
  if (type.isF32()) {
    return launch::ScalarAttr::get(context(), nameOf(argument));
  }
  return launch::NumberAttr::get(context(), type,
                                 sizeNamed(kernel, symbolOf(argument)));
}

Attribute LaunchParams::parameter(const Param &param) {
  switch (param.kind) {
  case Param::TensorMap:
    return tensorMap(param);
  case Param::Pointer:
    return launch::PointerAttr::get(
        context(), nameOf(param.argument),
        isMovedInPairs(kernel.getBody().getArgument(param.argument)));
  case Param::Workspace:
    return launch::WorkspaceAttr::get(context());
  case Param::Dim:
    return number(32, sizesOf(kernel, param.argument)[param.dim]);
  case Param::Stride:
    return number(64, stride(param, param.dim));
  case Param::Cut:
    return number(32, make.name(param.dim == 0 ? wholeName : partsName));
  case Param::Scalar:
    return scalar(param.argument);
  }
  return {};
}

ArrayAttr codegen::launchParams(ws::KernelOp kernel, const CopyBoxOf &copyBox,
                                ArrayRef<Param> params) {
  LaunchParams writer(kernel, copyBox);
  SmallVector<Attribute> list;
  for (const Param &param : params) {
    list.push_back(writer.parameter(param));
  }
  return ArrayAttr::get(kernel.getContext(), list);
}
