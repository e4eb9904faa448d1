// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-configure: the shape of one CTA's work, from the schedule table.
#include "attn/passes/Passes.h"
#include "attn/passes/ScheduleTable.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_CONFIGURE
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static LogicalResult checkTile(AttentionOp op, StringRef name, int64_t size,
                               int64_t unit) {
  if (size < unit || size % unit != 0) {
    return op.emitOpError("expected '")
           << name << "' of 'config' to be a multiple of " << unit << ", got "
           << size;
  }
  return success();
}

/// The columns of a tile hold the head dim.
static LogicalResult checkColumns(AttentionOp op, StringRef name,
                                  int64_t columns, int64_t headDim) {
  constexpr int64_t granule = 16;
  if (columns == 0 ? headDim % granule != 0 : columns < headDim) {
    return op.emitOpError("expected '")
           << name << "' of 'config' to be a multiple of " << granule
           << " that holds head dim " << headDim << ", got " << columns;
  }
  return success();
}

/// What probabilities may reach between rescalings, 2^threshold, fits f16.
static LogicalResult checkThreshold(AttentionOp op, ConfigAttr config) {
  constexpr int64_t most = 15;
  if (op.getQuery().getType().getElementType().isF16() &&
      config.getRescaleThreshold() > most) {
    return op.emitOpError("expected 'rescale_threshold' of 'config' to be at "
                          "most ")
           << most << " for f16, got " << config.getRescaleThreshold();
  }
  return success();
}

/// Ensures: a config with tiles that MMA instructions cover.
static LogicalResult verifyConfigured(AttentionOp op) {
  ConfigAttr config = op.getConfigAttr();
  if (!config) {
    return op.emitOpError("expected a 'config'");
  }
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkTile(op, "tile_n", config.getTileN(), 16)) &&
                 succeeded(checkColumns(op, "tile_d", config.getTileD(),
                                        op.getHeadDim())) &&
                 succeeded(checkColumns(op, "tile_dv", config.getTileDv(),
                                        op.getHeadDimV())) &&
                 succeeded(checkThreshold(op, config)));
}

namespace {
struct ConfigurePass : public attn::impl::ConfigureBase<ConfigurePass> {
  using ConfigureBase::ConfigureBase;

  LogicalResult configure(AttentionOp op) {
    std::string origin = "the op";
    if (!op.getConfig()) {
      auto entry =
          lookupTableEntry(op.getContext(), op.getProblem(), target,
                           scheduleFile, [&] { return op.emitOpError(); });
      if (failed(entry)) {
        return failure();
      }
      op.setConfigAttr(entry->config);
      origin = entry->origin;
    }
    std::string text;
    llvm::raw_string_ostream(text) << op.getConfigAttr();
    remark::passed(op.getLoc(),
                   remark::RemarkOpts::name("configure").category("attn"))
        << remark::metric("Config", text) << remark::metric("From", origin);
    return verifyConfigured(op);
  }

  void runOnOperation() override {
    auto result = getOperation().walk([&](AttentionOp op) {
      return failed(configure(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace
