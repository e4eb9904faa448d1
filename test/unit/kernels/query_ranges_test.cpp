// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranges of query blocks for keys against the masks that they are of, pair
// by pair: queries outside of them see none of the keys, and those of full
// blocks all.
#include "ScalarProgram.h"
#include "Tiling/QueryRanges.h"
#include "attn/dialect/Launch.h"
#include "attn/dialect/Masks.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "random_mask.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

constexpr int64_t queryTile = 4, keyTile = 6, repeats = 2;

/// The sizes of a call, and the block of keys, the batch and the head of an
/// item.
struct Item {
  int64_t queries, keys, block, batch, head;
};

/// The bounds that QueryRanges writes for the mask of an attention.
class WrittenBounds {
public:
  WrittenBounds(AttentionOp op, ArrayRef<Capture> captures, bool masksEnd);

  /// The bounds of an item, from the right.
  SmallVector<int64_t> run(const Item &item);
  tile::RangesAttr ranges;

private:
  std::optional<int64_t> numberOf(Value input, const Item &item,
                                  ArrayRef<int64_t> values);

  ArrayRef<Capture> captures;
  OwningOpRef<func::FuncOp> func;
  ScalarProgram program;
  SmallVector<unsigned> results;
  llvm::DenseMap<Value, unsigned> indices; // of elements
};

} // namespace

WrittenBounds::WrittenBounds(AttentionOp op, ArrayRef<Capture> captures,
                             bool masksEnd)
    : captures(captures) {
  TileBuilder b(op.getLoc());
  Type i32 = b.getI32Type();
  SmallVector<Type> inputs(op.getCaptures().getTypes());
  inputs.append({i32, i32, tile::WorkType::get(b.getContext())});
  func = func::FuncOp::create(b.loc, "f", b.getFunctionType(inputs, {}));
  Block *block = func->addEntryBlock();
  ValueRange arguments = block->getArguments();
  b.setInsertionPointToStart(block);
  KeyRanges keys;
  keys.query = {queryTile, b.i32(queryTile), arguments.drop_back(2).back()};
  keys.key = {keyTile, b.i32(keyTile), arguments.drop_back(1).back()};
  keys.maskRegion = op.hasMaskRegion();
  keys.rowKeys = RowKeysRegion::of(op, arguments.drop_back(3));
  keys.builtIn = {seenKeys(b.getContext(), op.getMask(), op.getBoundKinds()),
                  builtInMask(op.getMask()).bottomRight, keys.query.length,
                  keys.key.length};
  keys.builtIn.seeing =
      seeingDiagonals(b.getContext(), op.getMask(), op.getBoundKinds());
  for (auto [bound, value] :
       llvm::zip(maskBounds(op.getBoundKinds()), op.getBounds())) {
    keys.builtIn.bounds[bound.name] =
        b.clone(*value.getDefiningOp())->getResult(0);
  }
  QueryRanges written{keys, masksEnd, b.i32(repeats)};
  ranges = written.ranges(b.getContext());
  for (Value bound : written.writeBounds(b, arguments.back())) {
    results.push_back(program.add(bound));
  }
  for (size_t input = 0; input < program.getInputs().size(); ++input) {
    Value value = program.getInputs()[input];
    if (auto element = value.getDefiningOp<tile::GatherOp>()) {
      indices[value] = program.add(element.getIndices().front());
    }
  }
}

std::optional<int64_t> WrittenBounds::numberOf(Value input, const Item &item,
                                               ArrayRef<int64_t> values) {
  if (auto argument = dyn_cast<BlockArgument>(input)) {
    unsigned number = argument.getArgNumber();
    return number < captures.size()    ? captures[number].front()
           : number == captures.size() ? item.queries
                                       : item.keys;
  }
  if (auto element = input.getDefiningOp<tile::GatherOp>()) {
    auto tensor = cast<BlockArgument>(element.getSource());
    const Capture &elements = captures[tensor.getArgNumber()];
    int64_t index = values.empty() ? 0 : values[indices.lookup(input)];
    return index < 0 || index >= int64_t(elements.size()) ? 0 : elements[index];
  }
  unsigned result = cast<OpResult>(input).getResultNumber();
  if (input.getDefiningOp<tile::OwnedRowsOp>()) {
    return result == 0 ? item.block * keyTile : keyTile;
  }
  int64_t place[] = {item.block, item.head, item.batch};
  return input.getDefiningOp<tile::WorkCoordsOp>()
             ? std::optional(place[result])
             : std::nullopt;
}

