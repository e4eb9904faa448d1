// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a point to a schedule, as an entry of the table.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEWRITER_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEWRITER_H

#include "SchedulePoint.h"
#include "attn/dialect/Attn.h"

namespace attn::generator {

/// Registers of a thread of each role.
struct RoleRegisters {
  int64_t loader, consumer;
};

/// Returns how the roles share the register file: the consumers have as many
/// as leave the loader `least`, and it has the rest. None if that cannot be.
std::optional<RoleRegisters> shareRegisters(MachineAttr machine,
                                            int64_t consumers, int64_t least);

/// What an entry says beside its config and schedule.
struct EntryHead {
  std::string symbol;
  int64_t headDim, headDimV;
  llvm::SmallVector<std::string> masks;
  std::string when; // a condition on launches; empty: none
  int64_t rung = 0;
};

/// Rows of Q that the consumers of a point compute. An error for machines whose
/// tiles are not described.
llvm::Expected<int64_t> countRows(const SchedulePoint &point,
                                  MachineAttr machine);

/// Returns the entry of a canonical point, in the layout of the table's files.
std::string writeEntry(const SchedulePoint &point, const EntryHead &head,
                       MachineAttr machine, RoleRegisters registers,
                       int64_t rows);

} // namespace attn::generator

#endif // ATTN_PASSES_SCHEDULE_SCHEDULEWRITER_H
