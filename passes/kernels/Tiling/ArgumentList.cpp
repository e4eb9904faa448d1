// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArgumentList.h"
#include "attn/dialect/Masks.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;

namespace {

/// The range of scales. They are multiplied by log2(e), and denormals count as
/// 0: a scale that becomes 0 or infinite would turn masked scores into NaN.
struct Scales {
  Scales() {
    constexpr float log2e = llvm::numbers::log2ef;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    auto before = [](float x) { return std::nextafter(x, 0.0F); };
    auto after = [](float x) { return std::nextafter(x, infinity); };
    while (after(most) * log2e < infinity) {
      most = after(most);
    }
    while (most * log2e == infinity) {
      most = before(most);
    }
  }
  float least = std::numeric_limits<float>::min();
  float most = std::numeric_limits<float>::max() / llvm::numbers::log2ef;
};

} // namespace

void ArgumentList::describe(Value &argument, const ArgumentName &name,
                            ArgumentRole role, ArgumentAccess access,
                            Value input, ArrayRef<StringRef> dims,
                            FloatAttr least, FloatAttr most) {
  SmallVector<StringAttr> sizes;
  for (StringRef dim : dims) {
    sizes.push_back(StringAttr::get(context, dim));
  }
  APInt constant;
  auto fixed = matchPattern(input, m_ConstantInt(&constant))
                   ? Builder(context).getI64IntegerAttr(constant.getSExtValue())
                   : IntegerAttr();
  list.push_back(ArgumentAttr::get(context, StringAttr::get(context, name.name),
                                   StringAttr::get(context, name.symbol), role,
                                   access, sizes, least, most, fixed));
  inputs.push_back(input);
  arguments.push_back(&argument);
}

void ArgumentList::add(Value &argument, StringRef name, ArgumentRole role,
                       Value input, ArrayRef<StringRef> dims) {
  describe(argument, names.take(name), role, ArgumentAccess::Read, input, dims);
}

void ArgumentList::addScale(Value &argument, Value input) {
  Scales scales;
  Builder builder(context);
  describe(argument, names.take(names::scale), ArgumentRole::Scale,
           ArgumentAccess::Read, input, {},
           builder.getF32FloatAttr(scales.least),
           builder.getF32FloatAttr(scales.most));
}

void ArgumentList::addRate(Value &argument, Value input) {
  Builder builder(context);
  describe(argument, names.take(names::dropoutRate), ArgumentRole::DropoutRate,
           ArgumentAccess::Read, input, {}, builder.getF32FloatAttr(0),
           builder.getF32FloatAttr(1));
}

void ArgumentList::addBounds(SmallVector<Value> &bounds, MaskBounds kinds,
                             ValueRange given) {
  bounds.resize(given.size());
  for (auto [argument, bound, value] :
       llvm::zip(bounds, maskBounds(kinds), given)) {
    add(argument, bound.name, ArgumentRole::Bound, value);
  }
}

void ArgumentList::addCaptures(SmallVector<Value> &captures, ValueRange given) {
  captures.resize(given.size());
  for (auto [argument, name, capture] :
       llvm::zip(captures, names.captures(), given)) {
    describe(argument, name, ArgumentRole::Capture, ArgumentAccess::Read,
             capture);
  }
}

void ArgumentList::addResult(Value &argument, StringRef name, ArgumentRole role,
                             Value result, ArrayRef<StringRef> dims,
                             ArgumentAccess access) {
  describe(argument, names.take(name), role, access, result, dims);
}

void ArgumentList::addSums(Value &argument, StringRef name, ArgumentRole role,
                           Value sums, ArrayRef<StringRef> dims) {
  describe(argument, names.take(name), role, ArgumentAccess::Accumulate, sums,
           dims);
}

std::array<StringRef, 4> ArgumentList::dimsOf(StringRef length, StringRef heads,
                                              StringRef columns) const {
  std::array<StringRef, 4> dims;
  dims[0] = names::batches;
  dims[positionDim] = length;
  dims[headsDim] = heads;
  dims[3] = columns;
  return dims;
}

SmallVector<std::string> ArgumentList::captureNames() const {
  return llvm::map_to_vector(names.captures(),
                             [](const ArgumentName &own) { return own.name; });
}

tile::KernelOp
ArgumentList::createKernel(OpBuilder &builder, Location loc, StringRef name,
                           ProblemAttr problem, ConfigAttr config,
                           function_ref<void(tile::KernelOp)> describe,
                           VariantAttr variant) {
  auto kernel = tile::KernelOp::create(
      builder, loc, name, ArgumentsAttr::get(context, list), problem, config,
      variant, ScheduleAttr());
  describe(kernel);
  Block &block = kernel.getBody().emplaceBlock();
  for (auto [input, argument] : llvm::zip(inputs, arguments)) {
    *argument = block.addArgument(input.getType(), input.getLoc());
  }
  builder.setInsertionPointToStart(&block);
  return kernel;
}
