// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchConditions.h"
#include "../ArgumentNames.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/Masks.h"
#include "attn/dialect/RegionProgram.h"

using namespace mlir;
using namespace attn;

namespace {

class Conditions {
public:
  explicit Conditions(tile::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()),
        packed(kernel.getConfig()->getPackGqa()),
        rowsOfPosition(AccessMap::rowsOfPosition(packed)),
        cluster(kernel.getConfig()->getCluster()) {}

  ArrayAttr checks();

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
  /// Whether items own keys, and loop over the query heads of a group.
  bool ownsKeys() {
    return llvm::is_contained({KernelKind::BwdDKDV, KernelKind::BwdDK,
                               KernelKind::BwdDV, KernelKind::BwdKeys,
                               KernelKind::Bwd},
                              kernel.getProblem().getKind());
  }
  void checkHeads();
  void checkSizes();
  void checkStatistics();
  void checkBound(const MaskBound &bound, ArgumentAttr argument);

  tile::KernelOp kernel;
  Builder builder;
  int64_t packed, rowsOfPosition, cluster;
  SmallVector<Attribute> list;
};

/// The rows of sums that are in memory in an order of their own.
constexpr int64_t rowsOfSums = 64;
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
  Attribute rows = rowsOfPosition == 1
                       ? expression(names::queries)
                       : op("mul", names::queries, rowsOfPosition);
  check(op("lt", op("max", rows, names::keys), kItemLimit), 1,
        "expected sequence lengths below " +
            Twine(kItemLimit / rowsOfPosition) + lengths);
  check(op("lt", kItems, kItemLimit / cluster), 1,
        "expected row blocks times heads times batches to be below " +
            Twine(kItemLimit / cluster) +
            (ownsKeys() ? ", got {sk} keys, {hk} heads and {b} batches"
                        : ", got {sq} queries, {hq} heads and {b} batches"));
  if (ownsKeys()) {
    Attribute group =
        op("div", names::queryHeads, op("max", names::keyHeads, int64_t(1)));
    check(op("lt", op("mul", op("max", names::queries, int64_t(1)), group),
             kItemLimit),
          1,
          "expected the queries of a group of heads to be fewer than " +
              Twine(kItemLimit) +
              ", got {sq} queries, {hq} query heads and {hk} key/value heads");
  }
  if (packed > 1) {
    check(op("sub", names::queryHeads, op("mul", names::keyHeads, packed)), 0,
          "expected " + Twine(packed) +
              " query heads for each key/value head, got {hq} and {hk}");
  }
}

void Conditions::checkStatistics() {
  check(op("ge", names::rows, names::queries), 1,
        "expected at least {sq} rows of statistics, one for each query, got "
        "{sr}");
  if (kernel.getArgs().find(ArgumentRole::QueryGradientSums)) {
    check(op("mod", names::rows, rowsOfSums), 0,
          "expected full blocks of " + Twine(rowsOfSums) +
              " rows of sums, got {sr} rows");
  }
}

/// The difference of two positions may be as large as two lengths.
void Conditions::checkBound(const MaskBound &bound, ArgumentAttr argument) {
  constexpr int64_t quarter = int64_t(1) << 29;
  StringRef name = argument.getName(), symbol = argument.getSymbol();
  if (!argument.getFixed()) {
    check(op("lt", symbol, int64_t(bound.least)), 0,
          "expected '" + name + "' to be at least " + Twine(bound.least) +
              ", got {" + symbol + "}");
  }
  check(op("lt", op("max", names::queries, names::keys), quarter), 1,
        "expected sequence lengths below " + Twine(quarter) + " beside '" +
            name + "'" + lengths);
}

ArrayAttr Conditions::checks() {
  checkHeads();
  checkSizes();
  if (kernel.getArgs().find(ArgumentRole::Lse2)) {
    checkStatistics();
  }
  for (auto [bound, argument] :
       llvm::zip(maskBounds(kernel.getProblem().getBounds()),
                 kernel.getArgs().all(ArgumentRole::Bound))) {
    checkBound(bound, argument);
  }
  return builder.getArrayAttr(list);
}

void attn::describeLaunches(tile::KernelOp kernel) {
  kernel->setDiscardableAttr(kChecksAttr, Conditions(kernel).checks());
}

/// Replaces the words for sizes and bounds by the kernel's symbols, and the
/// diagonal by that of the query.
static Attribute ofQueries(Attribute expression, tile::KernelOp kernel) {
  Builder builder(expression.getContext());
  auto name = [&](StringRef word) { return builder.getStringAttr(word); };
  if (auto list = dyn_cast<ArrayAttr>(expression)) {
    SmallVector<Attribute> parts{list[0]}; // the operator
    for (Attribute part : list.getValue().drop_front()) {
      parts.push_back(ofQueries(part, kernel));
    }
    return builder.getArrayAttr(parts);
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
    auto bounds = kernel.getArgs().all(ArgumentRole::Bound);
    auto known = maskBounds(kernel.getProblem().getBounds());
    auto found = llvm::find_if(
        known, [&](const MaskBound &bound) { return word == bound.name; });
    return bounds[found - known.begin()].getSymbol();
  }
  Attribute query = name(kQueryPosition);
  return builtInMask(kernel.getProblem().getMask()).bottomRight
             ? builder.getArrayAttr(
                   {name("add"), query,
                    builder.getArrayAttr({name("sub"), name(names::keys),
                                          name(names::queries)})})
             : query;
}

void attn::describeSeenKeys(tile::KernelOp kernel) {
  if (kernel->hasAttr(kUserProblemAttr)) {
    return; // the user's mask is a function
  }
  ProblemAttr problem = kernel.getProblem();
  SeenKeys keys =
      seenKeys(kernel.getContext(), problem.getMask(), problem.getBounds());
  Builder builder(kernel.getContext());
  SmallVector<NamedAttribute> described;
  auto describe = [&](StringRef name, Attribute key) {
    if (key) {
      described.push_back(builder.getNamedAttr(name, ofQueries(key, kernel)));
    }
  };
  describe(kFirstKey, keys.first);
  describe(kLastKey, keys.last);
  if (!described.empty()) {
    kernel->setDiscardableAttr(kKeysAttr, builder.getDictionaryAttr(described));
  }
}
