// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound schedule expanded for given trip counts: one token program a role,
// with barriers and their phases, copies, MMAs and stores as asynchronous
// operations, and every read and write of a cell.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H
#define ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H

#include "BoundSchedule.h"

namespace attn::sched {

/// What a cell holds: one instance of a value, or the partial result of a step
/// that runs in parts (`what` is then -1 - step).
struct Tag {
  int what = 0, item = 0, iteration = 0;
  Subtile subtile = whole;
  bool operator==(const Tag &other) const {
    return what == other.what && item == other.item &&
           iteration == other.iteration && subtile == other.subtile;
  }
};

struct Access {
  int cell;
  Tag tag;
};

/// A piece of one of the protocol's pools.
struct Span {
  int begin = 0, end = 0;
};

/// An arrival on a phase of a barrier. Sources are instances, then the copies:
/// instance count + step.
struct Signal {
  int barrier, phase, source;
};

/// An entry of a body in one iteration of one work item.
struct Item {
  enum Kind { Run, ItemBegin, IterationEnd, LoopEnd, ItemEnd } kind = Run;
  const Entry *entry = nullptr;
  int item = 0, iteration = -1;

  bool writes() const {
    return kind == Run && (entry->act == Act::Op || entry->act == Act::Put);
  }
};

struct Token {
  enum Kind {
    Wait,   // for a phase of a barrier
    Pass,   // a wait that credits answer
    Arrive, // on a phase of a barrier
    Do,     // read and write cells now
    Issue,  // start an asynchronous operation
    Await,  // its end
    Meet    // a rendezvous
  } kind;
  int first;      // barrier; operation; rendezvous
  int second = 0; // phase; round
  int item = -1;
  Span reads, writes;
};

struct AsyncOp {
  int instance, item; // item -1: a commit, which only signals
  int pipe;           // operations of one pipe end in order; -1: none
  Span reads, writes, signals;
};

class Protocol {
public:
  Protocol(const BoundSchedule &bound, ArrayRef<int> trips)
      : bound(bound), trips(trips) {}

  /// Expands and derives; rules V2, V5, V7, V15, V21.
  LogicalResult derive(EmitError emitError);

  /// The same for all CTAs of the cluster, whose instances, barriers,
  /// operations and rendezvous follow those of the first (ClusterProtocol.cpp).
  Protocol spreadOverCluster();

  std::string describeItem(int instance, int item) const;
  std::string describeInstance(int instance) const;
  std::string describeBarrier(int barrier) const;
  std::string describeTag(const Tag &tag) const;
  std::string describeSource(int source) const;
  SmallVector<int> waitersOf(int barrier) const;
  const Rendezvous &rendezvousOf(int meeting) const;

  const BoundSchedule &bound;
  ArrayRef<int> trips;
  int ctas = 1;
  SmallVector<SmallVector<Item>> items;     // by instance of one CTA
  SmallVector<std::vector<Token>> programs; // by instance
  std::vector<AsyncOp> operations;
  std::vector<Access> accesses;
  std::vector<Signal> signals;
  // By barrier and phase: the sources that complete it.
  std::vector<SmallVector<SmallVector<int, 2>>> expected;
  // The cells of places come first, then those of values in registers.
  int cellCount = 0;

  ArrayRef<Access> get(Span range) const {
    return ArrayRef(accesses).slice(range.begin, range.end - range.begin);
  }

private:
  std::string describeCta(int cta) const;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROTOCOL_H
