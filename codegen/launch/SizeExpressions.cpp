// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizeExpressions.h"
#include "attn/codegen/launch/KernelParams.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the plan's operator for an op on two integers.
static std::optional<LaunchOp> operatorOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LaunchOp>>(op)
      .Case([](arith::AddIOp) { return LaunchOp::Add; })
      .Case([](arith::SubIOp) { return LaunchOp::Sub; })
      .Case([](arith::MulIOp) { return LaunchOp::Mul; })
      .Case<arith::DivSIOp, arith::DivUIOp>([](auto) { return LaunchOp::Div; })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](auto) { return LaunchOp::CeilDiv; })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return LaunchOp::Mod; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return LaunchOp::Min; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return LaunchOp::Max; })
      .Default(std::nullopt);
}

namespace {

/// Writes each value once, although several ops may use it.
class SizeWriter {
public:
  explicit SizeWriter(ws::KernelOp kernel)
      : kernel(kernel), make(kernel.getContext()) {}

  FailureOr<Attribute> write(Value value);

private:
  FailureOr<Attribute> writeArgument(BlockArgument argument);
  FailureOr<Attribute> writeOp(Operation *op);
  FailureOr<Attribute> writeNew(Value value);
  LogicalResult checkCast(arith::IndexCastOp cast);
  LogicalResult checkSigns(Operation *op);
  bool isNeverNegative(Value value);
  bool isNeverNegativeOp(Operation *op);

  ws::KernelOp kernel;
  launch::Expressions make;
  llvm::DenseMap<Value, Attribute> written;
  llvm::DenseMap<Value, bool> signs;
};

constexpr StringLiteral pass = "attn-lower-to-nvvm: ";

/// An expression is a tree: a shared operand is written for each use.
constexpr int64_t mostWords = 1024;

} // namespace

static int64_t countWords(Attribute expr) {
  int64_t words = 1;
  if (auto apply = dyn_cast<launch::ApplyAttr>(expr)) {
    for (Attribute operand : apply.getOperands()) {
      words += countWords(operand);
    }
  }
  return words;
}

/// Whether a value is never negative: a size, or an op that preserves the sign
/// of its operands.
bool SizeWriter::isNeverNegative(Value value) {
  if (auto known = signs.find(value); known != signs.end()) {
    return known->second;
  }
  APInt constant;
  Operation *op = value.getDefiningOp();
  bool is = matchPattern(value, m_ConstantInt(&constant))
                ? !constant.isNegative()
                : op && isNeverNegativeOp(op);
  return signs[value] = is;
}

bool SizeWriter::isNeverNegativeOp(Operation *op) {
  auto is = [&](Value operand) { return isNeverNegative(operand); };
  if (isa<arith::MaxSIOp>(op)) {
    return llvm::any_of(op->getOperands(), is);
  }
  return isa<tensor::DimOp>(op) ||
         (!isa<arith::SubIOp>(op) &&
          (isa<arith::IndexCastOp>(op) || operatorOf(op)) &&
          llvm::all_of(op->getOperands(), is));
}

/// The plan rounds down and has no unsigned numbers: it agrees with the kernel
/// if nothing is negative, or if the division rounds up.
LogicalResult SizeWriter::checkSigns(Operation *op) {
  bool agrees = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
                    arith::MaxSIOp, arith::CeilDivSIOp>(op);
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (!agrees && !isNeverNegative(operand)) {
      return op->emitOpError(pass)
             << "expected operands that are never negative, because launch "
                "plans divide and compare differently, got operand #"
             << number;
    }
  }
  return success();
}

/// The kernel would compute with the low bits, the plan with all bits.
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
         << "expected a cast of an argument to keep all its bits, got " << from
         << " to " << to;
}

FailureOr<Attribute> SizeWriter::writeArgument(BlockArgument argument) {
  if (argument.getOwner() == &kernel.getBody().front() &&
      argument.getType().isInteger()) {
    return sizeNamed(kernel,
                     kernel.getArgs()[argument.getArgNumber()].getSymbol());
  }
  return kernel.emitOpError(pass)
         << "expected the number of work items to be that of a launch, got one "
            "that depends on a block argument";
}

FailureOr<Attribute> SizeWriter::writeOp(Operation *op) {
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
      return sizesOf(kernel, tensor.getArgNumber())[*index];
    }
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
    return op->emitOpError(pass)
           << "expected the number of work items to be computed in 32 bits, "
              "got a change from "
           << op->getOperand(0).getType() << " to "
           << op->getResult(0).getType();
  }
  std::optional<LaunchOp> found = operatorOf(op);
  if (!found) {
    return op->emitOpError(pass)
           << "expected the number of work items to be computed from sizes, "
              "arguments and constants, got a result of this op";
  }
  if (failed(checkSigns(op))) {
    return failure();
  }
  FailureOr<Attribute> a = write(op->getOperand(0));
  FailureOr<Attribute> b = write(op->getOperand(1));
  if (failed(a) || failed(b)) {
    return failure();
  }
  Attribute apply = make.apply(*found, {*a, *b});
  if (countWords(apply) > mostWords) {
    return op->emitOpError(pass)
           << "expected an expression of at most " << mostWords
           << " numbers and operators, with shared operands counted once a "
              "use, got more";
  }
  return apply;
}

FailureOr<Attribute> SizeWriter::writeNew(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return make.number(constant.getSExtValue());
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return writeArgument(argument);
  }
  return writeOp(value.getDefiningOp());
}

FailureOr<Attribute> SizeWriter::write(Value value) {
  if (auto known = written.find(value); known != written.end()) {
    return known->second;
  }
  FailureOr<Attribute> expr = writeNew(value);
  if (succeeded(expr)) {
    written.insert({value, *expr});
  }
  return expr;
}

FailureOr<Attribute> codegen::sizeExpression(ws::KernelOp kernel, Value value) {
  return SizeWriter(kernel).write(value);
}

/// All work loops have the same extents.
FailureOr<SmallVector<Attribute>> codegen::itemExtents(ws::KernelOp kernel) {
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
  SizeWriter writer(kernel);
  SmallVector<Attribute> extents;
  for (Value extent : loop.getOperands()) {
    FailureOr<Attribute> expr = writer.write(extent);
    if (failed(expr)) {
      return failure();
    }
    extents.push_back(*expr);
  }
  return extents;
}
