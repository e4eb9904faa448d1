// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-infer-mask against the mask functions that it reads: pair by pair, with
// wrapping arithmetic, near position 0 and near the last ones.
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
  bool isChanged() {
    return op.hasRowKeys() || op.getMask() != MaskKind::None ||
           !op.hasMaskRegion();
  }

private:
  static int64_t numberOf(Value value) {
    APInt number;
    EXPECT_TRUE(matchPattern(value, m_ConstantInt(&number)));
    return number.getSExtValue();
  }

  AttentionOp op;
  std::optional<RegionInterpreter> rowKeys, staying;
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
      std::array<int64_t, 3> before{0, 0, 0};
      for (int64_t i = firstQuery; i < firstQuery + length; ++i) {
        std::array<int64_t, 3> keys = inferred.keysOf(b, 1 - b, i);
        auto [first, end, prefix] = keys;
        for (int n = 0; n < 3; ++n) {
          // Beyond all keys the order does not matter.
          int64_t least = std::min<int64_t>(before[n], kItemLimit);
          if (inferred.hasRowKeys() &&
              (keys[n] < least || keys[n] > INT32_MAX)) {
            return "end " + std::to_string(n) + " falls at query " +
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

  MLIRContext context;
};

/// How many random masks are tried; nightly runs set it.
unsigned seedCount() {
  const char *text = std::getenv("ATTN_MASK_SEEDS");
  return text ? unsigned(std::atoi(text)) : 1000;
}

TEST_F(InferMask, admitsTheSamePairs) {
  unsigned changed = 0;
  for (unsigned seed = 0; seed < seedCount(); ++seed) {
    RandomMask mask(seed);
    auto before = parse(mask.ir), after = parse(mask.ir);
    ASSERT_TRUE(before && after);
    PassManager manager(&context);
    manager.addPass(createInferMask());
    ASSERT_TRUE(succeeded(manager.run(*after))) << mask.ir;
    RegionInterpreter wanted(attentionOf(*before).getMaskRegion(),
                             mask.captures);
    Inferred inferred(attentionOf(*after), mask.captures);
    changed += inferred.isChanged();
    constexpr int64_t last = kItemLimit - 26;
    for (auto [query, key] : {std::pair<int64_t, int64_t>(0, 0),
                              {last, last},
                              {last, 0},
                              {0, last},
                              {kItemLimit - 9, 0},
                              {1 << 29, (1 << 29) - 9}}) {
      ASSERT_EQ(compare(wanted, inferred, query, key), "")
          << "seed " << seed << mask.ir;
    }
  }
  // Masks as people write them are most of those that are tried.
  EXPECT_GT(changed, seedCount() / 3);
}

} // namespace
