// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the token program of one role.
#ifndef ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H
#define ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H

#include "RoleRings.h"

namespace attn::sched {

class ProgramWriter {
public:
  ProgramWriter(ProtocolBuilder &builder, int index);

  LogicalResult write();

private:
  struct Accesses {
    SmallVector<Access, 8> reads, workReads, writes;
    SmallVector<CycleKey, 4> cycles;
    SmallVector<Site, 4> sites; // written
  };

  LogicalResult writeItem(int x);
  LogicalResult writeStep(int x);
  LogicalResult writeSlotAct(int x);
  LogicalResult collectReads(const Item &item, Accesses &out);
  void collectWrites(const Item &item, Accesses &out);
  void writeThreads(int x, const Accesses &accesses);
  void writeAsync(int x, const Accesses &accesses);
  void readSlot(int x, const CycleKey &key);
  void writeSignal(const Item &item);
  void writeWaitEdge(const Item &item);
  int localCell(ValueInstance instance, Subtile t);

  RoleTokens role;
  RoleFlights flights;
  RoleRings rings;
  ProtocolBuilder &builder;
  Protocol &protocol;
  const BoundSchedule &bound;
  const KernelModel &kernel;
  ArrayRef<Item> items;
  llvm::DenseMap<int, int> rounds; // one count for each rendezvous
  int span; // iterations, and one for values outside the loop
  // By value, item, iteration and sub-tile; -1 if not used yet.
  std::vector<int> localCells;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_PROGRAMWRITER_H
