// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponentials of tiles.
#include "Patterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// The registers of a tile, by the unit that computes their exponentials.
struct Shares {
  SmallVector<int64_t> onFma, onUnit;

  /// Assigns `wanted` of the first `usable` pairs, spread evenly, to the FMA
  /// units.
  Shares(int64_t registers, int64_t usable, int64_t wanted) {
    for (int64_t p = 0; p < registers / 2; ++p) {
      bool chosen =
          p < usable && (p + 1) * wanted / usable != p * wanted / usable;
      auto &list = chosen ? onFma : onUnit;
      list.append({2 * p, 2 * p + 1});
    }
  }

  /// Returns the position of each register in the concatenated lists.
  SmallVector<int64_t> merge() const {
    SmallVector<int64_t> places(onFma.size() + onUnit.size());
    for (auto [i, r] : llvm::enumerate(onFma)) {
      places[r] = i;
    }
    for (auto [i, r] : llvm::enumerate(onUnit)) {
      places[r] = onFma.size() + i;
    }
    return places;
  }
};

/// Assigns a share of the exponentials of a tile to the FMA units, if they may
/// be approximated (those of the softmax): none of the last eighth, for which
/// the next ops wait, unless all are assigned.
struct Exp2Pattern : OpConversionPattern<math::Exp2Op> {
  Exp2Pattern(const TypeConverter &types, MLIRContext *context,
              ws::KernelOp kernel)
      : OpConversionPattern(types, context, /*benefit=*/2),
        soft(kernel.getSchedule().getExp2Soft().number),
        of(kernel.getSchedule().getExp2Soft().denominator),
        degree(kernel.getConfig().getExp2Degree()) {}

  LogicalResult
  matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    tile::LayoutAttr layout = layoutOf(op.getType());
    bool isApproximate =
        arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
    if (soft == 0 || !layout || layout.getDroppedDim() || !isApproximate) {
      return rewriter.notifyMatchFailure(op, "computed by its unit alone");
    }
    int64_t registers = layout.getElementsPerThread();
    int64_t usable = soft == of ? registers / 2 : registers / 2 * 7 / 8;
    int64_t wanted = std::min(usable, registers / 2 * soft / of);
    if (wanted == 0) {
      return rewriter.notifyMatchFailure(op, "too few registers to share");
    }
    rewriter.replaceOp(op, split(op.getLoc(), adaptor.getOperand(),
                                 Shares(registers, usable, wanted), rewriter));
    return success();
  }

private:
  Value split(Location loc, Value source, const Shares &shares,
              OpBuilder &builder) const {
    auto pick = [&](ArrayRef<int64_t> list) -> Value {
      return vector::ShuffleOp::create(builder, loc, source, source, list);
    };
    auto type =
        VectorType::get({(int64_t)shares.onFma.size()}, builder.getF32Type());
    Value poly = nvx::Exp2PolyOp::create(builder, loc, type, pick(shares.onFma),
                                         builder.getI32IntegerAttr(degree));
    if (shares.onUnit.empty()) {
      return poly;
    }
    Value unit = math::Exp2Op::create(builder, loc, pick(shares.onUnit));
    return vector::ShuffleOp::create(builder, loc, poly, unit, shares.merge());
  }

  int64_t soft, of, degree;
};

} // namespace

void sm90::populateExp2Patterns(RewritePatternSet &patterns,
                                const TypeConverter &types,
                                ws::KernelOp kernel) {
  patterns.add<Exp2Pattern>(types, patterns.getContext(), kernel);
}
