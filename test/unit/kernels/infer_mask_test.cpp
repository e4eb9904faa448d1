// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-infer-mask against the mask functions that it reads: pair by pair, with
// wrapping arithmetic, near position 0 and near the last ones.
#include "RegionFacts.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "random_mask.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

/// What the pass made of an op.
class Inferred {
public:
  Inferred(AttentionOp op, ArrayRef<Capture> captures) : op(op) {
    if (op.hasRowKeys()) {
      rowKeys.emplace(op.getRowKeys(), captures);
      isProven = areKeysOrdered(op.getRowKeys());
      EXPECT_TRUE(isProven || !op.hasPrefix());
    }
    if (op.hasMaskRegion()) {
      staying.emplace(op.getMaskRegion(), captures);
    }
  }

  /// The first key, the end, and the end of the prefix, of a query, but for the
  /// mask region.
  std::array<int64_t, 3> keysOf(int64_t b, int64_t h, int64_t i) {
    if (rowKeys) {
      auto keys = rowKeys->run({b, h, i});
      return {keys[0], keys[1], keys.size() == 3 ? keys[2] : 0};
    }
    int64_t first = 0, end = kItemLimit;
    bool isCausal = op.getMask() == MaskKind::CausalTopLeft ||
                    op.getMask() == MaskKind::ChunkedTopLeft;
    if (isCausal) {
      end = i + 1;
    }
    if (Value left = op.getBound(MaskBounds::WindowLeft)) {
      first = i - numberOf(left);
    }
    if (Value right = op.getBound(MaskBounds::WindowRight)) {
      end = i + numberOf(right) + 1;
    }
    if (Value chunk = op.getBound(MaskBounds::Chunk)) {
      first = i / numberOf(chunk) * numberOf(chunk);
    }
    return {first, end, 0};
  }

  bool admits(int64_t b, int64_t h, int64_t i, int64_t j) {
    return !staying || staying->run({b, h, i, j})[0];
  }

  bool hasRowKeys() const { return rowKeys.has_value(); }
  /// Whether the row keys are proven not to fall.
  bool isOrdered() const { return isProven; }
  bool isChanged() {
    return op.hasRowKeys() || op.getMask() != MaskKind::None ||
           !op.hasMaskRegion();
  }

private:
  static int64_t numberOf(Value value) {
    APInt number;
    EXPECT_TRUE(matchPattern(value, m_ConstantInt(&number)));
    EXPECT_GE(number.getSExtValue(), 0);
    return number.getSExtValue();
  }

  AttentionOp op;
  std::optional<RegionInterpreter> rowKeys, staying;
  bool isProven = false;
};

class InferMask : public testing::Test {
protected:
  InferMask() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    tensor::TensorDialect, AttnDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &ir) {
    auto module = parseSourceString<ModuleOp>(ir, &context);
    EXPECT_TRUE(module) << ir;
    return module;
  }

  static AttentionOp attentionOf(ModuleOp module) {
    AttentionOp found;
    module.walk([&](AttentionOp op) { found = op; });
    return found;
  }

  /// Compares all pairs of positions from `firstQuery` and `firstKey`.
  static std::string compare(RegionInterpreter &wanted, Inferred &inferred,
                             int64_t firstQuery, int64_t firstKey) {
    constexpr int64_t length = 26;
    for (int64_t b = 0; b < 2; ++b) {
      std::array<int64_t, 3> before{};
      for (int64_t i = firstQuery; i < firstQuery + length; ++i) {
        std::array<int64_t, 3> keys = inferred.keysOf(b, 1 - b, i);
        auto [first, end, prefix] = keys;
        for (int n = 0; n < 3; ++n) {
          if (inferred.isOrdered() && keys[n] < before[n]) {
            return "end " + std::to_string(n) + " falls at query " +
                   std::to_string(i);
          }
          if (inferred.hasRowKeys() && (keys[n] < 0 || keys[n] > INT32_MAX)) {
            return "end " + std::to_string(n) + " is no position at query " +
                   std::to_string(i);
          }
        }
        before = keys;
        for (int64_t j = firstKey; j < firstKey + length; ++j) {
          bool is = ((first <= j && j < end) || j < prefix) &&
                    inferred.admits(b, 1 - b, i, j);
          if (is != bool(wanted.run({b, 1 - b, i, j})[0])) {
            return "wrong at query " + std::to_string(i) + ", key " +
                   std::to_string(j) + ", batch " + std::to_string(b);
          }
        }
      }
    }
    return "";
  }

  /// Infers a mask, and compares it with the function everywhere; returns what
  /// is wrong, and sets whether anything was found.
  std::string check(const std::string &ir, ArrayRef<Capture> captures,
                    bool &isChanged) {
    auto before = parse(ir), after = parse(ir);
    PassManager manager(&context);
    manager.addPass(createInferMask());
    if (!before || !after || failed(manager.run(*after))) {
      return "not compiled";
    }
    RegionInterpreter wanted(attentionOf(*before).getMaskRegion(), captures);
    Inferred inferred(attentionOf(*after), captures);
    isChanged = inferred.isChanged();
    constexpr int64_t last = kItemLimit - 26;
    for (auto [query, key] : {std::pair<int64_t, int64_t>(0, 0),
                              {last, last},
                              {last, 0},
                              {0, last},
                              {kItemLimit - 9, 0},
                              {1 << 29, (1 << 29) - 9}}) {
      std::string wrong = compare(wanted, inferred, query, key);
      if (!wrong.empty()) {
        return wrong;
      }
    }
    return "";
  }

  MLIRContext context;
};

