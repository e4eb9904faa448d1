// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelArguments.h"
#include "LaunchConditions.h"
#include "attn/dialect/Masks.h"
#include "attn/dialect/RegionProgram.h"
#include "mlir/IR/Matchers.h"
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

  /// An input that is a constant of the function is the same in all launches.
  void add(Value &argument, const ArgumentName &name, ArgumentRole role,
           Value input, ArrayRef<StringRef> dims = {}, FloatAttr least = {},
           FloatAttr most = {}) {
    MLIRContext *context = attention.getContext();
    SmallVector<StringAttr> sizes;
    for (StringRef dim : dims) {
      sizes.push_back(StringAttr::get(context, dim));
    }
    APInt constant;
    auto fixed =
        matchPattern(input, m_ConstantInt(&constant))
            ? Builder(context).getI64IntegerAttr(constant.getSExtValue())
            : IntegerAttr();
    bool isResult = role == ArgumentRole::Output || role == ArgumentRole::Lse;
    list.push_back(ArgumentAttr::get(
        context, StringAttr::get(context, name.name),
        StringAttr::get(context, name.symbol), role,
        isResult ? ArgumentAccess::Write : ArgumentAccess::Read, sizes, least,
        most, fixed));
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

static void addArguments(Builder &b, AttentionOp attention, ArgumentNames names,
                         KernelArguments &arguments, ArgumentList &list) {
  using namespace attn::names;
  using Role = ArgumentRole;
  list.add(arguments.q, names.take(q), Role::Query, attention.getQuery(),
           list.dimsOf(queries, queryHeads, dim));
  list.add(arguments.k, names.take(k), Role::Key, attention.getKey(),
           list.dimsOf(keys, keyHeads, dim));
  list.add(arguments.v, names.take(v), Role::Value, attention.getValue(),
           list.dimsOf(keys, keyHeads, dimV));
  Scales scales;
  list.add(arguments.scale, names.take(scale), Role::Scale,
           attention.getScale(), {}, b.getF32FloatAttr(scales.least),
           b.getF32FloatAttr(scales.most));
  SmallVector<MaskBound> bounds = maskBounds(attention.getBoundKinds());
  arguments.bounds.resize(bounds.size());
  for (auto [argument, bound, value] :
       llvm::zip(arguments.bounds, bounds, attention.getBounds())) {
    list.add(argument, names.take(bound.name), Role::Bound, value);
  }
  arguments.captures.resize(names.captures().size());
  for (auto [argument, name, capture] : llvm::zip(
           arguments.captures, names.captures(), attention.getCaptures())) {
    list.add(argument, name, Role::Capture, capture);
  }
  list.add(arguments.o, names.take(o), Role::Output, attention.getOut(),
           list.dimsOf(queries, queryHeads, dimV));
  list.add(arguments.lse, names.take(lse), Role::Lse, attention.getLse(),
           {batches, queryHeads, queries});
}

tile::KernelOp attn::createKernel(TileBuilder &b, AttentionOp attention,
                                  StringRef name, ArgumentNames names,
                                  KernelArguments &arguments) {
  ArgumentList list(attention);
  auto captureNames = llvm::map_to_vector(
      names.captures(), [](const ArgumentName &own) { return own.name; });
  addArguments(b, attention, std::move(names), arguments, list);
  auto kernel = tile::KernelOp::create(
      b, b.loc, name, list.getDescription(), attention.getProblem(),
      *attention.getConfig(), attention.getVariantAttr(), ScheduleAttr());
  if (DictionaryAttr programs = describeRegions(attention, captureNames)) {
    kernel->setDiscardableAttr(kRegionProgramsAttr, programs);
  }
  if (auto users = attention->getAttrOfType<ProblemAttr>(kUserProblemAttr)) {
    kernel->setDiscardableAttr(kUserProblemAttr, users);
  }
  describeLaunches(kernel);
  describeSeenKeys(kernel);
  Block &block = kernel.getBody().emplaceBlock();
  list.addTo(block);
  b.setInsertionPointToStart(&block);
  return kernel;
}
