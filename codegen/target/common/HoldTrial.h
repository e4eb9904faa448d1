// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The puts of a trial's warps into holds, and their readers.
#ifndef ATTN_CODEGEN_HOLDTRIAL_H
#define ATTN_CODEGEN_HOLDTRIAL_H

#include "WarpUnroller.h"

namespace attn::codegen {

/// How far a warp has published its put into a piece of a hold.
enum class PieceShare { Put, Fenced, Told };
struct TrialPiece {
  PieceShare share = PieceShare::Told;
  int64_t puts = 0, additions = 0;
};
/// A warp and its position in its program.
struct TrialWarp {
  WarpId id;
  ws::RoleOp role;
  llvm::SmallVector<BarrierEvent, 0> events;
  size_t next = 0;
  bool hasEnded() const { return next == events.size(); }
  void restart();
  std::optional<int64_t> meetingPhase; // that it waits for
  llvm::DenseMap<int32_t, int64_t> waits,
      arrivals; // arrivals so far, by address
  llvm::DenseMap<std::pair<int32_t, mlir::Attribute>, TrialPiece>
      pieces;                                  // that it puts
  llvm::DenseMap<int32_t, int64_t> readsOfAll; // so far, by address
  /// The reads of all pieces, in order, whose end other warps may not know yet.
  struct ReadOfAll {
    mlir::Operation *mma;
    int32_t address;
    bool isAwaited;
  };
  llvm::SmallVector<ReadOfAll> reading;
  /// The additions of the warp's own rows of pieces, whose end other warps may
  /// not know yet.
  struct Addition {
    int32_t address;
    mlir::Attribute hold;
    bool isAwaited;
  };
  llvm::SmallVector<Addition> adding;
  uint32_t storing = 0; // lanes with stores in flight
  mlir::Operation *lastStore = nullptr;
};
/// Checks that nothing is put where a store may still read, and that no reader
/// reads data that is not visible to it.
class HoldTrial {
public:
  explicit HoldTrial(std::vector<TrialWarp> &warps) : warps(warps) {}

  void restart();
  mlir::LogicalResult put(TrialWarp &warp, const BarrierEvent &event);
  mlir::LogicalResult read(TrialWarp &warp, const BarrierEvent &event);
  mlir::LogicalResult readAll(TrialWarp &warp, const BarrierEvent &event);
  static void awaitMma(TrialWarp &warp, const BarrierEvent &event);
  mlir::LogicalResult store(TrialWarp &warp, const BarrierEvent &event);
  mlir::LogicalResult add(TrialWarp &warp, const BarrierEvent &event);
  mlir::LogicalResult awaitStores(TrialWarp &warp, const BarrierEvent &event);
  static void share(TrialWarp &warp, PieceShare from, PieceShare to);
  /// The warp arrives at a barrier: the others learn what it has fenced, and
  /// which of its reads have ended.
  static void tell(TrialWarp &warp);

private:
  mlir::LogicalResult checkAdditions(const TrialWarp &warp,
                                     const BarrierEvent &put);

  std::vector<TrialWarp> &warps;
  /// The stores so far of a piece.
  llvm::DenseMap<std::pair<int32_t, mlir::Attribute>, int64_t> stores;
  /// The warps whose stores may still read a piece, by its address.
  llvm::DenseMap<int32_t, const TrialWarp *> reading;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_HOLDTRIAL_H
