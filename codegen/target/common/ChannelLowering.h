// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers what the roles of a kernel synchronize by, one kernel at a time.
#ifndef ATTN_CODEGEN_CHANNELLOWERING_H
#define ATTN_CODEGEN_CHANNELLOWERING_H

#include "attn/codegen/target/Passes.h"
#include "attn/dialect/Nvx.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

constexpr int64_t warpThreads = 32;

/// Barriers of a channel in shared memory, and who arrives on them.
struct ChannelBarriers {
  int64_t depth, fullOffset, freeOffset;
  bool cluster; // released to all CTAs of the cluster
  int64_t freeCount = 0;
};
struct EdgeBarrier {
  int64_t offset, credits;
  bool cluster; // signalled to all CTAs of the cluster
  int64_t count = 0;
};

/// The barriers on which verdicts are given; their words follow.
struct VerdictBarriers {
  int64_t offset;
  bool handedOut; // taken by the role that hands items out
  bool cluster;   // given by all CTAs of the cluster
  int64_t count = 0;
};

class ChannelLowering {
public:
  explicit ChannelLowering(ws::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult planBarriers();
  void countArrivals();
  mlir::LogicalResult planNamedBarriers();
  void emitSetup();
  mlir::LogicalResult lowerRole(ws::RoleOp role);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  void lowerAcquire(ws::AcquireOp op);
  void lowerWait(ws::WaitOp op);
  void lowerRelease(ws::ReleaseOp op);
  void lowerCopy(ws::CopyOp op);
  void lowerPutWork(ws::PutWorkOp op);
  void lowerTake(ws::TakeOp op);
  void lowerGive(ws::GiveOp op);
  mlir::Value nextTurnId(llvm::StringRef name, int64_t replicas);
  void convertSlots(ws::RoleOp role);
  void primeTurns(ws::RoleOp role);

  // HoldLowering.cpp
  static bool warpsMeet(ws::RoleOp role);
  void roleBarrier();
  void fenceAsyncProxy();
  void lowerPut(ws::PutOp op);
  void lowerHeld(ws::HeldOp op);
  void lowerStore(ws::StoreOp op);
  void lowerAwaitStore(ws::AwaitStoreOp op);

  // MailboxLowering.cpp
  void emitMailboxSetup();

  // VerdictLowering.cpp
  mlir::LogicalResult planItems(int64_t offset);
  void emitVerdictSetup();
  void lowerGiveVerdict(ws::GiveVerdictOp op);
  void lowerTakeVerdict(ws::TakeVerdictOp op);
  void awaitFirstResults(ws::StoreOp op);
  mlir::Value verdictWord(mlir::Value slot);
  mlir::Value isFirstRun(mlir::Value work);
  int64_t clusterSize() { return kernel.getConfig().getCluster(); }

  struct Counter {
    mlir::Value slot, parity;
  };
  Counter counterFor(llvm::StringRef name);
  mlir::Value barrierAt(int64_t offset, mlir::Value slot);
  struct Cycle {
    mlir::Value slot, parity;
  };
  Cycle currentCycle(llvm::StringRef name, int64_t depth);
  void moveOn(llvm::StringRef name, int64_t depth, Cycle cycle);
  void enterSlot(mlir::Value old, llvm::StringRef name, const Cycle &cycle,
                 int64_t arrivals);
  mlir::Value tileOffset(llvm::StringRef name, mlir::Value slot);
  void arriveByWarp(mlir::Value barrier, bool inCluster);
  void arriveByLanes(mlir::Value barrier);
  void arriveInTurn(mlir::Value barrier);
  void arriveAt(mlir::Value barrier, mlir::Value rank);
  mlir::Value inCta(mlir::Value address, mlir::Value rank);
  mlir::scf::IfOp onlyIf(mlir::Value condition);
  mlir::Value lane();
  mlir::Value isLaneZero();
  mlir::Value speaksForWarp(bool inCluster);
  mlir::Value isRoleThreadZero();
  int64_t replicasOf(llvm::StringRef role);
  int64_t warpsOf(llvm::StringRef role);
  llvm::StringRef channelOf(mlir::Value slot) {
    return mlir::cast<ws::SlotType>(slot.getType()).getChannel().getValue();
  }
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  mlir::Value tid() {
    return mlir::NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  }
  mlir::Type sharedPtr() {
    return mlir::LLVM::LLVMPointerType::get(builder.getContext(), 3);
  }

  ws::KernelOp kernel;
  mlir::OpBuilder builder;
  mlir::Location loc = builder.getUnknownLoc();
  ws::RoleOp role;
  bool singleThread = false;
  llvm::MapVector<llvm::StringRef, ChannelBarriers> channels;
  llvm::MapVector<llvm::StringRef, EdgeBarrier> edges;
  llvm::StringMap<int64_t> namedBarriers; // first id of a turn, a sync, a role
  llvm::StringMap<Counter> counters;
  llvm::StringMap<mlir::Value> nextTurn;
  /// Of a slot in the block that waits for it: the barrier to arrive on next.
  llvm::DenseMap<mlir::Value, mlir::Value> barrierOf;
  int64_t barrierEnd = 0;
  std::optional<VerdictBarriers> verdict;
  /// First byte of the mailbox by which a cluster shares its items.
  std::optional<int64_t> mailbox;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_CHANNELLOWERING_H
