// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/ScheduleTable.h"
#include "TableFiles.h"
#include "attn/dialect/Attn.h"
#include "attn/passes/schedule/DataTables.h"

using namespace mlir;
using namespace attn;

using EmitError = function_ref<InFlightDiagnostic()>;

ConfigAttr attn::withKnob(ConfigAttr config, Knob knob, int64_t value) {
  SmallVector<KnobValue> values = config.getValues();
  for (auto [each, old] : llvm::zip(ConfigAttr::getKnobs(), values)) {
    if (each == knob) {
      old = value;
    }
  }
  return ConfigAttr::fromValues(config.getContext(), values);
}

/// Returns the config of an entry, with its columns for the head dims of
/// `wanted`: those that it states, otherwise those of its own head dims.
/// Columns that equal the head dim are left out.
static ConfigAttr configFor(const FileEntry &entry, const TableKey &wanted) {
  auto columns = [](int64_t stated, int64_t native, int64_t headDim) {
    int64_t all = stated != 0 ? stated : TableKey::columnsFor(native, headDim);
    return all == headDim ? 0 : all;
  };
  ConfigAttr config = entry.config;
  int64_t d = columns(config.getTileD(), entry.key.headDim, wanted.headDim);
  int64_t dv = columns(config.getTileDv(), entry.key.headDimV, wanted.headDimV);
  return withKnob(withKnob(config, Knob::TileD, d), Knob::TileDv, dv);
}

bool attn::transposesShares(ConfigAttr config) {
  return config.getShareRows() == ShareRows::Columns;
}

static TableEntry makeEntry(const FileEntry &entry, const TableKey &wanted,
                            StringRef path) {
  return {path.str(),
          entry.symbol,
          llvm::formatv("entry '@{0}' of '{1}'", entry.symbol, path),
          entry.when,
          entry.key.packed,
          configFor(entry, wanted),
          entry.schedule.forMachine(wanted.machines.front()),
          entry.loc};
}

/// Whether launches choose among entries that are not packed by their rows or
/// queries, too. Functions are compiled for longer, so only plain problems use
/// such a file: all of its entries are compiled.
static bool choosesByQueries(const TableFile &file) {
  return llvm::any_of(file.entries, [](const FileEntry &entry) {
    return entry.when && !entry.key.packed &&
           llvm::any_of(entry.when.getBounds(), [](BoundAttr bound) {
             return bound.getSize() != LaunchSize::SeqlenK;
           });
  });
}

/// Whether a file has transposed shares of dQ. attn-split-backward asks for
/// them before it is known which mask a function is, and their kernels have no
/// registers for another function or dropout.
static bool hasTransposedShares(const TableFile &file) {
  KernelKind kind = file.last().key.kind;
  return (kind == KernelKind::Bwd || kind == KernelKind::BwdOrdered) &&
         transposesShares(file.last().config);
}

/// Whether the kernels of a file are persistent ones of gradients. Each CTA has
/// its item in registers, beside which none is left for a function or dropout.
static bool keepsItems(const TableFile &file) {
  KernelKind kind = file.last().key.kind;
  return llvm::is_contained(
             {KernelKind::Bwd, KernelKind::BwdDQDK, KernelKind::BwdOrdered},
             kind) &&
         file.last().config.getWork() == WorkKind::Dynamic;
}

/// Whether the kernels of a file have registers for the functions and dropout
/// of `wanted`, of which the masks of a key do not tell.
static bool hasRoomFor(const TableFile &file, const TableKey &wanted) {
  if (hasTransposedShares(file) || keepsItems(file)) {
    return !wanted.hasFunction && !wanted.dropout;
  }
  if (choosesByQueries(file)) {
    return wanted.plain;
  }
  return file.last().config.getKeptP() == KeptP::F32 ||
         !(wanted.hasFunction || wanted.dropout);
}

