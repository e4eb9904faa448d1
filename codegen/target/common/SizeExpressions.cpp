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

json::Value codegen::nameOrNumber(StringRef text) {
  int64_t number;
  if (!text.getAsInteger(10, number)) {
    return number;
  }
  return text.str();
}

namespace {

class SizeWriter {
public:
  explicit SizeWriter(ws::KernelOp kernel) : kernel(kernel) {}

  FailureOr<json::Value> write(Value value);

private:
  FailureOr<json::Value> writeArgument(BlockArgument argument);
  FailureOr<json::Value> writeOp(Operation *op);
  LogicalResult checkCast(arith::IndexCastOp cast);
  LogicalResult checkSigns(Operation *op);
  bool isNeverNegative(Value value);

  ws::KernelOp kernel;
};

constexpr StringLiteral pass = "attn-lower-to-nvvm: ";

} // namespace

/// Sizes are, and what keeps the sign of its operands.
bool SizeWriter::isNeverNegative(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return !constant.isNegative();
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return false;
  }
  auto is = [&](Value operand) { return isNeverNegative(operand); };
  if (isa<arith::MaxSIOp>(op)) {
    return llvm::any_of(op->getOperands(), is);
  }
  return isa<tensor::DimOp, tile::CutOp>(op) ||
         (!isa<arith::SubIOp>(op) &&
          (isa<arith::IndexCastOp>(op) || !wordOf(op).empty()) &&
          llvm::all_of(op->getOperands(), is));
}

/// The plan rounds down and knows no unsigned numbers: it agrees with the
/// kernel where nothing is negative, and where division rounds up.
LogicalResult SizeWriter::checkSigns(Operation *op) {
  bool agrees = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
                    arith::MaxSIOp, arith::CeilDivSIOp>(op);
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (!agrees && !isNeverNegative(operand)) {
      return op->emitOpError(pass)
             << "expected an operand that is never negative, as a launch plan "
                "divides and compares another way, got operand #"
             << number;
    }
  }
  return success();
}

/// The kernel would compute with the low bits, the plan with all.
LogicalResult SizeWriter::checkCast(arith::IndexCastOp cast) {
  auto widthOf = [](Type type) {
    return type.isIndex() ? 64U : type.getIntOrFloatBitWidth();
  };
  Type from = cast.getIn().getType(), to = cast.getType();
  if (cast.getIn().getDefiningOp<tensor::DimOp>() ||
      widthOf(to) >= widthOf(from)) {
    return success();
  }
  return cast.emitOpError(pass)
         << "expected a cast that keeps all bits of what is no size, got "
         << from << " to " << to;
}

FailureOr<json::Value> SizeWriter::writeArgument(BlockArgument argument) {
  if (argument.getOwner() == &kernel.getBody().front() &&
      argument.getType().isInteger()) {
    return json::Value(
        kernel.getArgs()[argument.getArgNumber()].getName().str());
  }
  return kernel.emitOpError(pass)
         << "expected the number of work items to be that of a launch, got one "
            "that depends on a block argument";
}

FailureOr<json::Value> SizeWriter::writeOp(Operation *op) {
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    if (failed(checkCast(cast))) {
      return failure();
    }
    return write(cast.getIn());
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto tensor = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (tensor && index) {
      return nameOrNumber(dimNames(kernel, tensor.getArgNumber())[*index]);
    }
  }
  StringRef word = wordOf(op);
  if (word.empty()) {
    return op->emitOpError(pass)
           << "expected the number of work items to be computed from sizes, "
              "arguments and constants, got one that this op makes";
  }
  if (failed(checkSigns(op))) {
    return failure();
  }
  FailureOr<json::Value> a = write(op->getOperand(0));
  FailureOr<json::Value> b = write(op->getOperand(1));
  if (failed(a) || failed(b)) {
    return failure();
  }
  return json::Value(json::Array{word, std::move(*a), std::move(*b)});
}

FailureOr<json::Value> SizeWriter::write(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return json::Value(constant.getSExtValue());
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return writeArgument(argument);
  }
  return writeOp(value.getDefiningOp());
}

FailureOr<json::Value> codegen::sizeExpression(ws::KernelOp kernel,
                                               Value value) {
  return SizeWriter(kernel).write(value);
}

/// The extents of one work loop are those of all.
FailureOr<json::Value> codegen::countItems(ws::KernelOp kernel) {
  ws::WorkLoopOp loop;
  kernel.walk([&](ws::WorkLoopOp found) {
    loop = found;
    return WalkResult::interrupt();
  });
  if (!loop) {
    return kernel.emitOpError(pass)
           << "expected a 'ws.work_loop', whose extents are the number of work "
              "items, got none";
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
