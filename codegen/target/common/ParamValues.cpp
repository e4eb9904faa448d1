// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ParamValues.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static Type typeOf(ws::KernelOp kernel, const Param &param) {
  MLIRContext *context = kernel.getContext();
  switch (param.kind) {
  case Param::TensorMap:
    return LLVM::LLVMPointerType::get(context);
  case Param::Pointer:
  case Param::Workspace:
    return LLVM::LLVMPointerType::get(context, 1);
  case Param::Dim:
  case Param::Cut:
    return IntegerType::get(context, 32);
  case Param::Stride:
    return IntegerType::get(context, 64);
  case Param::Scalar:
    return kernel.getBody().getArgument(param.argument).getType();
  }
  llvm_unreachable("unknown kind of parameter");
}

ParamValues::ParamValues(ws::KernelOp kernel, ArrayRef<Param> given)
    : params(given) {
  SmallVector<Value> arguments(kernel.getBody().getArguments());
  for (const Param &param : params) {
    values.push_back(
        kernel.getBody().addArgument(typeOf(kernel, param), kernel.getLoc()));
    if (param.kind == Param::Scalar) {
      arguments[param.argument].replaceAllUsesWith(values.back());
    }
  }
  SmallVector<tensor::DimOp> dims;
  kernel.walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    Value size = of(Param::Dim, dim.getSource(), *dim.getConstantIndex());
    for (Operation *cast : llvm::make_early_inc_range(dim->getUsers())) {
      cast->getResult(0).replaceAllUsesWith(size);
      cast->erase();
    }
    dim.erase();
  }
}

Value ParamValues::find(const Param &param) const {
  return values[llvm::find(params, param) - params.begin()];
}

Value ParamValues::of(Param::Kind kind, Value tensor, int64_t dim) const {
  unsigned argument = cast<BlockArgument>(tensor).getArgNumber();
  return find({kind, argument, dim, {}, {}});
}

Value ParamValues::cut(int64_t result) const {
  return find({Param::Cut, 0, result, {}, {}});
}

bool ParamValues::hasCut() const {
  return llvm::any_of(
      params, [](const Param &param) { return param.kind == Param::Cut; });
}

Value ParamValues::workspace() const {
  return find({Param::Workspace, 0, 0, {}, {}});
}
