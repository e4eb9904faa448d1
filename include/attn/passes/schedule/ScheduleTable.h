// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Look-up in the schedule table: the files of passes/schedule/data/schedules
// and, for the higher rungs, of passes/schedule/data/rungs, each in the folder
// of its machine; or in one file of the user.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULETABLE_H
#define ATTN_PASSES_SCHEDULE_SCHEDULETABLE_H

#include "attn/dialect/Attn.h"
#include "attn/dialect/Knobs.h"

namespace attn {

// The folders of the table's files: of rung 0, and of the others.
constexpr llvm::StringLiteral kScheduleFolder = "schedules";
constexpr llvm::StringLiteral kRungFolder = "rungs";

struct TableEntry {
  std::string file, symbol;
  std::string origin; // "entry '@x' of 'schedules/sm_90a/x.mlir'", for remarks
  ConditionAttr when; // null: always
  bool packed;        // 'pack_gqa' follows from the heads of the problem
  ConfigAttr config;
  ScheduleAttr schedule;
  mlir::Location loc; // in its file
};

/// Returns `config` with another value of one knob.
ConfigAttr withKnob(ConfigAttr config, Knob knob, int64_t value);

/// Whether a kernel that adds shares of dQ to sums computes them transposed:
/// the rows of the product, 64 of a warpgroup, are columns of dQ.
bool transposesShares(ConfigAttr config);

/// Returns the entries whose keys match `problem` on `target`, in the order in
/// which launches try them; the last one has no condition. They are those of
/// the lowest rung from `firstRung` on that has any, or none if the ladder ends
/// before, which is a failure for `firstRung` 0. With `scheduleFile` the
/// entries come from that file instead of the table: they must match, on any
/// rung. Failures are reported through `emitError`, and errors in a file at
/// their location there.
mlir::FailureOr<llvm::SmallVector<TableEntry>>
lookupTableEntries(mlir::MLIRContext *context, ProblemAttr problem,
                   llvm::StringRef target, llvm::StringRef scheduleFile,
                   int64_t firstRung,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Whether there are such entries on some rung.
mlir::FailureOr<bool>
hasTableEntry(mlir::MLIRContext *context, ProblemAttr problem,
              llvm::StringRef target, llvm::StringRef scheduleFile,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Makes contexts keep the table's files, so that each parses them once.
void registerTableFiles(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_SCHEDULETABLE_H
