// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives a protocol: numbers the cycles of rings over all roles, then writes
// the program of each role.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROTOCOLBUILDER_H
#define ATTN_PASSES_LIB_ANALYSIS_PROTOCOLBUILDER_H

#include "Protocol.h"

namespace attn::sched {

/// A read or write of a value in a place. Cycle -1: in registers of the role.
struct Site {
  const Place *place = nullptr;
  Subtile subtile = whole;
  int cycle = -1;
  ValueInstance instance;
};

/// The cycles of all rings: which cycle of a slot carries which instance.
class CycleTable {
public:
  CycleTable(const BoundSchedule &bound, ArrayRef<int> trips);

  /// Returns the number of the cycle in its ring, assigning one if necessary.
  int numberOf(const Place &place, Subtile t, ValueInstance instance);
  /// Returns -1 if nothing writes this instance.
  int find(const Place &place, Subtile t, ValueInstance instance) const;
  int count(int ring) const { return counts[ring]; }

private:
  int key(const Place &place, Subtile t, ValueInstance instance) const;

  const BoundSchedule &bound;
  int items; // and the item "none left"
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

  /// Returns the instance of a value that a step of (item, iteration) writes or
  /// passes on.
  ValueInstance writtenInstance(int value, int item, int iteration) const;
  /// Returns the writes of an item: the results of a step, or the values of a
  /// put.
  SmallVector<Site, 4> writtenSites(const Item &item) const;
  /// Finds what an item of an instance reads of a value; V5.
  LogicalResult readSites(const Instance &instance, const Item &item, int value,
                          SmallVectorImpl<Site> &sites) const;
  /// Returns the values that an item reads.
  ArrayRef<int> valuesRead(const Item &item) const;
  Engine engineOf(const Item &item) const;
  SmallVector<int, 4> partsOf(const Place &place, int part) const;
  /// Whether an item runs the last part of a step, or all of it.
  bool isLastPart(const Item &item) const;
  /// Returns the signals with which an item of an instance announces its
  /// writes.
  SmallVector<Signal, 4> fullSignals(int instance, const Item &item,
                                     ArrayRef<Site> sites) const;
  void expect(int barrier, int phase, int source);

  Protocol &protocol;
  const BoundSchedule &bound;
  const KernelModel &kernel;
  ArrayRef<int> trips;
  EmitError emitError;
  CycleTable cycles;
  // For each barrier of an edge and each instance: signals and waits so far.
  std::vector<SmallVector<int, 4>> signalCount, waitCount;
};

/// Writes the program of one role.
LogicalResult buildProgram(ProtocolBuilder &builder, int instance);

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROTOCOLBUILDER_H
