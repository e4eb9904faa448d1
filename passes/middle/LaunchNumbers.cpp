// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchNumbers.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

void LaunchNumbers::add(StringRef name, int64_t least, int64_t most) {
  std::optional<unsigned> known = find(name);
  if (!known) {
    list.push_back({name.str(), least, most});
    return;
  }
  least = std::max(list[*known].least, least);
  list[*known] = {name.str(), least,
                  std::max(least, std::min(list[*known].most, most))};
}

LaunchNumbers::LaunchNumbers(ws::KernelOp kernel)
    : body(&kernel.getBody().front()), args(kernel.getArgs()) {
  for (BlockArgument argument : body->getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto tensor = dyn_cast<RankedTensorType>(argument.getType())) {
      for (auto [name, size] :
           llvm::zip(args.dimsOf(index, tensor.getRank()), tensor.getShape())) {
        bool isStatic = !ShapedType::isDynamic(size);
        add(name, isStatic ? size : 0, isStatic ? size : INT32_MAX);
      }
    } else if (IntegerAttr fixed = args[index].getFixed()) {
      add(args[index].getSymbol().getValue(), fixed.getInt(), fixed.getInt());
    } else if (argument.getType().isSignlessInteger()) {
      // With 62 bits, differences of chosen numbers fit 64 bits.
      unsigned bits = std::min(argument.getType().getIntOrFloatBitWidth(), 62U);
      add(args[index].getSymbol().getValue(), llvm::minIntN(bits),
          llvm::maxIntN(bits));
    }
  }
}

std::optional<unsigned> LaunchNumbers::find(StringRef name) const {
  for (auto [number, known] : llvm::enumerate(list)) {
    if (known.name == name) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<unsigned> LaunchNumbers::find(Value value) const {
  auto dim = value.getDefiningOp<tensor::DimOp>();
  auto argument = dyn_cast<BlockArgument>(dim ? dim.getSource() : value);
  if (!argument || argument.getOwner() != body) {
    return std::nullopt;
  }
  unsigned index = argument.getArgNumber();
  if (!dim) {
    return argument.getType().isSignlessInteger()
               ? find(args[index].getSymbol().getValue())
               : std::nullopt;
  }
  auto type = cast<RankedTensorType>(argument.getType());
  std::optional<int64_t> at = dim.getConstantIndex();
  return at && *at >= 0 && *at < type.getRank()
             ? find(args.dimsOf(index, type.getRank())[*at])
             : std::nullopt;
}
