// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's roles synchronize by and what they do with shared memory,
// found once: trials ask for it often.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCEVENTS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCEVENTS_H

#include "attn/dialect/Ws.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// A channel, hold, edge, turn, rendezvous, verdict or mailbox.
struct SyncObject {
  enum Kind { Channel, Hold, Edge, Turn, Rendezvous, Verdict, Mailbox } kind;
  llvm::StringRef name;
  int64_t depth = 1;   // slots, pieces, or replicas of the ring
  int64_t credits = 0; // waits for an edge before its first signal
  bool freeImplied = false;
  bool inCluster = false; // its ends may be in different CTAs
  bool handedOut = false; // a verdict that one role takes
  ws::RoleOp ring = {};   // whose replicas take turns or meet
};

/// One thing that a role does with an object.
struct SyncEvent {
  enum Kind {
    Acquire,
    Copy,
    PutWork,
    Wait,
    GetWork,
    Release,
    Mma, // with no object of its own
    AwaitMma,
    Put,
    Store,
    AwaitStores,
    Take,
    Give,
    Signal,
    WaitEdge,
    Meet,
    Fetch,       // asks the counter for a work item
    TakeItem,    // the counter's answer
    GiveVerdict, // on a work item
    TakeVerdict,
    ShareItem, // among the CTAs of a cluster
  };
  static constexpr unsigned kinds = ShareItem + 1;
  Kind kind;
  unsigned object; // its place in `SyncEvents::objects`
  mlir::Operation *op;
};

/// The events of a kernel's ops, and the objects that they name.
class SyncEvents {
public:
  explicit SyncEvents(ws::KernelOp kernel);

  /// Null where the op itself does nothing of that kind.
  const SyncEvent *find(mlir::Operation *op) const;
  /// The ops of a block that have an event, or an op within them has, in order.
  llvm::ArrayRef<mlir::Operation *> within(mlir::Block *block) const {
    auto ops = around.find(block);
    return ops == around.end() ? llvm::ArrayRef<mlir::Operation *>()
                               : ops->second;
  }
  /// Whether the op has such ops in its regions.
  bool isWithin(mlir::Operation *op) const {
    return llvm::any_of(op->getRegions(), [&](mlir::Region &region) {
      return llvm::any_of(
          region, [&](mlir::Block &block) { return around.contains(&block); });
    });
  }
  /// Whether a role has such an event in its text. Its warps then count as an
  /// end of the object, even if they never get there.
  bool has(ws::RoleOp role, SyncEvent::Kind kind, unsigned object) const {
    return ends.find(role)->second[object * SyncEvent::kinds + kind];
  }

  llvm::ArrayRef<SyncObject> objects() const { return found; }
  /// The place of `name`, of an op of the kernel, in `objects`.
  unsigned objectOf(llvm::StringRef name) const {
    return places.find(name)->second;
  }
  unsigned objectOf(mlir::Value slot) const;

private:
  void addObject(SyncObject object);
  void addEvent(mlir::Operation *op);

  llvm::SmallVector<SyncObject> found;
  llvm::DenseMap<llvm::StringRef, unsigned> places;
  llvm::DenseMap<mlir::Operation *, SyncEvent> events;
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> ends; // by role
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> around;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCEVENTS_H
