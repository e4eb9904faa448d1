// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-sync: runs the synchronization of all roles for small trip counts
// and numbers of work items, and proves that it ends and that every ring is
// balanced. Data is not looked at.
#include "Synchronization/SyncTrial.h"
#include "attn/passes/Passes.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYSYNC
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Items of so many blocks fill every ring and come back to its first slot.
int64_t blocksToWrap(ws::KernelOp kernel) {
  int64_t deepest = 0;
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    deepest = std::max<int64_t>(deepest, channel.getDepth());
  }
  return 2 * deepest + 1;
}

/// Items of 0 to 3 blocks, and of enough to wrap every ring; for persistent
/// kernels those of 0 to 3 also in pairs a, b and triples a, b, a.
LogicalResult verify(ws::KernelOp kernel) {
  SmallVector<SyncItem> shapes;
  for (int64_t total = 0; total <= 3; ++total) {
    for (int64_t masked = 0; masked <= total; ++masked) {
      shapes.push_back({masked, total});
    }
  }
  SyncEvents events(kernel);
  auto tryItems = [&](ArrayRef<SyncItem> items) {
    return SyncTrial(kernel, events, items).run();
  };
  bool persistent = kernel.getConfig().getWork() != WorkKind::Grid;
  for (SyncItem a : shapes) {
    if (failed(tryItems({a}))) {
      return failure();
    }
    if (!persistent) {
      continue;
    }
    for (SyncItem b : shapes) {
      if (failed(tryItems({a, b})) || failed(tryItems({a, b, a}))) {
        return failure();
      }
    }
  }
  // After the small ones, so that an error shows the smallest item.
  for (int64_t total : {int64_t(4), blocksToWrap(kernel)}) {
    for (int64_t masked : {int64_t(0), total}) {
      if (failed(tryItems({{masked, total}}))) {
        return failure();
      }
    }
  }
  return success();
}

class VerifySyncPass : public attn::impl::VerifySyncBase<VerifySyncPass> {
public:
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      if (failed(verify(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
