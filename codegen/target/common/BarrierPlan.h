// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The barriers by which the roles of a kernel synchronize: their offsets in
// shared memory, the arrivals that complete a phase, and the ids of named
// barriers.
#ifndef ATTN_CODEGEN_BARRIERPLAN_H
#define ATTN_CODEGEN_BARRIERPLAN_H

#include "attn/passes/schedule/ResourcePlan.h"

namespace attn::codegen {

/// The barriers of a channel in shared memory, and the roles that arrive on
/// them.
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

/// The barriers on which verdicts are given, and their words.
struct VerdictBarriers {
  ws::VerdictMemory memory;
  bool handedOut; // read by the role that hands items out
  bool cluster;   // given by all CTAs of the cluster
  int64_t count = 0;
};

class BarrierPlan {
public:
  static mlir::FailureOr<BarrierPlan> of(ws::KernelOp kernel);

  /// Returns the barriers of a channel, which may be those of another.
  const ChannelBarriers &channel(ws::ChannelOp channel) const {
    return channels.find(channel.getWith().value_or(channel.getSymName()))
        ->second;
  }
  const EdgeBarrier &edge(llvm::StringRef name) const {
    return edges.find(name)->second;
  }
  /// Returns the first id of a turn, a rendezvous, or a role whose warps meet.
  /// Aborts for any other name: id 0 is the CTA's barrier.
  int64_t named(llvm::StringRef name) const;
  const std::optional<VerdictBarriers> &getVerdict() const { return verdict; }

  /// Inserts the `ws.setup` that initializes the barriers before the roles.
  void emitSetup(ws::KernelOp kernel) const;
  /// The end of shared memory: the words of the claim and of stamps come after
  /// the barriers.
  int64_t getEnd() const { return end + claimBytes + resources.stampBytes; }

private:
  mlir::LogicalResult placeBarriers(ws::KernelOp kernel);
  mlir::LogicalResult placeItems(ws::KernelOp kernel);
  void countArrivals(ws::KernelOp kernel);
  mlir::LogicalResult checkNamed(ws::KernelOp kernel,
                                 MachineAttr machine) const;

  /// Offsets and ids.
  ResourcePlan resources;
  llvm::MapVector<llvm::StringRef, ChannelBarriers> channels;
  llvm::MapVector<llvm::StringRef, EdgeBarrier> edges;
  std::optional<VerdictBarriers> verdict;
  /// The mailbox through which a cluster shares its items.
  std::optional<ws::MailboxMemory> mailbox;
  int64_t end = 0, claimBytes = 0;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_BARRIERPLAN_H
