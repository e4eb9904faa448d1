// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region_interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::test;

static unsigned bitsOf(Type type) {
  return type.isIndex() ? 32 : type.getIntOrFloatBitWidth();
}

/// Truth values are 0 and 1; other numbers are signed.
static int64_t wrap(int64_t number, unsigned bits) {
  return bits == 1 ? number & 1 : llvm::SignExtend64(number, bits);
}

RegionInterpreter::RegionInterpreter(Region &region, ArrayRef<Capture> captures)
    : region(region), captures(captures) {
  unsigned leading = region.getNumArguments() - captures.size();
  for (auto [argument, capture] :
       llvm::zip(region.getArguments().drop_front(leading), captures)) {
    if (!isa<ShapedType>(argument.getType())) {
      values[argument] = capture.front();
    }
  }
}

SmallVector<int64_t, 2> RegionInterpreter::run(ArrayRef<int64_t> leading) {
  for (auto [argument, value] : llvm::zip(region.getArguments(), leading)) {
    values[argument] = value;
  }
  Block &block = region.front();
  for (Operation &op : block.without_terminator()) {
    values[op.getResult(0)] =
        wrap(compute(op), bitsOf(op.getResult(0).getType()));
  }
  SmallVector<int64_t, 2> results;
  for (Value result : block.getTerminator()->getOperands()) {
    results.push_back(values.at(result));
  }
  return results;
}

int64_t RegionInterpreter::compute(Operation &op) {
  auto value = [&](unsigned n) { return values.at(op.getOperand(n)); };
  unsigned from = 0;
  if (op.getNumOperands() > 0 && !isa<tensor::ExtractOp>(op)) {
    from = bitsOf(op.getOperand(0).getType());
  }
  return llvm::TypeSwitch<Operation *, int64_t>(&op)
      .Case([&](arith::ConstantOp constant) {
        auto number = cast<IntegerAttr>(constant.getValue()).getValue();
        return number.getBitWidth() == 1 ? int64_t(number.getZExtValue())
                                         : number.getSExtValue();
      })
      .Case([&](tensor::ExtractOp extract) {
        unsigned number =
            cast<BlockArgument>(extract.getTensor()).getArgNumber();
        unsigned leading = region.getNumArguments() - captures.size();
        const Capture &elements = captures[number - leading];
        int64_t index = value(1);
        return index < 0 || index >= int64_t(elements.size()) ? 0
                                                              : elements[index];
      })
      .Case([&](arith::CmpIOp compare) {
        return int64_t(arith::applyCmpPredicate(
            compare.getPredicate(),
            APInt(from, value(0), /*isSigned=*/true, /*implicitTrunc=*/true),
            APInt(from, value(1), /*isSigned=*/true, /*implicitTrunc=*/true)));
      })
      .Case([&](arith::SelectOp) { return value(0) ? value(1) : value(2); })
      .Case([&](arith::ExtSIOp) { return from == 1 ? -value(0) : value(0); })
      .Case([&](arith::ExtUIOp) {
        return int64_t(uint64_t(value(0)) &
                       llvm::maskTrailingOnes<uint64_t>(from));
      })
      .Case([&](arith::TruncIOp) { return value(0); })
      .Case([&](arith::IndexCastOp cast) {
        // An index beyond i32 stays out of bounds.
        return cast.getType().isIndex()
                   ? std::clamp<int64_t>(value(0), INT32_MIN, INT32_MAX)
                   : value(0);
      })
      .Default([&](Operation *) { return arithmetic(op, value(0), value(1)); });
}

int64_t RegionInterpreter::arithmetic(Operation &op, int64_t a, int64_t b) {
  unsigned bits = bitsOf(op.getResult(0).getType());
  uint64_t ua = uint64_t(a) & llvm::maskTrailingOnes<uint64_t>(bits),
           ub = uint64_t(b) & llvm::maskTrailingOnes<uint64_t>(bits);
  bool isOut = ub >= bits;
  // A quotient that does not exist is one by 1.
  int64_t lowest = llvm::minIntN(bits);
  int64_t by = b == 0 || (a == lowest && b == -1) ? 1 : b;
  uint64_t uby = ub == 0 ? 1 : ub;
  return llvm::TypeSwitch<Operation *, int64_t>(&op)
      .Case([&](arith::AddIOp) { return int64_t(uint64_t(a) + uint64_t(b)); })
      .Case([&](arith::SubIOp) { return int64_t(uint64_t(a) - uint64_t(b)); })
      .Case([&](arith::MulIOp) { return int64_t(uint64_t(a) * uint64_t(b)); })
      .Case([&](arith::DivSIOp) { return a / by; })
      .Case([&](arith::RemSIOp) { return a % by; })
      .Case([&](arith::DivUIOp) { return int64_t(ua / uby); })
      .Case([&](arith::RemUIOp) { return int64_t(ua % uby); })
      .Case([&](arith::MinSIOp) { return std::min(a, b); })
      .Case([&](arith::MaxSIOp) { return std::max(a, b); })
      .Case([&](arith::MinUIOp) { return int64_t(std::min(ua, ub)); })
      .Case([&](arith::MaxUIOp) { return int64_t(std::max(ua, ub)); })
      .Case([&](arith::AndIOp) { return a & b; })
      .Case([&](arith::OrIOp) { return a | b; })
      .Case([&](arith::XOrIOp) { return a ^ b; })
      .Case([&](arith::ShLIOp) { return isOut ? 0 : int64_t(ua << ub); })
      .Case([&](arith::ShRSIOp) { return a >> (isOut ? bits - 1 : ub); })
      .Case([&](arith::ShRUIOp) { return isOut ? 0 : int64_t(ua >> ub); });
}