TEST_F(InferMask, admitsTheSamePairs) {
  unsigned changed = 0;
  llvm::iota_range<unsigned> seeds = seedsToTry(1000);
  for (unsigned seed : seeds) {
    RandomMask mask(seed);
    bool isChanged = false;
    ASSERT_EQ(check(mask.ir, mask.captures, isChanged), "")
        << "seed " << seed << mask.ir;
    changed += isChanged;
  }
  // Masks as people write them are most of those that are tried.
  EXPECT_GT(changed, seeds.size() / 3);
}

/// Ends, guards and truth values that floats decide stay a function: where
/// blocks are chosen, they may be rounded in another way than where elements
/// are masked.
TEST_F(InferMask, leavesWhatFloatsDecide) {
  for (const char *ops : {R"(
      %number = arith.fptosi %y : f32 to i32
      %r = arith.cmpi slt, %j, %number : i32)",
                          R"(
      %number = arith.fptosi %y : f32 to i32
      %r = arith.cmpi slt, %b, %number : i32)",
                          R"(
      %0 = arith.constant 0 : i32
      %9 = arith.constant 9 : i32
      %number = arith.fptosi %y : f32 to i32
      %natural = arith.maxsi %number, %0 : i32
      %small = arith.minsi %natural, %9 : i32
      %end = arith.addi %i, %small : i32
      %r = arith.cmpi slt, %j, %end : i32)",
                          R"(
      %0 = arith.constant 8.0 : f32
      %r = arith.cmpf olt, %y, %0 : f32)",
                          R"(
      %0 = arith.constant 8.0 : f32
      %large = arith.cmpf olt, %y, %0 : f32
      %number = arith.select %large, %i, %h : i32
      %r = arith.cmpi slt, %j, %number : i32)"}) {
    auto module = parse(writeMask(std::string(R"(
      %x = arith.sitofp %i : i32 to f32
      %y = arith.mulf %x, %x : f32)") +
                                      ops,
                                  "%r"));
    PassManager manager(&context);
    manager.addPass(createInferMask());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    EXPECT_FALSE(attentionOf(*module).hasRowKeys()) << ops;
  }
}

/// A mask function that random ones seldom are.
struct RareMask {
  const char *name, *ops; // the last op is %r
  int64_t element = 0;    // of the captured tensors
  int64_t wide = 0;       // %n64
};

