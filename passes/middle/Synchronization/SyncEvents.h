// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The objects by which a kernel's roles synchronize, and the events on them,
// collected once because trials look them up often.
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
  int64_t pieces = 1;  // of a slot of a hold
  int64_t credits = 0; // waits for an edge before its first signal
  bool freeImplied = false;
  bool inCluster = false; // its ends may be in different CTAs
  bool handedOut = false; // a verdict that one role reads
  ws::RoleOp ring = {};   // the role whose replicas take turns or meet
};

/// One event: what a role does with an object.
struct SyncEvent {
  enum Kind {
    Acquire,
    Copy,
    PutWork,
    Wait,
    Read, // by threads: a work item or a row vector
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
    TakeItem,    // receives the counter's reply
    GiveVerdict, // on a work item
    TakeVerdict,
    ShareItem, // among the CTAs of a cluster
  };
  static constexpr unsigned kinds = ShareItem + 1;
  Kind kind;
  unsigned object; // its index in `SyncEvents::objects`
  mlir::Operation *op;
};

/// The events of a kernel's ops, and their objects.
class SyncEvents {
public:
  explicit SyncEvents(ws::KernelOp kernel);

  /// Returns null if the op itself has no such event.
  const SyncEvent *find(mlir::Operation *op) const;
  /// The ops of a block that have an event, or that contain one, in order.
  llvm::ArrayRef<mlir::Operation *> within(mlir::Block *block) const {
    auto ops = around.find(block);
    return ops == around.end() ? llvm::ArrayRef<mlir::Operation *>()
                               : ops->second;
  }
  /// Whether the op contains such ops in its regions.
  bool isWithin(mlir::Operation *op) const {
    return llvm::any_of(op->getRegions(), [&](mlir::Region &region) {
      return llvm::any_of(
          region, [&](mlir::Block &block) { return around.contains(&block); });
    });
  }
  /// Whether a role has such an event in its text. Its warps then count as an
  /// end of the object, even if they never reach the event.
  bool has(ws::RoleOp role, SyncEvent::Kind kind, unsigned object) const {
    return ends.find(role)->second[object * SyncEvent::kinds + kind];
  }

  llvm::ArrayRef<SyncObject> objects() const { return found; }
  /// Returns the index in `objects` of `name`, as an op of the kernel uses it.
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
