// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts an entry of the table to the point that generates it.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEREADER_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEREADER_H

#include "SchedulePoint.h"
#include "attn/dialect/Attn.h"

namespace attn::generator {

/// Returns the canonical point that generates an entry, or an error if there is
/// none.
llvm::Expected<SchedulePoint> readPoint(TableEntryOp entry,
                                        MachineAttr machine);

/// Returns the entries of a text, in order.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
parseEntries(StringRef text, StringRef file, mlir::MLIRContext *context);

} // namespace attn::generator

#endif // ATTN_PASSES_SCHEDULE_SCHEDULEREADER_H
