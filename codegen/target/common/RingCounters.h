// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the cycles of a role's rings, in stack slots that become registers
// (docs/adr/0005).
#ifndef ATTN_CODEGEN_RINGCOUNTERS_H
#define ATTN_CODEGEN_RINGCOUNTERS_H

#include "Arithmetic.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

class RingCounters {
public:
  struct Cycle {
    mlir::Value slot, parity;
  };

  /// Creates the counters of the rings that the role waits for or puts into, at
  /// its begin.
  explicit RingCounters(ws::RoleOp role);

  /// Returns the slot and parity of this cycle. `moveOn` must follow after
  /// every value that depends on them has been computed, so that the counter's
  /// registers are updated in place.
  Cycle currentCycle(const Arithmetic &emit, llvm::StringRef name,
                     int64_t depth) const;
  void moveOn(const Arithmetic &emit, llvm::StringRef name, int64_t depth,
              Cycle cycle) const;

private:
  /// The variables of a ring.
  struct Counter {
    mlir::Value slot, parity;
  };
  llvm::StringMap<Counter> counters;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_RINGCOUNTERS_H
