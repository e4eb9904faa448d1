// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchConditions.h"
#include "ArgumentNames.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;

namespace {

class Conditions {
public:
  explicit Conditions(tile::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()),
        packed(kernel.getConfig()->getPackGqa()),
        cluster(kernel.getConfig()->getCluster()) {}

  ArrayAttr checks();
  DictionaryAttr sizes();

private:
  // An expression is a name, a number or a list.
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
  void checkWindow(StringRef bound);

  tile::KernelOp kernel;
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

/// Positions two lengths apart are subtracted from each other.
void Conditions::checkWindow(StringRef bound) {
  if (!kernel.getArgs().has(bound)) {
    return;
  }
  constexpr int64_t quarter = int64_t(1) << 29;
  check(op("lt", bound, int64_t(0)), 0,
        "expected '" + bound + "' to be at least 0, got {" + bound + "}");
  check(op("lt", op("max", names::queries, names::keys), quarter), 1,
        "expected sequence lengths below " + Twine(quarter) + " beside '" +
            bound + "'" + lengths);
}

ArrayAttr Conditions::checks() {
  checkHeads();
  checkSizes();
  checkWindow(names::windowLeft);
  checkWindow(names::windowRight);
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

void attn::describeLaunches(tile::KernelOp kernel) {
  Conditions conditions(kernel);
  kernel->setDiscardableAttr(kChecksAttr, conditions.checks());
  kernel->setDiscardableAttr(kSizesAttr, conditions.sizes());
}
