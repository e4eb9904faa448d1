// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelArguments.h"
#include "ArgumentNames.h"
#include "LaunchConditions.h"
#include "attn/dialect/Masks.h"
#include "attn/dialect/RegionProgram.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;

namespace {

/// Collects the descriptions of arguments, with the variable for the value of
/// each.
class ArgumentList {
public:
  explicit ArgumentList(AttentionOp attention) : attention(attention) {}

  void add(Value &argument, StringRef name, Value input,
           ArrayRef<StringRef> dims = {},
           ArgumentAccess access = ArgumentAccess::Read, FloatAttr least = {},
           FloatAttr most = {}) {
    SmallVector<StringAttr> sizes;
    for (StringRef dim : dims) {
      sizes.push_back(StringAttr::get(attention.getContext(), dim));
    }
    list.push_back(ArgumentAttr::get(
        attention.getContext(), StringAttr::get(attention.getContext(), name),
        access, sizes, least, most));
    inputs.push_back(input);
    arguments.push_back(&argument);
  }

  /// Returns the names of the sizes of a tensor whose dimensions are in the
  /// attention's order.
  std::array<StringRef, 4> dimsOf(StringRef length, StringRef heads,
                                  StringRef columns) {
    std::array<StringRef, 4> dims;
    dims[0] = names::batches;
    dims[attention.getPositionDim()] = length;
    dims[attention.getHeadsDim()] = heads;
    dims[3] = columns;
    return dims;
  }

  ArgumentsAttr getDescription() const {
    return ArgumentsAttr::get(AttentionOp(attention).getContext(), list);
  }

  void addTo(Block &block) {
    for (auto [input, argument] : llvm::zip(inputs, arguments)) {
      *argument = block.addArgument(input.getType(), input.getLoc());
    }
  }

private:
  AttentionOp attention;
  SmallVector<ArgumentAttr> list;
  SmallVector<Value> inputs;
  SmallVector<Value *> arguments;
};

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

tile::KernelOp attn::createKernel(TileBuilder &b, AttentionOp attention,
                                  StringRef name,
                                  ArrayRef<std::string> captureNames,
                                  KernelArguments &arguments) {
  using namespace names;
  ArgumentList list(attention);
  list.add(arguments.q, q, attention.getQuery(),
           list.dimsOf(queries, queryHeads, dim));
  list.add(arguments.k, k, attention.getKey(),
           list.dimsOf(keys, keyHeads, dim));
  list.add(arguments.v, v, attention.getValue(),
           list.dimsOf(keys, keyHeads, dimV));
  Scales scales;
  list.add(arguments.scale, scale, attention.getScale(), {},
           ArgumentAccess::Read, b.getF32FloatAttr(scales.least),
           b.getF32FloatAttr(scales.most));
  SmallVector<MaskBound> bounds = maskBounds(attention.getBoundKinds());
  arguments.bounds.resize(bounds.size());
  for (auto [argument, bound, value] :
       llvm::zip(arguments.bounds, bounds, attention.getBounds())) {
    list.add(argument, bound.name, value);
  }
  arguments.captures.resize(captureNames.size());
  for (auto [argument, captured, capture] :
       llvm::zip(arguments.captures, captureNames, attention.getCaptures())) {
    list.add(argument, captured, capture);
  }
  list.add(arguments.o, o, attention.getOut(),
           list.dimsOf(queries, queryHeads, dimV), ArgumentAccess::Write);
  list.add(arguments.lse, lse, attention.getLse(),
           {batches, queryHeads, queries}, ArgumentAccess::Write);
  auto kernel = tile::KernelOp::create(
      b, b.loc, name, list.getDescription(), attention.getProblem(),
      *attention.getConfig(), attention.getVariantAttr(), ScheduleAttr());
  if (DictionaryAttr programs = describeRegions(attention, captureNames)) {
    kernel->setDiscardableAttr(kRegionProgramsAttr, programs);
  }
  describeLaunches(kernel, maskBounds(attention.getBoundKinds()));
  describeSeenKeys(kernel);
  Block &block = kernel.getBody().emplaceBlock();
  list.addTo(block);
  b.setInsertionPointToStart(&block);
  return kernel;
}
