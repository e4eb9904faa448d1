// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TableFiles.h"
#include "attn/passes/schedule/EmbeddedData.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "attn/passes/schedule/SizeCover.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace attn;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Returns the entries of a schedule file, in order.
static SmallVector<TableEntryOp> entriesOf(ModuleOp module) {
  return llvm::to_vector(module.getOps<TableEntryOp>());
}

// C1, C3 and C6
static LogicalResult verifyBelongs(TableEntryOp entry, TableEntryOp last) {
  TableKey key = TableKey::of(entry), common = TableKey::of(last);
  if (!key.isComparable(common)) {
    return entry.emitOpError("expected the kind, head dims and machines of the "
                             "file's last entry, '@")
           << last.getSymName() << "', " << common.describe() << ", got "
           << key.describe();
  }
  if (!common.servesProblem(key)) {
    return entry.emitOpError("expected the file's last entry, '@")
           << last.getSymName() << "', to serve " << key.describeProblem()
           << " as '@" << entry.getSymName() << "' does, got "
           << common.describeProblem();
  }
  return success();
}

// C5
static LogicalResult verifyRung(TableEntryOp entry, TableEntryOp last) {
  int64_t rung = entry.getConfig().getRung(),
          common = last.getConfig().getRung();
  if (rung == common) {
    return success();
  }
  return entry.emitOpError("expected 'rung' of the file's last entry, '@")
         << last.getSymName() << "', " << common << ", got " << rung;
}

// C4
static LogicalResult verifyReached(TableEntryOp entry,
                                   ArrayRef<TableEntryOp> before) {
  SizeCover cover;
  std::string takers;
  for (TableEntryOp other : before) {
    if (TableKey::of(other).servesProblem(TableKey::of(entry)) &&
        cover.take(other.getWhenAttr())) {
      takers +=
          (takers.empty() ? "'@" : ", '@") + other.getSymName().str() + "'";
    }
  }
  if (cover.take(entry.getWhenAttr())) {
    return success();
  }
  return entry.emitOpError("expected some launch to be left for '@")
         << entry.getSymName() << "', got none after " << takers;
}

// C7
static LogicalResult verifyPacked(TableEntryOp entry) {
  int64_t heads = entry.getConfig().getPackGqa();
  if (!entry.getPacked() || heads == 1) {
    return success();
  }
  return entry.emitOpError("expected no 'pack_gqa' in the config of '@")
         << entry.getSymName() << "', whose heads are those of the problem, "
         << "got " << heads;
}

/// Checks that every entry can be reached, and that the last entry has no
/// condition, so that every launch reaches one. After packed entries those of
/// another file follow, so their last one may have a condition.
static LogicalResult verifyEntries(ArrayRef<TableEntryOp> entries) {
  TableEntryOp last = entries.back();
  if (last.getWhen() && !last.getPacked()) {
    return last.emitOpError("expected the file's last entry, '@")
           << last.getSymName() << "', to have no 'when', got "
           << last.getWhenAttr();
  }
  for (auto [i, entry] : llvm::enumerate(entries)) {
    if (failed(verifyBelongs(entry, last)) || failed(verifyRung(entry, last)) ||
        failed(verifyPacked(entry)) ||
        failed(verifyReached(entry, entries.take_front(i)))) {
      return failure();
    }
  }
  return success();
}

/// Returns what is in a file, which is null if it does not parse.
static FailureOr<TableFile> readModule(OwningOpRef<ModuleOp> module,
                                       StringRef path, EmitError emitError) {
  if (!module) {
    return emitError() << "expected schedule file '" << path
                       << "' to be valid IR, got a file that does not parse";
  }
  SmallVector<TableEntryOp> entries = entriesOf(*module);
  if (entries.empty()) {
    return emitError() << "expected an attn.table_entry in '" << path
                       << "', got none";
  }
  if (failed(verifyEntries(entries))) {
    return emitError() << "expected the entries of schedule file '" << path
                       << "' to be legal";
  }
  TableFile file{path.str(), {}};
  for (TableEntryOp entry : entries) {
    file.entries.push_back({TableKey::of(entry), entry.getSymName().str(),
                            entry.getWhenAttr(), entry.getConfig(),
                            entry.getSchedule(), entry.getLoc()});
  }
  return file;
}

FailureOr<TableFile> attn::readTableFile(MLIRContext *context, StringRef path,
                                         EmitError emitError) {
  if (!llvm::sys::fs::exists(path)) {
    return emitError() << "expected schedule file '" << path
                       << "' to exist, got no such file";
  }
  return readModule(parseSourceFile<ModuleOp>(path, ParserConfig(context)),
                    path, emitError);
}

FailureOr<ArrayRef<TableFile>> TableFiles::read(StringRef folder,
                                                EmitError emitError) const {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = folders.find(folder);
    if (known != folders.end()) {
      return ArrayRef<TableFile>(known->second);
    }
  }
  std::vector<TableFile> files;
  for (const EmbeddedFile &file : listEmbeddedFiles(folder)) {
    auto read =
        readModule(parseSourceString<ModuleOp>(
                       file.text, ParserConfig(getContext()), file.path),
                   file.path, emitError);
    if (failed(read)) {
      return failure();
    }
    files.push_back(std::move(*read));
  }
  std::lock_guard<std::mutex> lock(mutex);
  // Another thread may have been faster.
  auto kept = folders.try_emplace(folder, std::move(files)).first;
  return ArrayRef<TableFile>(kept->second);
}

void attn::registerTableFiles(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, AttnDialect *dialect) {
    dialect->addInterfaces<TableFiles>();
  });
}