/// Returns the entries of a file that cover `wanted`.
static SmallVector<TableEntry> chooseEntries(const TableFile &file,
                                             const TableKey &wanted) {
  SmallVector<TableEntry> chosen;
  for (const FileEntry &entry : file.entries) {
    if (entry.key.serves(wanted)) {
      chosen.push_back(makeEntry(entry, wanted, file.path));
    }
  }
  return chosen;
}

static FailureOr<SmallVector<TableEntry>> searchTable(MLIRContext *context,
                                                      const TableKey &wanted,
                                                      int64_t firstRung,
                                                      EmitError emitError);

/// Whether kernels of a kind are launched before or after one of kind `main`,
/// which the user's file is for.
static bool helpsOthers(KernelKind kind, KernelKind main) {
  return kind == KernelKind::Delta || kind == KernelKind::Clear ||
         kind == KernelKind::Convert ||
         (kind == KernelKind::BwdDV && main == KernelKind::BwdDQDK);
}

/// Reads the entries of a file of the user. Kernels that only help others may
/// take theirs from the table.
static FailureOr<SmallVector<TableEntry>> readFile(MLIRContext *context,
                                                   const TableKey &wanted,
                                                   StringRef path,
                                                   EmitError emitError) {
  FailureOr<TableFile> file = readTableFile(context, path, emitError);
  if (failed(file)) {
    return failure();
  }
  const FileEntry &last = file->last();
  const TableKey &key = last.key;
  if (helpsOthers(wanted.kind, key.kind) && key.kind != wanted.kind) {
    return searchTable(context, wanted, /*firstRung=*/0, emitError);
  }
  if (!key.servesProblem(wanted)) {
    return emitError() << "expected the entry '@" << last.symbol << "' of '"
                       << path << "' to be for " << wanted.describeProblem()
                       << ", got " << key.describeProblem();
  }
  if (!key.isFor(wanted.machines.front())) {
    return emitError() << "expected the schedule of entry '@" << last.symbol
                       << "' of '" << path << "' to be for machine '"
                       << wanted.machines.front() << "', got '"
                       << llvm::join(key.machines, "' and '") << "'";
  }
  return chooseEntries(*file, wanted);
}

namespace {
/// A file that covers a problem.
struct Candidate {
  bool packed;
  std::pair<int64_t, int64_t> columns;
  int64_t rung;
  size_t masks;
  SmallVector<TableEntry> entries;
};
} // namespace

/// Returns the files of a folder of the table, which the context keeps if the
/// dialect has `TableFiles`; otherwise `own` keeps them.
static FailureOr<ArrayRef<TableFile>>
filesOf(StringRef folder, const TableFiles &own, EmitError emitError) {
  auto *kept = own.getDialect()->getRegisteredInterface<TableFiles>();
  return (kept ? *kept : own).read(folder, emitError);
}

/// Returns the candidates of a folder of the table.
static FailureOr<SmallVector<Candidate>> findCandidates(MLIRContext *context,
                                                        StringRef folder,
                                                        const TableKey &wanted,
                                                        EmitError emitError) {
  TableFiles own(context->getOrLoadDialect<AttnDialect>());
  FailureOr<ArrayRef<TableFile>> files = filesOf(folder, own, emitError);
  if (failed(files)) {
    return failure();
  }
  SmallVector<Candidate> candidates;
  for (const TableFile &file : *files) {
    const TableKey &key = file.last().key;
    if (key.serves(wanted) && hasRoomFor(file, wanted)) {
      auto [columns, masks] = key.cost(wanted);
      candidates.push_back({key.packed, columns, file.last().config.getRung(),
                            masks, chooseEntries(file, wanted)});
    }
  }
  return candidates;
}

/// Returns a line for each entry of the table.
static std::string describeTable(MLIRContext *context, EmitError emitError) {
  TableFiles own(context->getOrLoadDialect<AttnDialect>());
  std::string known;
  for (StringRef folder : {kScheduleFolder, kRungFolder}) {
    FailureOr<ArrayRef<TableFile>> files = filesOf(folder, own, emitError);
    if (failed(files)) {
      break;
    }
    for (const TableFile &file : *files) {
      for (const FileEntry &entry : file.entries) {
        known +=
            llvm::formatv("\n  @{0}: {1}", entry.symbol, entry.key.describe());
      }
    }
  }
  return known;
}