constexpr RareMask rareMasks[] = {
    {"bits of two numbers", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t32[%at] : tensor<?xi32>
      %4 = arith.constant 4 : i32
      %3 = arith.constant 3 : i32
      %5 = arith.constant 5 : i32
      %four = arith.andi %x, %4 : i32
      %seven = arith.ori %four, %3 : i32
      %end = arith.subi %seven, %5 : i32
      %r = arith.cmpi slt, %j, %end : i32)",
     4},
    {"an unsigned remainder of a negative number", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t32[%at] : tensor<?xi32>
      %3 = arith.constant 3 : i32
      %5 = arith.constant 5 : i32
      %small = arith.andi %x, %3 : i32
      %negative = arith.subi %small, %3 : i32
      %rest = arith.remui %negative, %5 : i32
      %r = arith.cmpi slt, %j, %rest : i32)"},
    {"a negative number without its sign", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t32[%at] : tensor<?xi32>
      %3 = arith.constant 3 : i32
      %small = arith.andi %x, %3 : i32
      %negative = arith.subi %small, %3 : i32
      %large = arith.extui %negative : i32 to i64
      %key = arith.extsi %j : i32 to i64
      %r = arith.cmpi slt, %key, %large : i64)"},
    {"a truth value with a sign", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t1[%at] : tensor<?xi1>
      %1 = arith.constant 1 : i32
      %signed = arith.extsi %x : i1 to i32
      %end = arith.addi %signed, %1 : i32
      %r = arith.cmpi slt, %j, %end : i32)",
     1},
    {"a negative slope", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t32[%at] : tensor<?xi32>
      %3 = arith.constant 3 : i32
      %100 = arith.constant 100 : i64
      %small = arith.andi %x, %3 : i32
      %negative = arith.subi %small, %3 : i32
      %slope = arith.extsi %negative : i32 to i64
      %wide = arith.extsi %i : i32 to i64
      %falling = arith.muli %wide, %slope : i64
      %end = arith.addi %falling, %100 : i64
      %key = arith.extsi %j : i32 to i64
      %r = arith.cmpi slt, %key, %end : i64)"},
    {"the least of an end that falls", R"(
      %15 = arith.constant 15 : i32
      %20 = arith.constant 20 : i32
      %falling = arith.subi %20, %i : i32
      %end = arith.minsi %falling, %15 : i32
      %r = arith.cmpi slt, %j, %end : i32)"},
    {"two numbers beyond all positions", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t64[%at] : tensor<?xi64>
      %key = arith.extsi %j : i32 to i64
      %most = arith.maxsi %key, %x : i64
      %r = arith.cmpi sle, %most, %n64 : i64)",
     int64_t(1) << 61, int64_t(1) << 60},
    {"a multiple of a number beyond all positions", R"(
      %size = arith.constant 1048576 : i64
      %key = arith.extsi %j : i32 to i64
      %chunk = arith.divsi %key, %size : i64
      %r = arith.cmpi sle, %chunk, %n64 : i64)",
     0, int64_t(1) << 62},
    {"chunks that begin later", R"(
      %1 = arith.constant 1 : i32
      %4 = arith.constant 4 : i32
      %chunk = arith.divsi %i, %4 : i32
      %begin = arith.muli %chunk, %4 : i32
      %first = arith.addi %begin, %1 : i32
      %after = arith.cmpi sge, %j, %first : i32
      %causal = arith.cmpi sge, %i, %j : i32
      %r = arith.andi %after, %causal : i1)"},
    {"chunks of other sizes than their distances", R"(
      %2 = arith.constant 2 : i32
      %4 = arith.constant 4 : i32
      %chunk = arith.divsi %i, %4 : i32
      %first = arith.muli %chunk, %2 : i32
      %after = arith.cmpi sge, %j, %first : i32
      %causal = arith.cmpi sge, %i, %j : i32
      %r = arith.andi %after, %causal : i1)"},
    {"a window after the diagonal", R"(
      %3 = arith.constant 3 : i32
      %10 = arith.constant 10 : i32
      %first = arith.addi %i, %3 : i32
      %last = arith.addi %i, %10 : i32
      %after = arith.cmpi sge, %j, %first : i32
      %before = arith.cmpi sle, %j, %last : i32
      %r = arith.andi %after, %before : i1)"},
};

/// A row_keys region, and whether its end is proven not to fall.
struct RowOrder {
  const char *name, *ops; // the end is %r
  bool isProven;
};

