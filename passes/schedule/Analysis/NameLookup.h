// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V1 for a single name: the object that it refers to in a kernel and its
// schedule.
#ifndef ATTN_PASSES_LIB_ANALYSIS_NAMELOOKUP_H
#define ATTN_PASSES_LIB_ANALYSIS_NAMELOOKUP_H

#include "attn/passes/schedule/BoundSchedule.h"

namespace attn::sched {

/// Looks up names that `user`, a noun for messages, refers to.
class NameLookup {
public:
  NameLookup(const BoundSchedule &bound, EmitError emitError)
      : bound(bound), emitError(emitError) {}

  LogicalResult findValue(StringAttr name, StringRef user, int &value) const;
  LogicalResult findStep(StringAttr name, StringRef user, int &step) const;
  LogicalResult findRole(StringAttr name, StringRef user, int &role) const;

private:
  LogicalResult refuse(StringAttr name, StringRef user, StringRef kind) const;

  const BoundSchedule &bound;
  EmitError emitError;
};

} // namespace attn::sched

#endif // ATTN_PASSES_LIB_ANALYSIS_NAMELOOKUP_H
