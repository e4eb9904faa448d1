// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of schedules, as the compiler reads them.
#ifndef ATTN_PASSES_SCHEDULE_TABLEFILES_H
#define ATTN_PASSES_SCHEDULE_TABLEFILES_H

#include "TableKey.h"
#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

namespace attn {

/// An entry of a file.
struct FileEntry {
  TableKey key;
  std::string symbol;
  ConditionAttr when; // null: always
  ConfigAttr config;
  ScheduleAttr schedule;
  mlir::Location loc;
};

/// A file that obeys the rules C1 to C7. It has an entry.
struct TableFile {
  std::string path;
  llvm::SmallVector<FileEntry> entries;

  const FileEntry &last() const { return entries.back(); }
};

/// Reads a file of the user. Failures are reported through `emitError`, and
/// errors in the file at their location there.
mlir::FailureOr<TableFile>
readTableFile(mlir::MLIRContext *context, llvm::StringRef path,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The embedded files of a context, each parsed once.
class TableFiles : public mlir::DialectInterface::Base<TableFiles> {
public:
  explicit TableFiles(mlir::Dialect *dialect) : Base(dialect) {}

  /// Returns the files of a folder of the table.
  mlir::FailureOr<llvm::ArrayRef<TableFile>>
  read(llvm::StringRef folder,
       llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;

private:
  mutable std::mutex mutex;
  mutable llvm::StringMap<std::vector<TableFile>> folders;
};

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_TABLEFILES_H
