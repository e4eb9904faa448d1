// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/ScheduleTable.h"
#include "attn/codegen/EmbeddedData.h"
#include "attn/passes/DataTables.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace attn;

using EmitError = function_ref<InFlightDiagnostic()>;

namespace {

/// What an entry is for, or what is looked for, in words.
struct Key {
  KernelKind kind;
  int64_t headDim, headDimV;
  SmallVector<StringRef> masks;
  StringRef machine;

  static Key of(ProblemAttr problem, StringRef target) {
    Key key{problem.getKind(),
            problem.getHeadDim(),
            problem.getHeadDimV(),
            {stringifyMaskKind(problem.getMask())},
            target};
    // A region that reads at positions is one more thing that an entry must
    // serve: it needs registers for what it reads.
    if (problem.getMaskRegion() == attn::RegionKind::Gathering ||
        problem.getScoreRegion() == attn::RegionKind::Gathering) {
      key.masks.push_back("region");
    }
    return key;
  }
  static Key of(TableEntryOp entry) {
    Key key{entry.getKind(),
            int64_t(entry.getHeadDim()),
            int64_t(entry.getHeadDimV()),
            {},
            entry.getSchedule().getMachine().getValue()};
    for (auto mask : entry.getMasks().getAsRange<StringAttr>()) {
      key.masks.push_back(mask.getValue());
    }
    return key;
  }

  /// Does an entry with this key serve `wanted`? -1 stands for any head dim.
  bool serves(const Key &wanted) const {
    return servesProblem(wanted) && machine == wanted.machine;
  }
  bool servesProblem(const Key &wanted) const {
    return kind == wanted.kind &&
           (headDim == -1 || headDim == wanted.headDim) &&
           (headDimV == -1 || headDimV == wanted.headDimV) &&
           llvm::all_of(wanted.masks, [&](StringRef mask) {
             return llvm::is_contained(masks, mask);
           });
  }
  std::string describeProblem() const {
    return llvm::formatv("{0}, head dims {1} and {2}, mask '{3}'",
                         stringifyKernelKind(kind), headDim, headDimV,
                         llvm::join(masks, "' and '"));
  }
  std::string describe() const {
    return llvm::formatv("{0}, on '{1}'", describeProblem(), machine);
  }
};

} // namespace

/// The one entry of a module.
static FailureOr<TableEntryOp> readEntry(ModuleOp module, StringRef path,
                                         EmitError emitError) {
  if (!module) {
    return emitError() << "expected schedule file '" << path
                       << "' to be valid IR, got a file that does not parse";
  }
  auto entries = llvm::to_vector(module.getOps<TableEntryOp>());
  if (entries.size() != 1) {
    return emitError() << "expected one attn.table_entry in '" << path
                       << "', got " << entries.size();
  }
  return entries.front();
}

static TableEntry makeEntry(TableEntryOp op, StringRef path) {
  return {llvm::formatv("entry '@{0}' of '{1}'", op.getSymName(), path),
          op.getConfig(), op.getSchedule()};
}

static FailureOr<TableEntry> readFile(MLIRContext *context, const Key &wanted,
                                      StringRef path, EmitError emitError) {
  if (!llvm::sys::fs::exists(path)) {
    return emitError() << "expected schedule file '" << path
                       << "' to exist, got no such file";
  }
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(path, ParserConfig(context));
  FailureOr<TableEntryOp> op =
      readEntry(module ? *module : ModuleOp(), path, emitError);
  if (failed(op)) {
    return failure();
  }
  Key key = Key::of(*op);
  if (!key.servesProblem(wanted)) {
    return emitError() << "expected the entry '@" << op->getSymName()
                       << "' of '" << path << "' to be for "
                       << wanted.describeProblem() << ", got "
                       << key.describeProblem();
  }
  if (key.machine != wanted.machine) {
    return emitError() << "expected the schedule of entry '@"
                       << op->getSymName() << "' of '" << path
                       << "' to be for machine '" << wanted.machine
                       << "', got '" << key.machine << "'";
  }
  return makeEntry(*op, path);
}

static FailureOr<TableEntry>
searchTable(MLIRContext *context, const Key &wanted, EmitError emitError) {
  std::string known;
  for (const EmbeddedFile &file : listEmbeddedFiles("schedules")) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        file.text, ParserConfig(context), file.path);
    FailureOr<TableEntryOp> op =
        readEntry(module ? *module : ModuleOp(), file.path, emitError);
    if (failed(op)) {
      return failure();
    }
    Key key = Key::of(*op);
    if (key.serves(wanted)) {
      return makeEntry(*op, file.path);
    }
    known += llvm::formatv("\n  @{0}: {1}", op->getSymName(), key.describe());
  }
  return emitError() << "expected a schedule for " << wanted.describe()
                     << " in the table, which has" << known;
}

FailureOr<TableEntry> attn::lookupTableEntry(MLIRContext *context,
                                             ProblemAttr problem,
                                             StringRef target,
                                             StringRef scheduleFile,
                                             EmitError emitError) {
  if (failed(lookupMachine(context, target, emitError))) {
    return failure();
  }
  Key wanted = Key::of(problem, target);
  return scheduleFile.empty()
             ? searchTable(context, wanted, emitError)
             : readFile(context, wanted, scheduleFile, emitError);
}