constexpr RowOrder rowOrders[] = {
    {"a remainder", R"(
      %5 = arith.constant 5 : i32
      %r = arith.remsi %i, %5 : i32)",
     false},
    {"an element of the query", R"(
      %at = arith.index_cast %i : i32 to index
      %r = tensor.extract %t32[%at] : tensor<?xi32>)",
     false},
    {"an element of the batch", R"(
      %at = arith.index_cast %b : i32 to index
      %r = tensor.extract %t32[%at] : tensor<?xi32>)",
     true},
    {"an element of a falling index", R"(
      %2 = arith.constant 2 : i32
      %least = arith.minsi %i, %2 : i32
      %at = arith.index_cast %least : i32 to index
      %r = tensor.extract %t32[%at] : tensor<?xi32>)",
     false},
    {"a sum that wraps", R"(
      %r = arith.addi %i, %n32 : i32)",
     false},
    {"a difference from a constant", R"(
      %9 = arith.constant 9 : i32
      %r = arith.subi %9, %i : i32)",
     false},
    {"a difference of two that grow", R"(
      %2 = arith.constant 2 : i32
      %half = arith.divsi %i, %2 : i32
      %r = arith.subi %half, %i : i32)",
     false},
    {"the least of a number that grows", R"(
      %9 = arith.constant 9 : i32
      %r = arith.minsi %i, %9 : i32)",
     true},
    {"a multiple of a number of either sign", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t32[%at] : tensor<?xi32>
      %3 = arith.constant 3 : i32
      %1 = arith.constant 1 : i32
      %bits = arith.andi %x, %3 : i32
      %factor = arith.subi %bits, %1 : i32
      %8 = arith.constant 8 : i32
      %part = arith.shrui %i, %8 : i32
      %r = arith.muli %part, %factor : i32)",
     false},
    {"a multiple, by a number of either sign, of one that falls", R"(
      %at = arith.index_cast %b : i32 to index
      %x = tensor.extract %t32[%at] : tensor<?xi32>
      %3 = arith.constant 3 : i32
      %1 = arith.constant 1 : i32
      %bits = arith.andi %x, %3 : i32
      %factor = arith.subi %bits, %1 : i32
      %9 = arith.constant 9 : i32
      %falling = arith.subi %9, %i : i32
      %small = arith.maxsi %falling, %1 : i32
      %r = arith.muli %small, %factor : i32)",
     false},
    {"a choice that changes once, to more", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %late = arith.cmpi sge, %i, %9 : i32
      %r = arith.select %late, %i, %0 : i32)",
     true},
    {"a choice that changes once, to less", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %late = arith.cmpi sge, %i, %9 : i32
      %r = arith.select %late, %0, %i : i32)",
     false},
    {"a choice that changes once, from less", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %early = arith.cmpi slt, %i, %9 : i32
      %r = arith.select %early, %0, %i : i32)",
     true},
    {"a choice that changes once, from more", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %early = arith.cmpi slt, %i, %9 : i32
      %r = arith.select %early, %i, %0 : i32)",
     false},
    {"a choice that changes once, to what may be less", R"(
      %9 = arith.constant 9 : i32
      %10 = arith.constant 10 : i32
      %3 = arith.constant 3 : i32
      %late = arith.cmpi sge, %i, %9 : i32
      %least = arith.minsi %i, %3 : i32
      %r = arith.select %late, %least, %10 : i32)",
     false},
    {"a choice that changes once, to what falls", R"(
      %9 = arith.constant 9 : i32
      %20 = arith.constant 20 : i32
      %5 = arith.constant 5 : i32
      %late = arith.cmpi sge, %i, %9 : i32
      %falling = arith.subi %20, %i : i32
      %most = arith.maxsi %falling, %5 : i32
      %r = arith.select %late, %most, %5 : i32)",
     false},
    {"a choice that changes twice", R"(
      %4 = arith.constant 4 : i32
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %is = arith.cmpi eq, %i, %4 : i32
      %r = arith.select %is, %9, %0 : i32)",
     false},
    {"a choice by numbers without a sign", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %minus = arith.constant -4 : i32
      %sum = arith.addi %i, %minus : i32
      %late = arith.cmpi uge, %sum, %9 : i32
      %r = arith.select %late, %9, %0 : i32)",
     false},
    {"a choice by numbers without a sign, to less", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %minus = arith.constant -4 : i32
      %sum = arith.addi %i, %minus : i32
      %early = arith.cmpi ule, %sum, %9 : i32
      %r = arith.select %early, %0, %9 : i32)",
     false},
    {"a choice by truth values with a sign", R"(
      %9 = arith.constant 9 : i32
      %0 = arith.constant 0 : i32
      %no = arith.constant false
      %late = arith.cmpi sge, %i, %9 : i32
      %not = arith.cmpi sge, %late, %no : i1
      %r = arith.select %not, %9, %0 : i32)",
     false},
    {"truth values as numbers", R"(
      %9 = arith.constant 9 : i32
      %late = arith.cmpi sge, %i, %9 : i32
      %r = arith.extui %late : i1 to i32)",
     true},
    {"truth values as negative numbers", R"(
      %9 = arith.constant 9 : i32
      %late = arith.cmpi sge, %i, %9 : i32
      %r = arith.extsi %late : i1 to i32)",
     false},
    {"bits of a number that grows", R"(
      %3 = arith.constant 3 : i32
      %r = arith.andi %i, %3 : i32)",
     false},
};

