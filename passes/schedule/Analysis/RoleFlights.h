// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The asynchronous operations of a role that are in flight, and the awaits of
// their ends.
#ifndef ATTN_PASSES_LIB_ANALYSIS_ROLEFLIGHTS_H
#define ATTN_PASSES_LIB_ANALYSIS_ROLEFLIGHTS_H

#include "RoleTokens.h"

namespace attn::sched {

/// An asynchronous operation that this role has not awaited yet.
struct Flight {
  int operation;
  Engine engine;
  int pipe;
  const Item *item; // the token that issued it
  SmallVector<int, 8> readCells, writeCells;
  SmallVector<CycleKey, 2> reads;   // channel cycles that it reads
  SmallVector<CycleKey, 2> pending; // to be released when it is awaited
};

class RoleFlights {
public:
  explicit RoleFlights(RoleTokens &role) : role(role) {}

  Flight &issue() { return flights.emplace_back(); }
  /// Returns the last operation in flight that reads a cycle, or null.
  Flight *findReader(const CycleKey &key);

  /// Awaits the MMAs of this time step that must be complete before the act.
  void awaitListed(const Item &item);
  void awaitProducts();
  /// Awaits the operations in flight of a step. Stores are awaited all at once.
  void awaitStep(const Item &item);
  /// Checks that an item does not access operands or results of MMAs in flight,
  /// if the role cannot await them. One tensor core works in order.
  LogicalResult checkConflicts(const Item &item, ArrayRef<Access> reads,
                               ArrayRef<Access> writes) const;

private:
  void awaitOperation(int operation);

  RoleTokens &role;
  std::vector<Flight> flights;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_ROLEFLIGHTS_H
