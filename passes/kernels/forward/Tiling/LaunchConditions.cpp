// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchConditions.h"
#include "ArgumentNames.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

namespace {

class Conditions {
public:
  Conditions(tile::KernelOp kernel, ArrayRef<MaskBound> bounds)
      : kernel(kernel), bounds(bounds), builder(kernel.getContext()),
        packed(kernel.getConfig()->getPackGqa()),
        cluster(kernel.getConfig()->getCluster()) {}

  ArrayAttr checks();
  DictionaryAttr sizes();

private:
  // Expressions are names, numbers or lists.
  Attribute expression(StringRef name) { return builder.getStringAttr(name); }
  Attribute expression(int64_t value) {
    return builder.getI64IntegerAttr(value);
  }
  Attribute expression(Attribute list) { return list; }
  template <typename A, typename B>
  Attribute op(StringRef word, const A &a, const B &b) {
    return builder.getArrayAttr(
        {expression(word), expression(a), expression(b)});
  }
  void check(Attribute condition, int64_t value, const Twine &message) {
    list.push_back(builder.getArrayAttr(
        {condition, expression(value), builder.getStringAttr(message)}));
  }
  void checkHeads();
  void checkSizes();
  void checkBound(const MaskBound &bound);

  tile::KernelOp kernel;
  ArrayRef<MaskBound> bounds;
  Builder builder;
  int64_t packed, cluster;
  SmallVector<Attribute> list;
};

constexpr StringLiteral lengths = ", got {sq} queries and {sk} keys";

} // namespace

void Conditions::checkHeads() {
  check(op("mod", names::queryHeads, op("max", names::keyHeads, int64_t(1))), 0,
        "{hq} query heads are not a multiple of {hk} key/value heads");
  check(op("min", op("eq", names::keyHeads, int64_t(0)),
           op("min", names::queryHeads, int64_t(1))),
        0, "there are {hq} query heads and no key/value heads");
}

void Conditions::checkSizes() {
  Attribute rows = packed == 1 ? expression(names::queries)
                               : op("mul", names::queries, packed);
  check(op("lt", op("max", rows, names::keys), kItemLimit), 1,
        "expected sequence lengths below " + Twine(kItemLimit / packed) +
            lengths);
  check(op("lt", kItems, kItemLimit / cluster), 1,
        "expected row blocks times heads times batches to be below " +
            Twine(kItemLimit / cluster) +
            ", got {sq} queries, {hq} heads and {b} batches");
  if (packed > 1) {
    check(op("sub", names::queryHeads, op("mul", names::keyHeads, packed)), 0,
          "expected " + Twine(packed) +
              " query heads for each key/value head, got {hq} and {hk}");
  }
}

/// The difference of two positions may be as large as two lengths.
void Conditions::checkBound(const MaskBound &bound) {
  constexpr int64_t quarter = int64_t(1) << 29;
  check(op("lt", bound.name, int64_t(bound.least)), 0,
        "expected '" + bound.name + "' to be at least " + Twine(bound.least) +
            ", got {" + bound.name + "}");
  check(op("lt", op("max", names::queries, names::keys), quarter), 1,
        "expected sequence lengths below " + Twine(quarter) + " beside '" +
            bound.name + "'" + lengths);
}

ArrayAttr Conditions::checks() {
  checkHeads();
  checkSizes();
  llvm::for_each(bounds, [&](const MaskBound &bound) { checkBound(bound); });
  return builder.getArrayAttr(list);
}

DictionaryAttr Conditions::sizes() {
  auto size = [&](StringRef word, StringRef name) {
    return builder.getNamedAttr(word, builder.getStringAttr(name));
  };
  return builder.getDictionaryAttr(
      {size(stringifyLaunchSize(LaunchSize::SeqlenQ), names::queries),
       size(stringifyLaunchSize(LaunchSize::SeqlenK), names::keys),
       size(kHeads, names::queryHeads), size(kBatches, names::batches)});
}

void attn::describeLaunches(tile::KernelOp kernel, ArrayRef<MaskBound> bounds) {
  Conditions conditions(kernel, bounds);
  kernel->setDiscardableAttr(kChecksAttr, conditions.checks());
  kernel->setDiscardableAttr(kSizesAttr, conditions.sizes());
}

/// Replaces the words for sizes by the kernel's, and the diagonal by that of
/// the query.
static Attribute ofQueries(Attribute expression, bool bottomRight) {
  Builder builder(expression.getContext());
  auto name = [&](StringRef word) { return builder.getStringAttr(word); };
  if (auto list = dyn_cast<ArrayAttr>(expression)) {
    return builder.getArrayAttr(llvm::map_to_vector(
        list, [&](Attribute part) { return ofQueries(part, bottomRight); }));
  }
  auto word = dyn_cast<StringAttr>(expression);
  if (!word) {
    return expression;
  }
  if (word == stringifyLaunchSize(LaunchSize::SeqlenQ)) {
    return name(names::queries);
  }
  if (word == stringifyLaunchSize(LaunchSize::SeqlenK)) {
    return name(names::keys);
  }
  if (word != StringRef(kDiagonal)) {
    return word;
  }
  Attribute query = name(kQueryPosition);
  return bottomRight
             ? builder.getArrayAttr(
                   {name("add"), query,
                    builder.getArrayAttr({name("sub"), name(names::keys),
                                          name(names::queries)})})
             : query;
}

void attn::describeSeenKeys(tile::KernelOp kernel) {
  ProblemAttr problem = kernel.getProblem();
  bool bottomRight = builtInMask(problem.getMask()).bottomRight;
  SeenKeys keys =
      seenKeys(kernel.getContext(), problem.getMask(), problem.getBounds());
  Builder builder(kernel.getContext());
  SmallVector<NamedAttribute> described;
  auto describe = [&](StringRef name, Attribute key) {
    if (key) {
      described.push_back(
          builder.getNamedAttr(name, ofQueries(key, bottomRight)));
    }
  };
  describe(kFirstKey, keys.first);
  describe(kLastKey, keys.last);
  if (!described.empty()) {
    kernel->setDiscardableAttr(kKeysAttr, builder.getDictionaryAttr(described));
  }
}