/// Chooses among the candidates that are packed, or among the others, and
/// returns the entries of one. Only candidates with the fewest columns count.
/// Of these it takes the lowest rung from `firstRung` on, and on that rung the
/// candidate for the fewest masks. Returns no entries if there is no such rung.
static SmallVector<TableEntry> chooseRung(ArrayRef<Candidate> all, bool packed,
                                          int64_t firstRung) {
  SmallVector<Candidate> candidates;
  llvm::copy_if(
      all, std::back_inserter(candidates),
      [&](const Candidate &candidate) { return candidate.packed == packed; });
  const Candidate *best = nullptr;
  auto cost = [](const Candidate &candidate) {
    return std::tuple(candidate.rung, candidate.masks);
  };
  auto *narrowest =
      llvm::min_element(candidates, [](const Candidate &a, const Candidate &b) {
        return a.columns < b.columns;
      });
  for (const Candidate &candidate : candidates) {
    if (candidate.columns == narrowest->columns &&
        candidate.rung >= firstRung &&
        (!best || cost(candidate) < cost(*best))) {
      best = &candidate;
    }
  }
  return best ? best->entries : SmallVector<TableEntry>();
}

static FailureOr<SmallVector<TableEntry>> searchTable(MLIRContext *context,
                                                      const TableKey &wanted,
                                                      int64_t firstRung,
                                                      EmitError emitError) {
  SmallVector<TableEntry> entries; // the packed ones first
  // Most problems are compiled on rung 0, without reading the other rungs.
  for (StringRef folder : {kScheduleFolder, kRungFolder}) {
    if (firstRung > 0 && folder == kScheduleFolder) {
      continue;
    }
    auto candidates = findCandidates(context, folder, wanted, emitError);
    if (failed(candidates)) {
      return failure();
    }
    llvm::append_range(entries,
                       chooseRung(*candidates, /*packed=*/true, firstRung));
    auto others = chooseRung(*candidates, /*packed=*/false, firstRung);
    llvm::append_range(entries, others);
    if (!others.empty() || firstRung > 0) {
      return entries;
    }
  }
  return emitError() << "expected a schedule for " << wanted.describe()
                     << " in the table, which has"
                     << describeTable(context, emitError);
}

FailureOr<SmallVector<TableEntry>>
attn::lookupTableEntries(MLIRContext *context, ProblemAttr problem,
                         StringRef target, StringRef scheduleFile,
                         int64_t firstRung, EmitError emitError) {
  if (failed(lookupMachine(context, target, emitError))) {
    return failure();
  }
  TableKey wanted = TableKey::of(problem, target);
  return scheduleFile.empty()
             ? searchTable(context, wanted, firstRung, emitError)
             : readFile(context, wanted, scheduleFile, emitError);
}

/// Whether the table has entries that match `wanted`; reads higher rungs only
/// if the first has none.
static FailureOr<bool> isInTable(MLIRContext *context, const TableKey &wanted,
                                 EmitError emitError) {
  for (StringRef folder : {kScheduleFolder, kRungFolder}) {
    auto candidates = findCandidates(context, folder, wanted, emitError);
    if (failed(candidates)) {
      return failure();
    }
    if (!candidates->empty()) {
      return true;
    }
  }
  return false;
}

FailureOr<bool> attn::hasTableEntry(MLIRContext *context, ProblemAttr problem,
                                    StringRef target, StringRef scheduleFile,
                                    EmitError emitError) {
  if (failed(lookupMachine(context, target, emitError))) {
    return failure();
  }
  TableKey wanted = TableKey::of(problem, target);
  if (scheduleFile.empty()) {
    return isInTable(context, wanted, emitError);
  }
  FailureOr<TableFile> file = readTableFile(context, scheduleFile, emitError);
  if (failed(file)) {
    return failure();
  }
  return file->last().key.servesProblem(wanted);
}
