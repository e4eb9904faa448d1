// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchConditions.h"
#include "../ArgumentNames.h"
#include "../CheckList.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/Masks.h"
#include "attn/dialect/OwnedSide.h"
#include "attn/dialect/RegionProgram.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

namespace {

class Conditions {
public:
  explicit Conditions(tile::KernelOp kernel)
      : kernel(kernel), checks(kernel.getContext()),
        packed(kernel.getConfig()->getPackGqa()),
        rowsOfPosition(AccessMap::rowsOfPosition(packed)),
        cluster(kernel.getConfig()->getCluster()) {}

  /// Adds the checks to the kernel.
  void describe();

private:
  bool ownsKeys() { return attn::ownsKeys(kernel.getProblem().getKind()); }
  void checkHeads();
  void checkSizes();
  void checkGroups();
  void checkStatistics();
  void checkBound(const MaskBound &bound, ArgumentAttr argument);

  tile::KernelOp kernel;
  CheckList checks;
  int64_t packed, rowsOfPosition, cluster;
};

using Op = LaunchOp;
constexpr StringLiteral lengths = ", got {sq} queries and {sk} keys";

} // namespace

void Conditions::checkHeads() {
  checks.requireValue(
      checks.apply(Op::Mod, names::queryHeads,
                   checks.apply(Op::Max, names::keyHeads, 1)),
      0, "{hq} query heads are not a multiple of {hk} key/value heads");
  checks.requireValue(checks.apply(Op::Min,
                                   checks.apply(Op::Eq, names::keyHeads, 0),
                                   checks.apply(Op::Min, names::queryHeads, 1)),
                      0, "there are {hq} query heads and no key/value heads");
}

void Conditions::checkSizes() {
  Attribute rows = rowsOfPosition == 1
                       ? checks.expression(names::queries)
                       : checks.apply(Op::Mul, names::queries, rowsOfPosition);
  checks.require(checks.apply(Op::Lt, checks.apply(Op::Max, rows, names::keys),
                              kItemLimit),
                 "expected sequence lengths below " +
                     Twine(kItemLimit / rowsOfPosition) + lengths);
  checks.require(checks.apply(Op::Lt, kItems, kItemLimit / cluster),
                 "expected row blocks times heads times batches to be below " +
                     Twine(kItemLimit / cluster) +
                     (ownsKeys()
                          ? ", got {sk} keys, {hk} heads and {b} batches"
                          : ", got {sq} queries, {hq} heads and {b} batches"));
}

void Conditions::checkGroups() {
  if (ownsKeys()) {
    Attribute group = checks.apply(Op::Div, names::queryHeads,
                                   checks.apply(Op::Max, names::keyHeads, 1));
    Attribute queries = checks.apply(Op::Max, names::queries, 1);
    checks.require(
        checks.apply(Op::Lt, checks.apply(Op::Mul, queries, group), kItemLimit),
        "expected the queries of a group of heads to be fewer than " +
            Twine(kItemLimit) +
            ", got {sq} queries, {hq} query heads and {hk} key/value heads");
  }
  if (packed > 1) {
    checks.requireValue(
        checks.apply(Op::Sub, names::queryHeads,
                     checks.apply(Op::Mul, names::keyHeads, packed)),
        0,
        "expected " + Twine(packed) +
            " query heads for each key/value head, got {hq} and {hk}");
  }
}

void Conditions::checkStatistics() {
  checks.require(
      checks.apply(Op::Ge, names::rows, names::queries),
      "expected at least {sq} rows of statistics, one for each query, got "
      "{sr}");
  if (kernel.getArgs().find(ArgumentRole::QueryGradientSums)) {
    ConfigAttr config = *kernel.getConfig();
    checks.requireBlocksOfSums(transposesShares(config) ? config.getTileN()
                                                        : kRowsOfSums);
  }
}

/// The difference of two positions may be as large as two lengths.
void Conditions::checkBound(const MaskBound &bound, ArgumentAttr argument) {
  constexpr int64_t quarter = int64_t(1) << 29;
  StringRef name = argument.getName(), symbol = argument.getSymbol();
  if (!argument.getFixed()) {
    checks.requireValue(checks.apply(Op::Lt, symbol, int64_t(bound.least)), 0,
                        "expected '" + name + "' to be at least " +
                            Twine(bound.least) + ", got {" + symbol + "}");
  }
  checks.require(
      checks.apply(Op::Lt, checks.apply(Op::Max, names::queries, names::keys),
                   quarter),
      "expected sequence lengths below " + Twine(quarter) + " beside '" + name +
          "'" + lengths);
}

void Conditions::describe() {
  checkHeads();
  checkSizes();
  checkGroups();
  if (kernel.getArgs().find(ArgumentRole::Lse2)) {
    checkStatistics();
  }
  for (auto [bound, argument] :
       llvm::zip(maskBounds(kernel.getProblem().getBounds()),
                 kernel.getArgs().all(ArgumentRole::Bound))) {
    checkBound(bound, argument);
  }
  checks.addTo(kernel);
}

void attn::describeLaunches(tile::KernelOp kernel) {
  Conditions(kernel).describe();
}

/// Replaces the names of sizes and bounds by the kernel's symbols, and the
/// diagonal by that of the query.
static Attribute ofQueries(Attribute expression, tile::KernelOp kernel) {
  launch::Expressions make(expression.getContext());
  if (auto apply = dyn_cast<launch::ApplyAttr>(expression)) {
    return make.apply(
        apply.getOp(),
        llvm::map_to_vector(apply.getOperands(), [&](Attribute operand) {
          return ofQueries(operand, kernel);
        }));
  }
  auto word = dyn_cast<StringAttr>(expression);
  if (!word) {
    return expression;
  }
  if (word == stringifyLaunchSize(LaunchSize::SeqlenQ)) {
    return make.name(names::queries);
  }
  if (word == stringifyLaunchSize(LaunchSize::SeqlenK)) {
    return make.name(names::keys);
  }
  if (word != StringRef(kDiagonal)) {
    auto bounds = kernel.getArgs().all(ArgumentRole::Bound);
    auto known = maskBounds(kernel.getProblem().getBounds());
    auto found = llvm::find_if(
        known, [&](const MaskBound &bound) { return word == bound.name; });
    return bounds[found - known.begin()].getSymbol();
  }
  Attribute query = make.name(kQueryPosition);
  if (!builtInMask(kernel.getProblem().getMask()).bottomRight) {
    return query;
  }
  Attribute offset = make.apply(
      LaunchOp::Sub, {make.name(names::keys), make.name(names::queries)});
  return make.apply(LaunchOp::Add, {query, offset});
}

/// Describes which keys a query sees.
static void describeSeenKeys(tile::KernelOp kernel) {
  if (kernel->hasAttr(kUserProblemAttr)) {
    return; // the user's mask is a function
  }
  ProblemAttr problem = kernel.getProblem();
  OpenRange keys =
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

void attn::describeAttention(tile::KernelOp kernel, Operation *attention,
                             ArrayRef<std::string> captures) {
  DictionaryAttr programs =
      TypeSwitch<Operation *, DictionaryAttr>(attention)
          .Case<AttentionOp, AttentionBwdOp>(
              [&](auto op) { return describeRegions(op, captures); });
  if (programs) {
    kernel->setDiscardableAttr(kRegionProgramsAttr, programs);
  }
  if (auto users = attention->getAttrOfType<ProblemAttr>(kUserProblemAttr)) {
    kernel->setDiscardableAttr(kUserProblemAttr, users);
  }
  describeLaunches(kernel);
  describeSeenKeys(kernel);
}
