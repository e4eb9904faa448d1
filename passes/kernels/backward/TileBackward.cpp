// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-tile-backward: turns a function with an attn.attention_bwd into the
// program of one CTA.
#include "../KernelFunction.h"
#include "../Tiling/MaskChecks.h"
#include "BackwardWriter.h"
#include "attn/passes/kernels/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"

namespace attn {
#define GEN_PASS_DEF_TILEBACKWARD
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Requires: the config has only what the writers support.
static LogicalResult checkConfig(AttentionBwdOp op) {
  if (op.getGradients() == Gradients::All) {
    return op.emitOpError(
        "expected 'gradients' dq, dk_dv, dk, dv, sums, "
        "sums_dk or seeing, as attn-split-backward writes them, got all");
  }
  ConfigAttr config = *op.getConfig();
  std::pair<StringRef, int64_t> single[] = {{"cluster", config.getCluster()},
                                            {"pack_gqa", config.getPackGqa()}};
  for (auto [name, value] : single) {
    if (value > 1) {
      return op.emitOpError("expected '")
             << name << "' of 'config' to be 1 for gradients, got " << value;
    }
  }
  // Parts of an item that add in one order would have to take turns, too.
  bool mayBeCut = op.makesKeyGradients() && !op.getTurns() && !op.getSeeing();
  if (config.getLastWaveParts() > 1 && !mayBeCut) {
    return op.emitOpError("expected 'last_wave_parts' of 'config' to be 1 "
                          "except for gradients of keys without 'turns' and "
                          "'seeing', got ")
           << config.getLastWaveParts();
  }
  if (op.getGradients() == Gradients::Seeing &&
      config.getTileN() != kSeeingRows) {
    return op.emitOpError("expected 'tile_n' of 'config' to be ")
           << kSeeingRows << " for 'seeing', got " << config.getTileN();
  }
  if (op.getNewSums().has_value() !=
      (config.getFirstShare() == FirstShare::Stored)) {
    return op.emitOpError("expected 'first_share' of 'config' to be ")
           << stringifyEnum(op.getNewSums() ? FirstShare::Stored
                                            : FirstShare::Added)
           << (op.getNewSums() ? " with" : " without") << " 'new_sums', got "
           << stringifyEnum(config.getFirstShare());
  }
  if (op.getNewSums() && config.getTileN() != *op.getShareQueries()) {
    return op.emitOpError("expected 'tile_n' of 'config' to be the queries of "
                          "a share of 'new_sums', ")
           << *op.getShareQueries() << ", got " << config.getTileN();
  }
  if (Value made = op.getSumsResult()) {
    int64_t sums = cast<RankedTensorType>(made.getType()).getDimSize(3),
            tile = config.getTileD() ? config.getTileD() : op.getHeadDim();
    if (sums != tile) {
      return op.emitOpError("expected 'sums' to have as many columns as the "
                            "tiles of 'query', ")
             << tile << ", got " << sums;
    }
    int64_t queries = config.getTileN();
    std::optional<int64_t> transposed = op.getTransposed();
    if (transposed.has_value() != transposesShares(config)) {
      return op.emitOpError("expected 'share_rows' of 'config' to be ")
             << stringifyEnum(transposed ? ShareRows::Columns
                                         : ShareRows::Queries)
             << (transposed ? " with" : " without") << " 'transposed', got "
             << stringifyEnum(config.getShareRows());
    }
    if (transposed ? queries != *transposed : queries % kRowsOfSums != 0) {
      InFlightDiagnostic error =
          op.emitOpError("expected 'tile_n' of 'config' to be ");
      return (transposed
                  ? error << "the queries of 'transposed', " << *transposed
                  : error << "a multiple of " << kRowsOfSums
                          << " without 'transposed'")
             << ", got " << queries;
    }
  }
  return success();
}

static FailureOr<tile::KernelOp> tileBackward(func::FuncOp func,
                                              Operation *found) {
  auto op = cast<AttentionBwdOp>(found);
  if (failed(checkConfig(op)) || failed(checkMask(op))) {
    return failure();
  }
  FailureOr<ArgumentNames> names = ArgumentNames::of(func, op.getCaptures());
  if (failed(names)) {
    return failure();
  }
  switch (op.getGradients()) {
  case Gradients::DQ:
    return writeQueryGradientKernel(op, func.getName(), std::move(*names));
  case Gradients::RowSums:
  case Gradients::KeySums:
  case Gradients::Elements:
    return writeCaptureSumKernel(op, func.getName(), std::move(*names));
  case Gradients::Seeing:
    return writeSeeingKernel(op, func.getName(), std::move(*names));
  case Gradients::Pairs:
    return writePairKernel(op, func.getName(), std::move(*names));
  default:
    return writeKeyGradientKernel(op, func.getName(), std::move(*names));
  }
}

namespace {
struct TileBackwardPass
    : public attn::impl::TileBackwardBase<TileBackwardPass> {
  using TileBackwardBase::TileBackwardBase;

  void runOnOperation() override {
    auto isOfGradients = [](Operation *op) { return isa<AttentionBwdOp>(op); };
    if (failed(replaceFunctions(getOperation(), isOfGradients, tileBackward))) {
      signalPassFailure();
    }
  }
};
} // namespace
