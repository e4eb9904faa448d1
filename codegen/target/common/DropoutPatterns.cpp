// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random numbers of dropout: generators of the Philox family (Salmon et
// al., Parallel random numbers: as easy as 1, 2, 3, SC 2011), whose numbers are
// functions of a counter and a key. A generator of 64 bits decides on the four
// pairs of a patch {i, i + 8} x {j, j + 8}, which are in one thread both if
// queries are rows of the tile and if keys are.
#include "Arithmetic.h"
#include "TilePatterns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

constexpr uint32_t multiplier2x32 = 0xD256D193;
constexpr uint32_t multipliers4x32[] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t weyl[] = {0x9E3779B9, 0xBB67AE85};
constexpr int keyRounds = 10, pairRounds = 7;
constexpr int64_t patchDistance = 8;

/// Emits the generators.
struct Philox : Arithmetic {
  Value number(uint32_t value) const { return constant(int32_t(value)); }
  Value bitXor(Value a, Value b) const {
    return arith::XOrIOp::create(builder, loc, a, b);
  }
  Value half(Value wide, int64_t bit) const {
    if (bit != 0) {
      Value by = arith::ConstantIntOp::create(builder, loc, bit, 64);
      wide = arith::ShRUIOp::create(builder, loc, wide, by);
    }
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide);
  }
  Value low(Value wide) const { return half(wide, 0); }
  Value high(Value wide) const { return half(wide, 32); }
  /// Returns a * b as an i64.
  Value multiply(Value a, uint32_t b) const {
    auto wide = builder.getI64Type();
    Value factor = arith::ConstantIntOp::create(builder, loc, int64_t(b), 64);
    Value extended = arith::ExtUIOp::create(builder, loc, wide, a);
    return arith::MulIOp::create(builder, loc, extended, factor);
  }

  /// Four words from a counter of four words and a key of two.
  SmallVector<Value> fourWords(SmallVector<Value> counter,
                               ArrayRef<Value> key) const {
    for (int round = 0; round < keyRounds; ++round) {
      Value first = multiply(counter[0], multipliers4x32[0]),
            second = multiply(counter[2], multipliers4x32[1]);
      Value keys[2];
      for (int word : {0, 1}) {
        keys[word] = add(key[word], number(uint32_t(round) * weyl[word]));
      }
      counter = {bitXor(bitXor(high(second), counter[1]), keys[0]), low(second),
                 bitXor(bitXor(high(first), counter[3]), keys[1]), low(first)};
    }
    return counter;
  }

  /// Two words from a counter of two words and a key of one.
  std::pair<Value, Value> twoWords(Value first, Value second, Value key) const {
    for (int round = 0; round < pairRounds; ++round) {
      Value product = multiply(first, multiplier2x32);
      Value own = add(key, number(uint32_t(round) * weyl[0]));
      first = bitXor(bitXor(high(product), own), second);
      second = low(product);
    }
    return {first, second};
  }
};

struct DropoutKeyPattern : OpConversionPattern<tile::DropoutKeyOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::DropoutKeyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Philox emit{{rewriter, op.getLoc()}};
    Value seed = adaptor.getSeed(), offset = adaptor.getOffset();
    auto words = emit.fourWords({emit.low(offset), emit.high(offset),
                                 adaptor.getHead(), adaptor.getBatch()},
                                {emit.low(seed), emit.high(seed)});
    rewriter.replaceOp(op, ArrayRef(words).take_front(3));
    return success();
  }
};

struct KeepPattern : OpConversionPattern<tile::KeepOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::KeepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Philox emit{{rewriter, op.getLoc()}};
    tile::LayoutAttr layout = layoutOf(op.getResult().getType());
    using Patch = std::pair<int64_t, int64_t>;
    llvm::MapVector<Patch, SmallVector<int64_t>> patches;
    int64_t elements = layout.getElementsPerThread();
    for (int64_t r = 0; r < elements; ++r) {
      patches[{layout.getOffsetAlong(0, r) & ~patchDistance,
               layout.getOffsetAlong(1, r) & ~patchDistance}]
          .push_back(r);
    }
    SmallVector<Value> kept(static_cast<size_t>(elements));
    bool keysAreColumns = !op.getTransposed();
    Value least = arith::ShLIOp::create(rewriter, op.getLoc(),
                                        adaptor.getDrop(), emit.constant(16));
    for (auto &[patch, members] : patches) {
      // The first member has the smallest row and column.
      Value query = emit.element(adaptor.getQueries(), members.front()),
            key = emit.element(adaptor.getKeys(), members.front());
      auto words = emit.twoWords(emit.bitXor(key, adaptor.getWord0()),
                                 emit.bitXor(query, adaptor.getWord1()),
                                 adaptor.getWord2());
      for (int64_t r : members) {
        bool laterRow = layout.getOffsetAlong(0, r) & patchDistance,
             laterColumn = layout.getOffsetAlong(1, r) & patchDistance;
        bool laterKey = keysAreColumns ? laterColumn : laterRow,
             laterQuery = keysAreColumns ? laterRow : laterColumn;
        Value word = laterKey ? words.second : words.first;
        if (!laterQuery) {
          word = arith::ShLIOp::create(rewriter, op.getLoc(), word,
                                       emit.constant(16));
        }
        kept[size_t(r)] = arith::CmpIOp::create(
            rewriter, op.getLoc(), arith::CmpIPredicate::uge, word, least);
      }
    }
    auto type = cast<VectorType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, kept);
    return success();
  }
};

} // namespace

/// Whether `value` can be computed before `loop`: from what is outside, by
/// scalars and elements of arguments, which a kernel does not change.
static bool isInvariant(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value)) {
    return true;
  }
  Operation *op = value.getDefiningOp();
  bool mayMove =
      op && op->getNumRegions() == 0 && (isPure(op) || isa<tile::GatherOp>(op));
  return mayMove && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isInvariant(operand, loop);
         });
}

static void moveBefore(scf::ForOp loop, Operation *op) {
  for (Value operand : op->getOperands()) {
    if (!loop.isDefinedOutsideOfLoop(operand)) {
      moveBefore(loop, operand.getDefiningOp());
    }
  }
  op->moveBefore(loop);
}

void codegen::hoistDropoutKeys(ws::RoleOp role) {
  SmallVector<tile::DropoutKeyOp> keys;
  role.walk([&](tile::DropoutKeyOp key) { keys.push_back(key); });
  for (tile::DropoutKeyOp key : keys) {
    for (auto loop = key->getParentOfType<scf::ForOp>();
         loop && isInvariant(key.getWord0(), loop);
         loop = key->getParentOfType<scf::ForOp>()) {
      moveBefore(loop, key);
    }
  }
}

void codegen::populateDropoutPatterns(RewritePatternSet &patterns,
                                      const TypeConverter &types) {
  patterns.add<DropoutKeyPattern, KeepPattern>(types, patterns.getContext(),
                                               /*benefit=*/2);
}
