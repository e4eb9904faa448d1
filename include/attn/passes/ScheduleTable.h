// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Look-up in the schedule table: the files of codegen/data/schedules, or one
// file given by the user.
#ifndef ATTN_PASSES_SCHEDULETABLE_H
#define ATTN_PASSES_SCHEDULETABLE_H

#include "attn/dialect/Attn.h"

namespace attn {

struct TableEntry {
  std::string origin; // "entry '@x' of 'schedules/x.mlir'", for remarks
  ConditionAttr when; // null: always
  ConfigAttr config;
  ScheduleAttr schedule;
};

/// The entries whose keys fit `problem` on `target`, in the order in which they
/// are tried; the last has no condition. With `scheduleFile` the table is not
/// looked at: the entries of the file must fit. Failures are reported through
/// `emitError`; what a file's text lacks is reported at its place there.
mlir::FailureOr<llvm::SmallVector<TableEntry>>
lookupTableEntries(mlir::MLIRContext *context, ProblemAttr problem,
                   llvm::StringRef target, llvm::StringRef scheduleFile,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace attn

#endif // ATTN_PASSES_SCHEDULETABLE_H
