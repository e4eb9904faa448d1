// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-configure: selects the shape of one CTA's work from the schedule table.
#include "RegionWeight.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/ScoreOps.h"
#include "attn/passes/schedule/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "attn/passes/schedule/SizeCover.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_CONFIGURE
#include "attn/passes/schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static LogicalResult checkTile(Operation *op, StringRef name, int64_t size,
                               int64_t unit) {
  if (size < unit || size % unit != 0) {
    return op->emitOpError("expected '")
           << name << "' of 'config' to be a multiple of " << unit << ", got "
           << size;
  }
  return success();
}

/// Checks that the columns of a tile are enough for the head dim.
static LogicalResult checkColumns(Operation *op, StringRef name,
                                  int64_t columns, int64_t headDim) {
  constexpr int64_t granule = 16;
  if (columns == 0 ? headDim % granule != 0 : columns < headDim) {
    return op->emitOpError("expected '")
           << name << "' of 'config' to be a multiple of " << granule
           << " that holds head dim " << headDim << ", got " << columns;
  }
  return success();
}

/// Checks that probabilities between rescalings, up to 2^threshold, fit f16.
static LogicalResult checkThreshold(AttentionOp op, ConfigAttr config) {
  constexpr int64_t most = 15;
  if (op.getQuery().getType().getElementType().isF16() &&
      config.getRescaleThreshold() > most) {
    return op.emitOpError("expected 'rescale_threshold' of 'config' to be at "
                          "most ")
           << most << " for f16, got " << config.getRescaleThreshold();
  }
  return success();
}

/// Ensures: a config whose tiles are valid for MMA instructions.
static LogicalResult verifyConfigured(AttentionOp op) {
  ConfigAttr config = op.getConfigAttr();
  if (!config) {
    return op.emitOpError("expected a 'config'");
  }
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkTile(op, "tile_n", config.getTileN(), 16)) &&
                 succeeded(checkColumns(op, "tile_d", config.getTileD(),
                                        op.getHeadDim())) &&
                 succeeded(checkColumns(op, "tile_dv", config.getTileDv(),
                                        op.getHeadDimV())) &&
                 succeeded(checkThreshold(op, config)));
}

static LogicalResult verifyConfigured(DeltaOp op) {
  ConfigAttr config = op.getConfigAttr();
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkColumns(op, "tile_dv", config.getTileDv(),
                                        op.getHeadDimV())));
}

template <typename Op> static LogicalResult verifyRowsAndColumns(Op op) {
  ConfigAttr config = op.getConfigAttr();
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkColumns(op, "tile_d", config.getTileD(),
                                        op.getHeadDim())));
}

static LogicalResult verifyConfigured(ClearSumsOp op) {
  return verifyRowsAndColumns(op);
}

static LogicalResult verifyConfigured(ConvertSumsOp op) {
  return verifyRowsAndColumns(op);
}

static LogicalResult verifyConfigured(AttentionBwdOp op) {
  ConfigAttr config = op.getConfigAttr();
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkTile(op, "tile_n", config.getTileN(), 16)) &&
                 succeeded(checkColumns(op, "tile_d", config.getTileD(),
                                        op.getHeadDim())) &&
                 succeeded(checkColumns(op, "tile_dv", config.getTileDv(),
                                        op.getHeadDimV())));
}

static LogicalResult verifyConfigured(SumGradientOp op) {
  ConfigAttr config = op.getConfigAttr();
  return success(succeeded(checkTile(op, "tile_m", config.getTileM(), 64)) &&
                 succeeded(checkTile(op, "tile_n", config.getTileN(), 16)));
}

/// Returns a new name for variant `index` of `func`.
static std::string nameVariant(func::FuncOp func, size_t &index) {
  std::string name;
  do {
    name = (func.getName() + "_" + Twine(index++)).str();
  } while (SymbolTable::lookupSymbolIn(func->getParentOp(), name));
  return name;
}

static AttentionOp onlyAttention(func::FuncOp func) {
  auto all = func.getOps<AttentionOp>();
  return llvm::hasSingleElement(all) ? *all.begin() : AttentionOp();
}

/// Copies the function of `op` after itself until there are `count`; returns
/// their attentions.
static FailureOr<SmallVector<AttentionOp>> copyFunction(AttentionOp op,
                                                        size_t count) {
  auto func = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!func || onlyAttention(func) != op) {
    return op.emitOpError("expected to be the only 'attn.attention' of a "
                          "'func.func', which is copied for ")
           << count << " entries";
  }
  SmallVector<AttentionOp> copies{op};
  OpBuilder builder(func->getContext());
  builder.setInsertionPointAfter(func);
  size_t index = 1;
  while (copies.size() < count) {
    std::string name = nameVariant(func, index);
    auto copy = cast<func::FuncOp>(builder.clone(*func));
    copy.setName(name);
    copies.push_back(onlyAttention(copy));
  }
  return copies;
}

