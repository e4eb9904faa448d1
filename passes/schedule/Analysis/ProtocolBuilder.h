// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a protocol is derived: cycles of rings are numbered over all roles, then
// each role's program is written.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROTOCOLBUILDER_H
#define ATTN_PASSES_LIB_ANALYSIS_PROTOCOLBUILDER_H

#include "Protocol.h"

namespace attn::sched {

/// A read or write of a value at a place. Cycle -1: in registers of the role.
struct Site {
  const Place *place = nullptr;
  Subtile subtile = whole;
  int cycle = -1;
  ValueInstance instance;
};

/// The cycles of all rings: which slot turn carries which instance.
class CycleTable {
public:
  CycleTable(const BoundSchedule &bound, ArrayRef<int> trips);

  /// Numbers the cycle in its ring if it has no number yet.
  int numberOf(const Place &place, Subtile t, ValueInstance instance);
  /// -1 where nothing writes this instance.
  int find(const Place &place, Subtile t, ValueInstance instance) const;
  int count(int ring) const { return counts[ring]; }

private:
  int key(const Place &place, Subtile t, ValueInstance instance) const;

  const BoundSchedule &bound;
  int items; // and the one that says that there are none left
  int span;  // iterations, and one for values outside the loop
  SmallVector<int> ringOffsets, counts;
  std::vector<int> numbers;
};

/// Shared by the programs of all roles while a protocol is derived.
struct ProtocolBuilder {
  ProtocolBuilder(Protocol &protocol, EmitError emitError)
      : protocol(protocol), bound(protocol.bound), kernel(*bound.kernel),
        trips(protocol.trips), emitError(emitError), cycles(bound, trips) {}

  LogicalResult build();

  void unroll();
  void numberCycles();
  void expectArrivals();
  LogicalResult checkCoverage() const;
  LogicalResult checkRuns(int step, int item, int iteration, Subtile t,
                          ArrayRef<int> runs) const;
  LogicalResult checkBalance() const;

  /// The instance of a value that a step of (item, iteration) writes or passes
  /// on.
  ValueInstance writtenInstance(int value, int item, int iteration) const;
  /// What an item writes: the results of a step, or the values of a put.
  SmallVector<Site, 4> writtenSites(const Item &item) const;
  /// What an item of an instance reads of a value; V5.
  LogicalResult readSites(const Instance &instance, const Item &item, int value,
                          SmallVectorImpl<Site> &sites) const;
  /// The values that an item reads.
  ArrayRef<int> valuesRead(const Item &item) const;
  Engine engineOf(const Item &item) const;
  SmallVector<int, 4> partsOf(const Place &place, int part) const;
  /// The last of the parts in which a step runs, or all of it.
  bool isLastPart(const Item &item) const;
  /// How an item of an instance signals that what it wrote is there.
  SmallVector<Signal, 4> fullSignals(int instance, const Item &item,
                                     ArrayRef<Site> sites) const;
  void expect(int barrier, int phase, int source);

  Protocol &protocol;
  const BoundSchedule &bound;
  const KernelModel &kernel;
  ArrayRef<int> trips;
  EmitError emitError;
  CycleTable cycles;
  // By barrier of an edge and instance: signals and waits so far.
  std::vector<SmallVector<int, 4>> signalCount, waitCount;
};

/// Writes the program of one role.
LogicalResult buildProgram(ProtocolBuilder &builder, int instance);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROTOCOLBUILDER_H
