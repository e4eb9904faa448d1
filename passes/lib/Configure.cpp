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

/// Ensures: a config with tiles that MMA instructions cover.
static LogicalResult verifyConfigured(AttentionOp op) {
  ConfigAttr config = op.getConfigAttr();
  if (!config) {
    return op.emitOpError("expected a 'config'");
  }
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkTile(op, "tile_n", config.getTileN(), 16)));
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