/// Returns the entries that some launch with the sizes of `op` reaches.
static SmallVector<TableEntry> dropUnreached(AttentionOp op,
                                             ArrayRef<TableEntry> entries) {
  SizeCover cover(StaticSizes::of(op));
  SmallVector<TableEntry> reached;
  for (const TableEntry &entry : entries) {
    if (cover.take(entry.when)) {
      reached.push_back(entry);
    }
  }
  return reached;
}

/// Returns how many query heads share the rows of a tile in a packed kernel of
/// `op`: those of one head of K and V. Returns nothing if that number is
/// unknown or not allowed for 'pack_gqa', or if the kernel needs the head of
/// each row.
static std::optional<int64_t> headsToPack(AttentionOp op) {
  StaticSizes sizes = StaticSizes::of(op);
  if (!sizes.heads || !sizes.keyHeads || *sizes.keyHeads == 0 ||
      *sizes.heads % *sizes.keyHeads != 0) {
    return std::nullopt;
  }
  int64_t group = *sizes.heads / *sizes.keyHeads;
  bool isPossible =
      group == 1 ||
      (infoOf(Knob::PackGqa).allowed().allows(group) && !op.needsHeadOfItem());
  return isPossible ? std::optional(group) : std::nullopt;
}

/// Whether a packed entry needs more than half of its tile for the most queries
/// that it takes, where `heads` share a position. A tile that its schedule
/// leaves whole always counts as filled.
static bool fillsTile(const TableEntry &entry, int64_t heads) {
  int64_t tile = entry.config.getTileM();
  if (entry.schedule.getSubtiles() == 1 || !entry.when) {
    return true;
  }
  return llvm::any_of(entry.when.getBounds(), [&](BoundAttr bound) {
    return bound.getSize() == LaunchSize::SeqlenQ &&
           bound.getSide() == BoundSide::AtMost &&
           bound.getValue() * AccessMap::rowsOfPosition(heads) > tile / 2;
  });
}

/// Gives packed entries the heads of `op`; drops those that it cannot use, or
/// whose tiles would be half empty.
static FailureOr<SmallVector<TableEntry>>
packEntries(AttentionOp op, ArrayRef<TableEntry> entries) {
  std::optional<int64_t> heads = headsToPack(op);
  SmallVector<TableEntry> usable;
  for (TableEntry entry : entries) {
    if (entry.packed) {
      if (!heads ||
          entry.config.getTileM() % AccessMap::rowsOfPosition(*heads) != 0 ||
          !fillsTile(entry, *heads)) {
        continue;
      }
      entry.config = withKnob(entry.config, Knob::PackGqa, *heads);
    }
    usable.push_back(entry);
  }
  if (usable.empty() && !entries.empty()) {
    return op.emitOpError("expected static heads in a ratio that 'pack_gqa' "
                          "may have, and no regions, dropout or sinks, for the "
                          "packed entries of '")
           << entries.front().file << "'";
  }
  return usable;
}

/// Sums the keys in a block over the kernels.
static int64_t countKeys(ArrayRef<TableEntry> entries) {
  int64_t keys = 0;
  for (const TableEntry &entry : entries) {
    keys += entry.config.getTileN();
  }
  return keys;
}

template <typename Op> static LogicalResult finish(Op op, StringRef origin) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op.getConfigAttr();
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("configure").category("attn"))
      << remark::metric("Config", text) << remark::metric("From", origin);
  return verifyConfigured(op);
}

namespace {
struct ConfigurePass : public attn::impl::ConfigureBase<ConfigurePass> {
  using ConfigureBase::ConfigureBase;

  LogicalResult configure(AttentionOp op) {
    if (op.getConfig()) {
      return finish(op, "the op");
    }
    auto entries = findEntries(op);
    if (failed(entries)) {
      return failure();
    }
    if (entries->size() == 1 && !entries->front().when) {
      op.setConfigAttr(entries->front().config);
      return finish(op, entries->front().origin);
    }
    return attachVariants(op, *entries);
  }

  FailureOr<SmallVector<TableEntry>> lookup(AttentionOp op, int64_t firstRung) {
    auto found = lookupTableEntries(op.getContext(), op.getProblem(), target,
                                    scheduleFile, firstRung,
                                    [&] { return op.emitOpError(); });
    if (failed(found)) {
      return failure();
    }
    auto packed = packEntries(op, *found);
    if (failed(packed)) {
      return failure();
    }
    return dropUnreached(op, *packed);
  }

  /// Returns the rung that the look-up for an op of a backward pass begins
  /// with.
  FailureOr<int64_t> lowestRungOf(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    for (StringRef each : rungs) {
      auto [kernel, number] = each.rsplit('=');
      int64_t value = 0;
      if (number.getAsInteger(10, value) || value < 0) {
        return op->emitOpError(
                   "expected each of 'rungs' to be KERNEL=RUNG, got '")
               << each << "'";
      }
      if (function && function.getSymName() == kernel) {
        return value;
      }
    }
    return rung.getValue();
  }

