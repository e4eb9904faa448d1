// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a point to a schedule, as an entry of the table.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEWRITER_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEWRITER_H

#include "SchedulePoint.h"
#include "attn/dialect/Attn.h"

namespace attn::generator {

/// The registers of a thread of each role.
struct RoleRegisters {
  int64_t loader, consumer;
};

/// Returns how the roles share the register file, or half of it if one CTA
/// cannot use all of it: the consumers get as many as possible so that the
/// loader has at least `least`, and the loader gets the rest. Nothing if that
/// is impossible.
std::optional<RoleRegisters> shareRegisters(MachineAttr machine,
                                            int64_t consumers, int64_t least);

/// The parts of an entry other than its config and schedule.
struct EntryHead {
  std::string symbol;
  int64_t headDim, headDimV;
  llvm::SmallVector<std::string> masks;
  std::string when; // a condition on launches, or empty
  int64_t rung = 0;
  int64_t tileD = 0, tileDv = 0; // columns of tiles; 0: the head dims
};

/// Returns the rows of Q that the consumers of a point compute, or an error for
/// machines without a description of tiles.
llvm::Expected<int64_t> countRows(const SchedulePoint &point,
                                  MachineAttr machine);

/// Returns the entry of a canonical point, in the layout of the table's files.
std::string writeEntry(const SchedulePoint &point, const EntryHead &head,
                       MachineAttr machine, RoleRegisters registers,
                       int64_t rows);

/// Returns the text of an entry with another head, and the schedule's name
/// after it. The old head is not read: it may be that of an older compiler.
std::string replaceHead(StringRef entry, const EntryHead &head);

} // namespace attn::generator

#endif // ATTN_PASSES_SCHEDULE_SCHEDULEWRITER_H