SmallVector<int64_t> WrittenBounds::run(const Item &item) {
  SmallVector<int64_t> values;
  // The indices of elements may be elements.
  for (int pass = 0; pass < 4; ++pass) {
    SmallVector<int64_t> inputs;
    for (Value input : program.getInputs()) {
      auto number = numberOf(input, item, values);
      EXPECT_TRUE(number) << "an input that is not known";
      inputs.push_back(number.value_or(0));
    }
    values.clear();
    EXPECT_TRUE(program.run(inputs, values));
  }
  return llvm::map_to_vector(results,
                             [&](unsigned result) { return values[result]; });
}

namespace {

class QueriesOfKeys : public testing::Test {
protected:
  QueriesOfKeys() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    scf::SCFDialect, tensor::TensorDialect, AttnDialect,
                    launch::LaunchDialect, tile::TileDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &ir) {
    return parseSourceString<ModuleOp>(ir, &context);
  }
  static AttentionOp attentionOf(ModuleOp module) {
    AttentionOp found;
    module.walk([&](AttentionOp op) { found = op; });
    return found;
  }

  /// Returns what is wrong with the bounds of an item; counts the pairs that
  /// they leave out, and those that they do not mask.
  std::string check(RegionInterpreter &mask, WrittenBounds &written,
                    const Item &item, bool masksEnd);
  std::string checkMask(unsigned seed);

  MLIRContext context;
  int64_t skipped = 0, full = 0;
};

} // namespace

std::string QueriesOfKeys::check(RegionInterpreter &mask,
                                 WrittenBounds &written, const Item &item,
                                 bool masksEnd) {
  SmallVector<int64_t> bounds = written.run(item);
  int64_t blocks = llvm::divideCeil(item.queries, queryTile);
  if (!llvm::is_sorted(llvm::reverse(bounds)) || bounds.back() < 0 ||
      bounds.front() > blocks * repeats) {
    return "bounds in no order";
  }
  for (int64_t i = 0; i < blocks * queryTile; ++i) {
    int64_t iteration = i / queryTile * repeats;
    auto begins = llvm::find_if(
        bounds, [&](int64_t bound) { return bound <= iteration; });
    bool isOutside = begins == bounds.begin() || begins == bounds.end();
    bool isFull =
        !isOutside && written.ranges[begins - bounds.begin() - 1].getKind() ==
                          tile::RangeKind::Full;
    for (int64_t n = 0; n < keyTile; ++n) {
      int64_t j = item.block * keyTile + n;
      bool isPair = i < item.queries && j < item.keys;
      bool is = isPair && mask.run({item.batch, item.head, i, j})[0];
      bool isDropped = isOutside && is;
      // Rows after the last query add nothing, unless a function says more.
      bool isTaken = isFull && !is && (i < item.queries || masksEnd);
      if (isDropped || isTaken) {
        return "wrong at query " + std::to_string(i) + ", key " +
               std::to_string(j) + ", of " + std::to_string(item.queries) +
               " and " + std::to_string(item.keys);
      }
      skipped += isPair && isOutside;
      full += isFull;
    }
  }
  return "";
}

std::string QueriesOfKeys::checkMask(unsigned seed) {
  RandomMask random(seed);
  auto before = parse(random.ir), after = parse(random.ir);
  PassManager manager(&context);
  manager.addPass(createInferMask());
  if (!before || !after || failed(manager.run(*after))) {
    return "not compiled";
  }
  RegionInterpreter mask(attentionOf(*before).getMaskRegion(), random.captures);
  for (bool masksEnd : {false, true}) {
    WrittenBounds written(attentionOf(*after), random.captures, masksEnd);
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>(23, 20),
                                 {8, 31},
                                 {31, 12},
                                 {0, 5},
                                 {1, 1}}) {
      for (int64_t block = 0; block * keyTile < keys; ++block) {
        Item item{queries, keys, block, block % 2, 1 - block % 2};
        std::string wrong = check(mask, written, item, masksEnd);
        if (!wrong.empty()) {
          return wrong;
        }
      }
    }
  }
  return "";
}

TEST_F(QueriesOfKeys, areThoseThatSeeThem) {
  llvm::iota_range<unsigned> seeds = seedsToTry(600);
  for (unsigned seed : seeds) {
    ASSERT_EQ(checkMask(seed), "") << "seed " << seed << RandomMask(seed).ir;
  }
  // Most masks leave blocks out, and have blocks that are not masked.
  EXPECT_GT(skipped, int64_t(200 * seeds.size()));
  EXPECT_GT(full, int64_t(100 * seeds.size()));
}
