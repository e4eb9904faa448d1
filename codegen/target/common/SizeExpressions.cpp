// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizeExpressions.h"
#include "KernelParams.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

/// The plan's word for an op on two integers; empty: none.
static StringRef wordOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](arith::AddIOp) { return "add"; })
      .Case([](arith::SubIOp) { return "sub"; })
      .Case([](arith::MulIOp) { return "mul"; })
      .Case<arith::DivSIOp, arith::DivUIOp>([](auto) { return "div"; })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](auto) { return "ceildiv"; })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return "mod"; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return "min"; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return "max"; })
      .Default(StringRef());
}

/// A name, or the number that it is.
static json::Value nameOrNumber(StringRef text) {
  int64_t number;
  if (!text.getAsInteger(10, number)) {
    return number;
  }
  return text.str();
}

FailureOr<json::Value> codegen::sizeExpression(ws::KernelOp kernel,
                                               Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return json::Value(constant.getSExtValue());
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &kernel.getBody().front() &&
        argument.getType().isInteger()) {
      return json::Value(
          kernel.getArgs()[argument.getArgNumber()].getName().str());
    }
    return kernel.emitOpError("attn-lower-to-nvvm: expected the number of work "
                              "items to be that of a launch, got one that "
                              "depends on a block argument");
  }
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    return sizeExpression(kernel, cast.getIn());
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto tensor = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (tensor && index) {
      return nameOrNumber(dimNames(kernel, tensor.getArgNumber())[*index]);
    }
  }
  if (isa<tile::CutOp>(op)) {
    return json::Value(value == op->getResult(0) ? wholeName : partsName);
  }
  StringRef word = wordOf(op);
  if (word.empty()) {
    return op->emitOpError("attn-lower-to-nvvm: expected the number of work "
                           "items to be computed from sizes, arguments and "
                           "constants, got one that this op makes");
  }
  FailureOr<json::Value> a = sizeExpression(kernel, op->getOperand(0));
  FailureOr<json::Value> b = sizeExpression(kernel, op->getOperand(1));
  if (failed(a) || failed(b)) {
    return failure();
  }
  return json::Value(json::Array{word, std::move(*a), std::move(*b)});
}

FailureOr<json::Value> codegen::countItems(ws::KernelOp kernel) {
  ws::WorkLoopOp loop;
  kernel.walk([&](ws::WorkLoopOp found) {
    loop = found;
    return WalkResult::interrupt();
  });
  if (!loop) {
    return json::Value(1);
  }
  FailureOr<json::Value> blocks = sizeExpression(kernel, loop.getBlocks());
  FailureOr<json::Value> heads = sizeExpression(kernel, loop.getHeads());
  FailureOr<json::Value> batches = sizeExpression(kernel, loop.getBatches());
  if (failed(blocks) || failed(heads) || failed(batches)) {
    return failure();
  }
  return json::Value(
      json::Array{"mul", std::move(*blocks),
                  json::Array{"mul", std::move(*heads), std::move(*batches)}});
}