  /// Whether an entry adds shares of dQ as attn-split-backward has written.
  static bool fits(AttentionBwdOp op, const TableEntry &entry) {
    ConfigAttr config = entry.config;
    int64_t transposed = transposesShares(config) ? config.getTileN() : 0;
    bool mayStore = config.getFirstShare() == FirstShare::Stored &&
                    config.getTileN() == op.getShareQueries();
    return !op.makesSums() || (op.getTransposed().value_or(0) == transposed &&
                               (mayStore || !op.getNewSums()));
  }
  template <typename Op> static bool fits(Op, const TableEntry &) {
    return true;
  }

  /// Returns the config for the op. Of those that add in turns, only the ones
  /// without zeros before store first shares; elsewhere nothing may ask for it.
  static ConfigAttr configFor(AttentionBwdOp op, const TableEntry &entry) {
    return op.getNewSums() || !op.getTurns()
               ? entry.config
               : withKnob(entry.config, Knob::FirstShare,
                          int64_t(FirstShare::Added));
  }
  template <typename Op>
  static ConfigAttr configFor(Op, const TableEntry &entry) {
    return entry.config;
  }

  /// Gives an op of a backward pass the config of its only entry.
  template <typename Op> LogicalResult configure(Op op) {
    if (op.getConfig()) {
      return finish(op, "the op");
    }
    FailureOr<int64_t> lowest = lowestRungOf(op);
    if (failed(lowest)) {
      return failure();
    }
    FailureOr<SmallVector<TableEntry>> entries;
    for (int64_t first = *lowest; first >= 0; --first) {
      entries = lookupTableEntries(op.getContext(), op.getProblem(), target,
                                   scheduleFile, first,
                                   [&] { return op.emitOpError(); });
      if (failed(entries)) {
        return failure();
      }
      if (!entries->empty() && fits(op, entries->front())) {
        break;
      }
    }
    if (entries->size() != 1 || entries->front().when) {
      return op.emitOpError("expected one entry without a condition, got ")
             << entries->size() << " entries";
    }
    op.setConfigAttr(configFor(op, entries->front()));
    return finish(op, entries->front().origin);
  }

  static unsigned weightOf(StringRef op) { return lookUpScoreOp(op)->weight; }

  /// Returns the entries of the lowest rung on which the regions compile in
  /// time.
  FailureOr<SmallVector<TableEntry>> findEntries(AttentionOp op) {
    auto entries = lookup(op, rung);
    if (!scheduleFile.empty()) {
      return entries;
    }
    int64_t weight = weighRegions(op), most = 0;
    while (succeeded(entries) && !entries->empty()) {
      int64_t keys = countKeys(*entries);
      if (weight * keys <= kMostRegionCode) {
        return entries;
      }
      most = kMostRegionCode / keys;
      entries = lookup(op, entries->front().config.getRung() + 1);
    }
    if (failed(entries)) {
      return failure();
    }
    if (most == 0) {
      return op.emitOpError(
                 "expected a rung of the ladder for its problem, got ")
             << rung.getValue();
    }
    return op.emitOpError(
               "expected the score and mask regions to weigh at most ")
           << most << " (an addition " << weightOf("arith.addf") << ", a tanh "
           << weightOf("math.tanh") << ", an element that is read "
           << weightOf("tensor.extract") << "), got " << weight;
  }

  LogicalResult attachVariants(AttentionOp op, ArrayRef<TableEntry> entries) {
    auto copies = copyFunction(op, entries.size());
    if (failed(copies)) {
      return failure();
    }
    StringAttr group = cast<func::FuncOp>(op->getParentOp()).getSymNameAttr();
    for (auto [copy, entry] : llvm::zip(*copies, entries)) {
      copy.setConfigAttr(entry.config);
      copy.setVariantAttr(VariantAttr::get(op.getContext(), group, entry.when));
      if (failed(finish(copy, entry.origin))) {
        return failure();
      }
    }
    return success();
  }

  void runOnOperation() override {
    SmallVector<AttentionOp> attentions;
    getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
    bool isWrong = llvm::any_of(
        attentions, [&](AttentionOp op) { return failed(configure(op)); });
    getOperation().walk([&](Operation *op) {
      isWrong |= TypeSwitch<Operation *, bool>(op)
                     .Case<DeltaOp, AttentionBwdOp, SumGradientOp, ClearSumsOp,
                           ConvertSumsOp>(
                         [&](auto each) { return failed(configure(each)); })
                     .Default(false);
    });
    if (isWrong) {
      signalPassFailure();
    }
  }
};
} // namespace
