// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalars of one warp, lane by lane: counters, addresses and other values
// that decide which barriers it uses.
#ifndef ATTN_CODEGEN_WARPVALUES_H
#define ATTN_CODEGEN_WARPVALUES_H

#include "RoleSlice.h"
#include "attn/codegen/launch/LaunchShape.h"
#include <array>

namespace attn::codegen {

/// A work item of a trial: its numbers of masked and of all blocks, and the
/// item of the trial that it repeats, if it is a second run.
struct TrialItem {
  int64_t masked, total;
  int64_t first = -1;
  bool isSecond() const { return first >= 0; }
};

/// The distance between the addresses of the CTAs of a cluster.
constexpr int64_t ctaStride = int64_t(1) << 20;
constexpr int32_t addressIn(int64_t cta, int64_t offset) {
  return int32_t(cta * ctaStride + offset);
}

/// Names a warp of a cluster.
struct WarpId {
  int64_t cta = 0, replica = 0, index = 0; // in the replica
};

/// Evaluates a scalar integer op; returns nothing for an unknown one.
std::optional<int32_t> evaluateScalar(mlir::Operation *op,
                                      llvm::ArrayRef<int32_t> operands);

class WarpValues {
public:
  /// A scalar in each lane; unknown if it depends on data.
  struct Lanes {
    std::array<int32_t, warpThreads> values = {};
    bool isKnown = false;
    bool isUniform = false; // known to be the same in all
  };

  WarpValues(ws::KernelOp kernel, const RoleSlice &slice, WarpId warp);

  /// Starts an iteration with its work item.
  void beginItem(int64_t number, TrialItem of) {
    iteration = number;
    item = of;
  }
  void evaluate(mlir::Operation *op);

  const Lanes &get(mlir::Value value) const;
  void set(mlir::Value value, const Lanes &lanes, uint32_t mask = ~0u);
  static Lanes uniform(int64_t value);
  /// Returns the value that `lanes` have in common, which must be known.
  mlir::FailureOr<int32_t> first(mlir::Value value, mlir::Operation *user,
                                 uint32_t lanes) const;
  /// Returns null, with an error, for an unknown value.
  const Lanes *known(mlir::Value value, mlir::Operation *user) const;

private:
  Lanes evaluateArith(mlir::Operation *op) const;
  int64_t boundOf(mlir::OpResult result) const;

  ws::KernelOp kernel;
  const RoleSlice &slice;
  WarpId warp;
  TrialItem item{0, 0};
  int64_t iteration = 0; // of the work loop
  llvm::SmallVector<Lanes, 0> values;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WARPVALUES_H
