// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs what one warp of a role does with barriers, lane by lane, and lists it
// in program order.
#ifndef ATTN_CODEGEN_WARPUNROLLER_H
#define ATTN_CODEGEN_WARPUNROLLER_H

#include "RoleSlice.h"
#include "attn/dialect/ItemChoice.h"
#include <array>

namespace attn::codegen {

/// A work item of a trial: its numbers of masked and of all blocks, and which
/// item of the trial it is the second run of.
struct TrialItem {
  int64_t masked, total;
  int64_t first = -1;
  bool isSecond() const { return first >= 0; }
};

/// An address in the shared memory of CTA `cta` of a cluster.
constexpr int64_t ctaStride = int64_t(1) << 20;
constexpr int32_t addressIn(int64_t cta, int64_t offset) {
  return int32_t(cta * ctaStride + offset);
}

/// One use of a barrier, or of memory of a hold.
struct BarrierEvent {
  enum Kind {
    Init,   // `place`: an address, `number`: arrivals
    Word,   // `place`: an address that setup clears
    Arrive, // `place`: an address, `number`: bytes announced
    Copy,   // `place`: an address, `number`: bytes that will arrive
    Wait,   // `place`: an address, `number`: parity
    Meet,   // `place`: an id, `number`: threads
    Pass,   // the same, and goes on
    Put,    // `place`: the address of a piece
    Read,   // the same, by the async proxy
    Store,  // the same, by the copy engine, which is to be awaited
    Fence,
    AwaitStores,
  };
  Kind kind;
  mlir::Operation *op;
  int32_t place = 0;
  int64_t number = 0;
  uint32_t lanes = 0; // that take part
};

/// Which warp runs.
struct WarpPlace {
  int64_t cta = 0, replica = 0, warp = 0; // of the replica
};

class WarpUnroller {
public:
  WarpUnroller(ws::KernelOp kernel, const RoleSlice &slice, WarpPlace place,
               llvm::ArrayRef<TrialItem> items);

  /// Reports a barrier or condition that nothing here can compute.
  mlir::LogicalResult unroll(mlir::Block &block, uint32_t lanes);
  llvm::SmallVector<BarrierEvent, 0> take() { return std::move(events); }

private:
  static constexpr unsigned warpLanes = 32;
  /// A scalar in each lane; not known where data decides it.
  struct Lanes {
    std::array<int32_t, warpLanes> values = {};
    bool isKnown = false;
    bool isUniform = false; // known to be the same in all
  };

  mlir::LogicalResult run(mlir::Block &block, uint32_t lanes);
  mlir::LogicalResult runOp(mlir::Operation *op, uint32_t lanes);
  mlir::LogicalResult runWork(ws::WorkLoopOp loop, uint32_t lanes);
  mlir::LogicalResult runFor(mlir::scf::ForOp loop, uint32_t lanes);
  mlir::LogicalResult runIf(mlir::scf::IfOp branch, uint32_t lanes);
  mlir::LogicalResult runEvent(mlir::Operation *op, uint32_t lanes);
  mlir::LogicalResult runStore(mlir::LLVM::StoreOp store, uint32_t lanes);
  void takeVerdicts(ws::ChooseItemOp choose, uint32_t lanes);

  void evaluate(mlir::Operation *op);
  Lanes evaluateArith(mlir::Operation *op);
  int64_t boundOf(mlir::OpResult result);
  const Lanes &get(mlir::Value value) const;
  void set(mlir::Value value, const Lanes &lanes, uint32_t mask = ~0u);
  static Lanes uniform(int64_t value);
  /// The value that `lanes` have in common, which must be known.
  mlir::FailureOr<int32_t> first(mlir::Value value, mlir::Operation *user,
                                 uint32_t lanes);
  /// Null, with an error, for a value that is not known.
  const Lanes *known(mlir::Value value, mlir::Operation *user);
  /// An event at an address in each lane.
  mlir::LogicalResult add(BarrierEvent::Kind kind, mlir::Operation *op,
                          mlir::Value address, mlir::Value number,
                          uint32_t lanes);
  mlir::LogicalResult addPiece(BarrierEvent::Kind kind, mlir::Operation *op,
                               llvm::StringRef hold, mlir::Value piece,
                               uint32_t lanes);
  mlir::LogicalResult addCopy(ws::CopyOp copy, uint32_t lanes);
  mlir::LogicalResult addReads(ws::MmaOp mma, uint32_t lanes);

  ws::KernelOp kernel;
  const RoleSlice &slice;
  WarpPlace place;
  llvm::ArrayRef<TrialItem> items;
  TrialItem item{0, 0};
  int64_t turn = 0;
  ws::HandOutState<int64_t> handOut;
  llvm::SmallVector<Lanes, 0> values;
  llvm::SmallVector<BarrierEvent, 0> events;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_WARPUNROLLER_H