class OrderOfRows : public InferMask,
                    public testing::WithParamInterface<RowOrder> {};

/// The end of queries that differ is in order if that is proven.
TEST_P(OrderOfRows, isWhatIsProven) {
  const RowOrder &order = GetParam();
  auto module = parse(writeRowKeys(order.ops, "%r"));
  ASSERT_TRUE(module);
  Region &rowKeys = attentionOf(*module).getRowKeys();
  EXPECT_EQ(areKeysOrdered(rowKeys), order.isProven) << order.name;
  std::vector<Capture> captures{
      {INT32_MAX - 20}, {0}, {5, -4, 7, 2, 6, 1}, {0}, {0}};
  RegionInterpreter ends(rowKeys, captures);
  bool isOrdered = true;
  for (int64_t i = 0; i < 40; ++i) {
    for (int64_t b = 0; b < 6; ++b) {
      isOrdered &= ends.run({b, 0, i})[1] <= ends.run({b, 0, i + 1})[1];
    }
  }
  EXPECT_LE(order.isProven, isOrdered) << order.name;
}

INSTANTIATE_TEST_SUITE_P(Rows, OrderOfRows, testing::ValuesIn(rowOrders));

/// Ops on %x, from 0 to 7, %y, from 0 to 5, %s, from -8 to 7, %t, from -2 to 1,
/// and %late, a truth value.
struct ExactRange {
  const char *name, *ops; // the last result is %r
};

constexpr ExactRange exactRanges[] = {
    {"a sum", "%r = arith.addi %x, %s : i32"},
    {"a difference", "%r = arith.subi %x, %s : i32"},
    {"a product", "%r = arith.muli %s, %t : i32"},
    {"a product by a negative number", "%r = arith.muli %x, %minus3 : i32"},
    {"a shift to the left", "%r = arith.shli %s, %2 : i32"},
    {"a shift with a sign", "%r = arith.shrsi %s, %2 : i32"},
    {"a shift without a sign", "%r = arith.shrui %x, %2 : i32"},
    {"a quotient", "%r = arith.divsi %s, %2 : i32"},
    {"a quotient without a sign", "%r = arith.divui %x, %2 : i32"},
    {"a remainder", "%r = arith.remsi %s, %5 : i32"},
    {"a remainder of a natural number", "%r = arith.remsi %x, %5 : i32"},
    {"a remainder of a small number", "%r = arith.remsi %x, %9 : i32"},
    {"a remainder without a sign", "%r = arith.remui %x, %5 : i32"},
    {"common bits", "%r = arith.andi %x, %y : i32"},
    {"common bits with a negative number", "%r = arith.andi %x, %s : i32"},
    {"common bits of a negative number", "%r = arith.andi %s, %y : i32"},
    {"bits of both", "%r = arith.ori %x, %y : i32"},
    {"bits of numbers that are no powers", "%r = arith.ori %y, %y2 : i32"},
    {"bits of one of two", "%r = arith.xori %x, %y : i32"},
    {"the least", "%r = arith.minsi %x, %s : i32"},
    {"the most", "%r = arith.maxsi %y, %s : i32"},
    {"the least without a sign", "%r = arith.minui %x, %y : i32"},
    {"the most without a sign", "%r = arith.maxui %x, %y : i32"},
    {"a choice", "%r = arith.select %late, %t, %y : i32"},
    {"a wider number", "%w = arith.extsi %s : i32 to i64\n"
                       "%r = arith.trunci %w : i64 to i32"},
    {"a wider natural number", "%w = arith.extui %x : i32 to i64\n"
                               "%r = arith.trunci %w : i64 to i32"},
    {"a truth value", "%r = arith.extui %late : i1 to i32"},
};

