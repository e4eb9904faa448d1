// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's roles synchronize by, found once: trials ask for it often.
#ifndef ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCEVENTS_H
#define ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCEVENTS_H

#include "attn/dialect/Ws.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace attn {

/// A channel, edge, turn or rendezvous.
struct SyncObject {
  llvm::StringRef name;
  int64_t depth = 0;   // slots of a channel
  int64_t credits = 0; // waits for an edge before its first signal
  bool freeImplied = false;
  bool inCluster = false; // its ends may be in different CTAs
};

/// One synchronization event of a role.
struct SyncEvent {
  enum Kind {
    Acquire,
    Commit,
    Wait,
    Release,
    Take,
    Give,
    Signal,
    WaitEdge,
    Sync,
    Fetch, // of a work item, with no object
  };
  static constexpr unsigned kinds = Fetch + 1;
  Kind kind;
  unsigned object; // its place in `SyncEvents::objects`
  mlir::Operation *op;
};

/// The events of a kernel's ops, and the objects that they name.
class SyncEvents {
public:
  explicit SyncEvents(ws::KernelOp kernel);

  /// Null where the op itself does not synchronize.
  const SyncEvent *find(mlir::Operation *op) const;
  /// Whether the op synchronizes, or an op within it does.
  bool isWithin(mlir::Operation *op) const { return around.contains(op); }

  llvm::ArrayRef<SyncObject> objects() const { return found; }
  /// The place of `name`, of an op of the kernel, in `objects`.
  unsigned objectOf(llvm::StringRef name) const {
    return places.find(name)->second;
  }

private:
  void addObject(SyncObject object);
  void addEvent(mlir::Operation *op);

  llvm::SmallVector<SyncObject> found;
  llvm::DenseMap<llvm::StringRef, unsigned> places;
  llvm::DenseMap<mlir::Operation *, SyncEvent> events;
  llvm::DenseSet<mlir::Operation *> around;
};

} // namespace attn

#endif // ATTN_PASSES_LIB_SYNCHRONIZATION_SYNCEVENTS_H
