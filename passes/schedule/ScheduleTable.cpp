// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/ScheduleTable.h"
#include "attn/dialect/Attn.h"
#include "attn/dialect/Masks.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/EmbeddedData.h"
#include "attn/passes/schedule/SizeCover.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace attn;

using EmitError = function_ref<InFlightDiagnostic()>;

namespace {

/// The key of an entry, or of a lookup, in words.
struct Key {
  KernelKind kind;
  int64_t headDim, headDimV;
  TableMasks masks;
  SmallVector<std::string> dtypes;
  SmallVector<StringRef> machines;
  bool exact = false;  // of an entry: only for its own head dims
  bool packed = false; // of an entry: for problems whose heads it packs
  bool plain = false;  // of a look-up: no function, no bounds of a window

  /// Returns the masks that an entry has to serve. `row_keys` with an end count
  /// as a causal mask, and those with a first key as a window. If all rows see
  /// the same keys, all sub-tiles run the same blocks, as without a mask.
  static TableMasks masksOf(ProblemAttr problem) {
    StringRef served = builtInMask(problem.getMask()).served;
    RowKeys sides = problem.getRowKeys();
    if (bitEnumContainsAll(sides, RowKeys::Alike)) {
      sides = RowKeys::None;
    }
    TableMasks masks = TableMasks::Nothing;
    if (bitEnumContainsAll(sides, RowKeys::End)) {
      masks |= TableMasks::CausalTopLeft;
    } else if (sides == RowKeys::None && !served.empty()) {
      masks |= *symbolizeTableMasks(served);
    }
    if (problem.getBounds() != MaskBounds::None ||
        bitEnumContainsAll(sides, RowKeys::First)) {
      masks |= TableMasks::Window;
    }
    return masks;
  }
  static Key of(ProblemAttr problem, StringRef target) {
    Key key{problem.getKind(),
            problem.getHeadDim(),
            problem.getHeadDimV(),
            TableMasks::Nothing,
            {nameOf(problem.getDtype())},
            {target}};
    key.masks = masksOf(problem);
    auto region = std::max(problem.getMaskRegion(), problem.getScoreRegion());
    key.plain = region == attn::RegionKind::Absent &&
                problem.getBounds() == MaskBounds::None &&
                problem.getRowKeys() == RowKeys::None;
    // Reading elements at positions needs registers for addresses.
    if (region == attn::RegionKind::Gathering) {
      key.masks |= TableMasks::Gathers;
    }
    return key;
  }
  static Key of(TableEntryOp entry) {
    Key key{entry.getKind(),
            int64_t(entry.getHeadDim()),
            int64_t(entry.getHeadDimV()),
            entry.getMasks(),
            {"bf16", "f16"},
            {entry.getSchedule().getMachine().getValue()},
            entry.getExact(),
            entry.getPacked()};
    if (ArrayAttr machines = entry.getMachinesAttr()) {
      llvm::append_range(key.machines, machines.getAsValueRange<StringAttr>());
    }
    if (ArrayAttr dtypes = entry.getDtypesAttr()) {
      key.dtypes.clear();
      for (Type dtype : dtypes.getAsValueRange<TypeAttr>()) {
        key.dtypes.push_back(nameOf(dtype));
      }
    }
    return key;
  }