constexpr const char *rangeOperands = R"(
      %0 = arith.constant 0 : i32
      %2 = arith.constant 2 : i32
      %3 = arith.constant 3 : i32
      %5 = arith.constant 5 : i32
      %7 = arith.constant 7 : i32
      %8 = arith.constant 8 : i32
      %9 = arith.constant 9 : i32
      %15 = arith.constant 15 : i32
      %minus3 = arith.constant -3 : i32
      %at_b = arith.index_cast %b : i32 to index
      %of_b = tensor.extract %t32[%at_b] : tensor<?xi32>
      %at_h = arith.index_cast %h : i32 to index
      %of_h = tensor.extract %t32[%at_h] : tensor<?xi32>
      %at_i = arith.index_cast %i : i32 to index
      %of_i = tensor.extract %t32[%at_i] : tensor<?xi32>
      %x = arith.andi %of_b, %7 : i32
      %small = arith.andi %of_h, %7 : i32
      %y = arith.minsi %small, %5 : i32
      %other = arith.andi %of_i, %7 : i32
      %y2 = arith.minsi %other, %5 : i32
      %four_bits = arith.andi %of_i, %15 : i32
      %s = arith.subi %four_bits, %8 : i32
      %two_bits = arith.andi %of_h, %3 : i32
      %t = arith.subi %two_bits, %2 : i32
      %late = arith.cmpi sge, %s, %0 : i32
      )";

class RangeOfOp : public InferMask,
                  public testing::WithParamInterface<ExactRange> {};

/// The range that is known of a result has all numbers that the ops make, and
/// ends at the least and the most of them.
TEST_P(RangeOfOp, isThatOfItsNumbers) {
  auto module =
      parse(writeRowKeys(std::string(rangeOperands) + GetParam().ops, "%r"));
  ASSERT_TRUE(module);
  Region &rowKeys = attentionOf(*module).getRowKeys();
  RegionFacts facts(rowKeys, RegionFacts::Of::RowKeys);
  Value result = rowKeys.front().getTerminator()->getOperand(1);
  constexpr int64_t numbers = 16;
  Capture elements(llvm::iota_range<int64_t>(0, numbers, false).begin(),
                   llvm::iota_range<int64_t>(0, numbers, false).end());
  std::vector<Capture> captures{{0}, {0}, elements, {0}, {0}};
  RegionInterpreter interpreter(rowKeys, captures);
  Interval made{INT64_MAX, INT64_MIN};
  for (int64_t n = 0; n < numbers * numbers * numbers; ++n) {
    int64_t number = interpreter.run(
        {n % numbers, n / numbers % numbers, n / numbers / numbers})[1];
    made = {std::min(made.low, number), std::max(made.high, number)};
  }
  EXPECT_EQ(facts.rangeOf(result).low, made.low) << GetParam().name;
  EXPECT_EQ(facts.rangeOf(result).high, made.high) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Ops, RangeOfOp, testing::ValuesIn(exactRanges));

class InferRareMask : public InferMask,
                      public testing::WithParamInterface<RareMask> {};

TEST_P(InferRareMask, admitsTheSamePairs) {
  const RareMask &mask = GetParam();
  Capture elements(6, mask.element);
  std::vector<Capture> captures{{0}, {mask.wide}, elements, elements, elements};
  bool isChanged = false;
  std::string ir = writeMask(mask.ops, "%r");
  EXPECT_EQ(check(ir, captures, isChanged), "") << mask.name << ir;
}

INSTANTIATE_TEST_SUITE_P(Masks, InferRareMask, testing::ValuesIn(rareMasks));

} // namespace