  static std::string nameOf(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// Whether an entry with this key is for the problem and machine `wanted`.
  bool serves(const Key &wanted) const {
    return servesProblem(wanted) && isFor(wanted.machines.front());
  }
  bool isFor(StringRef machine) const {
    return llvm::is_contained(machines, machine);
  }
  /// Whether entries with these keys may be in one file.
  bool isComparable(const Key &other) const {
    return kind == other.kind && headDim == other.headDim &&
           headDimV == other.headDimV && machines == other.machines &&
           exact == other.exact && packed == other.packed;
  }
  /// Whether an entry for head dim `native` (-1: any) serves `wanted`. If a
  /// tile is wider than the head dim, its last columns are zero.
  bool servesHeadDim(int64_t native, int64_t wanted) const {
    return native == -1 || (exact ? native == wanted : native >= wanted);
  }
  bool servesProblem(const Key &wanted) const {
    return kind == wanted.kind && servesHeadDim(headDim, wanted.headDim) &&
           servesHeadDim(headDimV, wanted.headDimV) &&
           bitEnumContainsAll(masks, wanted.masks) &&
           llvm::all_of(wanted.dtypes, [&](const std::string &dtype) {
             return llvm::is_contained(dtypes, dtype);
           });
  }
  /// Returns the columns of the tile for a head dim, as matrix instructions
  /// need them.
  static int64_t columnsFor(int64_t native, int64_t headDim) {
    constexpr int64_t granule = 16;
    return native == -1 ? llvm::alignTo(headDim, granule) : native;
  }
  /// Returns how far an entry with this key is from one made only for `wanted`:
  /// the columns that it computes, then the masks that it covers.
  std::pair<int64_t, size_t> cost(const Key &wanted) const {
    return {columnsFor(headDim, wanted.headDim) +
                columnsFor(headDimV, wanted.headDimV),
            size_t(llvm::popcount(uint32_t(masks)))};
  }
  std::string describeProblem() const {
    return llvm::formatv("{0}, {1}, head dims {2}{3} and {4}{5}, mask '{6}'",
                         stringifyKernelKind(kind), llvm::join(dtypes, " or "),
                         exact ? "exactly " : "", headDim, headDimV,
                         packed ? ", packed heads" : "",
                         llvm::join(tableMaskWords(masks), "' and '"));
  }
  std::string describe() const {
    return llvm::formatv("{0}, on '{1}'", describeProblem(),
                         llvm::join(machines, "' and '"));
  }
};

} // namespace

/// Returns the entries of a schedule file, in order.
static SmallVector<TableEntryOp> entriesOf(ModuleOp module) {
  return llvm::to_vector(module.getOps<TableEntryOp>());
}

// C1, C3 and C6
static LogicalResult verifyBelongs(TableEntryOp entry, TableEntryOp last) {
  Key key = Key::of(entry), common = Key::of(last);
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
    if (Key::of(other).servesProblem(Key::of(entry)) &&
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

static LogicalResult verifyFile(ModuleOp module, StringRef path,
                                EmitError emitError) {
  if (!module) {
    return emitError() << "expected schedule file '" << path
                       << "' to be valid IR, got a file that does not parse";
  }
  SmallVector<TableEntryOp> entries = entriesOf(module);
  if (entries.empty()) {
    return emitError() << "expected an attn.table_entry in '" << path
                       << "', got none";
  }
  if (failed(verifyEntries(entries))) {
    return emitError() << "expected the entries of schedule file '" << path
                       << "' to be legal";
  }
  return success();
}

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
static ConfigAttr configFor(ConfigAttr config, const Key &key,
                            const Key &wanted) {
  auto columns = [](int64_t stated, int64_t native, int64_t headDim) {
    int64_t all = stated != 0 ? stated : Key::columnsFor(native, headDim);
    return all == headDim ? 0 : all;
  };
  int64_t d = columns(config.getTileD(), key.headDim, wanted.headDim);
  int64_t dv = columns(config.getTileDv(), key.headDimV, wanted.headDimV);
  return withKnob(withKnob(config, Knob::TileD, d), Knob::TileDv, dv);
}

bool attn::transposesShares(ConfigAttr config) {
  return config.getTileN() % kRowsOfSums != 0;
}

static TableEntry makeEntry(TableEntryOp op, const Key &wanted,
                            StringRef path) {
  return {path.str(),
          op.getSymName().str(),
          llvm::formatv("entry '@{0}' of '{1}'", op.getSymName(), path),
          op.getWhenAttr(),
          op.getPacked(),
          configFor(op.getConfig(), Key::of(op), wanted),
          op.getSchedule().forMachine(wanted.machines.front()),
          op.getLoc()};
}

/// Whether launches choose among entries that are not packed by their rows or
/// queries, too. Functions are compiled for longer, so only plain problems use
/// such a file: all of its entries are compiled.
static bool choosesByQueries(ArrayRef<TableEntryOp> entries) {
  return llvm::any_of(entries, [](TableEntryOp entry) {
    ConditionAttr when = entry.getWhenAttr();
    return when && !entry.getPacked() &&
           llvm::any_of(when.getBounds(), [](BoundAttr bound) {
             return bound.getSize() != LaunchSize::SeqlenK;
           });
  });
}

/// Whether a file has transposed shares of dQ: only then a kernel that adds
/// them has registers for more queries, and none for a function.
static bool hasTransposedShares(ArrayRef<TableEntryOp> entries) {
  TableEntryOp last = entries.back();
  return last.getKind() == KernelKind::Bwd &&
         transposesShares(last.getConfig());
}

/// Returns the entries of a file that cover `wanted`.
static SmallVector<TableEntry> chooseEntries(ModuleOp module, const Key &wanted,
                                             StringRef path) {
  SmallVector<TableEntry> chosen;
  for (TableEntryOp entry : entriesOf(module)) {
    if (Key::of(entry).serves(wanted)) {
      chosen.push_back(makeEntry(entry, wanted, path));
    }
  }
  return chosen;
}

static FailureOr<OwningOpRef<ModuleOp>>
parseFile(MLIRContext *context, StringRef path, EmitError emitError) {
  if (!llvm::sys::fs::exists(path)) {
    return emitError() << "expected schedule file '" << path
                       << "' to exist, got no such file";
  }
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(path, ParserConfig(context));
  if (failed(verifyFile(module.get(), path, emitError))) {
    return failure();
  }
  return module;
}

static FailureOr<SmallVector<TableEntry>> searchTable(MLIRContext *context,
                                                      const Key &wanted,
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
                                                   const Key &wanted,
                                                   StringRef path,
                                                   EmitError emitError) {
  FailureOr<OwningOpRef<ModuleOp>> parsed = parseFile(context, path, emitError);
  if (failed(parsed)) {
    return failure();
  }
  ModuleOp module = parsed->get();
  TableEntryOp last = entriesOf(module).back();
  Key key = Key::of(last);
  if (helpsOthers(wanted.kind, key.kind) && key.kind != wanted.kind) {
    return searchTable(context, wanted, /*firstRung=*/0, emitError);
  }
  if (!key.servesProblem(wanted)) {
    return emitError() << "expected the entry '@" << last.getSymName()
                       << "' of '" << path << "' to be for "
                       << wanted.describeProblem() << ", got "
                       << key.describeProblem();
  }
  if (!key.isFor(wanted.machines.front())) {
    return emitError() << "expected the schedule of entry '@"
                       << last.getSymName() << "' of '" << path
                       << "' to be for machine '" << wanted.machines.front()
                       << "', got '" << llvm::join(key.machines, "' and '")
                       << "'";
  }
  return chooseEntries(module, wanted, path);
}

namespace {
/// A file that covers a problem.
struct Candidate {
  bool packed;
  int64_t columns, rung;
  size_t masks;
  SmallVector<TableEntry> entries;
};
} // namespace

/// Returns the candidates of a folder of the table; `known` gets a line for
/// each entry there.
static FailureOr<SmallVector<Candidate>>
findCandidates(MLIRContext *context, StringRef folder, const Key &wanted,
               std::string &known, EmitError emitError) {
  SmallVector<Candidate> candidates;
  for (const EmbeddedFile &file : listEmbeddedFiles(folder)) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        file.text, ParserConfig(context), file.path);
    if (failed(verifyFile(module.get(), file.path, emitError))) {
      return failure();
    }
    for (TableEntryOp entry : entriesOf(*module)) {
      known += llvm::formatv("\n  @{0}: {1}", entry.getSymName(),
                             Key::of(entry).describe());
    }
    SmallVector<TableEntryOp> entries = entriesOf(*module);
    TableEntryOp last = entries.back();
    Key key = Key::of(last);
    bool isForPlain = choosesByQueries(entries) || hasTransposedShares(entries);
    if (key.serves(wanted) && (wanted.plain || !isForPlain)) {
      auto [columns, masks] = key.cost(wanted);
      candidates.push_back({key.packed, columns, last.getConfig().getRung(),
                            masks, chooseEntries(*module, wanted, file.path)});
    }
  }
  return candidates;
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
                                                      const Key &wanted,
                                                      int64_t firstRung,
                                                      EmitError emitError) {
  std::string known;
  SmallVector<TableEntry> entries; // the packed ones first
  // Most problems are compiled on rung 0, without reading the other rungs.
  for (StringRef folder : {kScheduleFolder, kRungFolder}) {
    if (firstRung > 0 && folder == kScheduleFolder) {
      continue;
    }
    auto candidates = findCandidates(context, folder, wanted, known, emitError);
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
                     << " in the table, which has" << known;
}

FailureOr<SmallVector<TableEntry>>
attn::lookupTableEntries(MLIRContext *context, ProblemAttr problem,
                         StringRef target, StringRef scheduleFile,
                         int64_t firstRung, EmitError emitError) {
  if (failed(lookupMachine(context, target, emitError))) {
    return failure();
  }
  Key wanted = Key::of(problem, target);
  return scheduleFile.empty()
             ? searchTable(context, wanted, firstRung, emitError)
             : readFile(context, wanted, scheduleFile, emitError);
}

/// Whether the table has entries that match `wanted`; reads higher rungs only
/// if the first has none.
static FailureOr<bool> isInTable(MLIRContext *context, const Key &wanted,
                                 EmitError emitError) {
  std::string known;
  for (StringRef folder : {kScheduleFolder, kRungFolder}) {
    auto candidates = findCandidates(context, folder, wanted, known, emitError);
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
  Key wanted = Key::of(problem, target);
  if (scheduleFile.empty()) {
    return isInTable(context, wanted, emitError);
  }
  FailureOr<OwningOpRef<ModuleOp>> parsed =
      parseFile(context, scheduleFile, emitError);
  if (failed(parsed)) {
    return failure();
  }
  return Key::of(entriesOf(parsed->get()).back()).servesProblem(wanted);
}
