// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-schedule: attaches a schedule to each kernel, from the table or from a
// file; attn-verify-schedule: checks whether the schedules of kernels are
// legal.
#include "ScheduleModel.h"
#include "attn/dialect/ConsumedKnobs.h"
#include "attn/dialect/Knobs.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_SCHEDULE
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "attn/passes/schedule/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static remark::RemarkOpts remarkOf(StringRef name) {
  return remark::RemarkOpts::name(name).category("attn");
}

/// Names the knobs of the kernel's config that differ from its entry: an error
/// may follow from them.
static void noteEdits(InFlightDiagnostic &error, tile::KernelOp kernel,
                      const TableEntry &entry) {
  for (auto [knob, got, wanted] :
       llvm::zip(ConfigAttr::getKnobs(), kernel.getConfig()->getValues(),
                 entry.config.getValues())) {
    if (got != wanted) {
      const KnobInfo &info = infoOf(knob);
      error.attachNote(kernel.getLoc())
          << "'" << info.name << "' of the kernel's 'config' is "
          << info.spell(got) << ", that of the entry is " << info.spell(wanted)
          << "; --schedule reads an entry with another value";
    }
  }
}

/// Ensures: a config with the size of a section is that of a kernel whose items
/// have sections.
static LogicalResult checkSection(tile::KernelOp kernel) {
  int64_t size = kernel.getConfig()->getSectionMib();
  bool hasSection = false;
  kernel.walk(
      [&](tile::NextWorkOp next) { hasSection |= bool(next.getSection()); });
  if (size == 0 || hasSection) {
    return success();
  }
  return kernel.emitOpError(
             "expected 'section_mib' of its 'config' to be 0, as "
             "its 'tile.next_work' has no 'section', got ")
         << size;
}

/// Checks the schedule of a kernel, and reports its resources. A violation is
/// reported at the table entry of the schedule, if there is one.
static LogicalResult verifyKernel(tile::KernelOp kernel,
                                  const TableEntry *entry,
                                  JudgeOptions options = {}) {
  if (!kernel.getConfig()) {
    return kernel.emitOpError("expected a 'config'");
  }
  if (failed(checkSection(kernel))) {
    return failure();
  }
  ResourcePlan taken;
  auto report = [&] {
    if (!entry) {
      return kernel.emitOpError();
    }
    InFlightDiagnostic error = emitError(entry->loc)
                               << "'" << TableEntryOp::getOperationName()
                               << "' op ";
    error.attachNote(kernel.getLoc()) << "the kernel that it is for";
    noteEdits(error, kernel, *entry);
    return error;
  };
  if (failed(verifySchedule(kernel, *kernel.getConfig(), *kernel.getSchedule(),
                            report, &taken, options))) {
    return failure();
  }
  remark::analysis(kernel.getLoc(), remarkOf("schedule-resources"))
      << llvm::formatv(
             "{0} bytes of shared memory, {1} barriers in memory, {2} "
             "named, {3} registers, {4} of a thread in fragments, {5} "
             "columns of tensor memory",
             taken.end, taken.mbarriers, taken.namedBarriers,
             taken.warps.registers(), taken.fragmentRegisters,
             taken.tmemColumns)
             .str();
  return success();
}

/// Ensures: the tiles, work, cluster and rung for which the schedule's entry
/// was made.
static LogicalResult checkConfig(tile::KernelOp kernel,
                                 const TableEntry &entry) {
  constexpr Knob ofEntry[] = {Knob::TileM, Knob::TileN,    Knob::TileD,
                              Knob::Work,  Knob::CtaGroup, Knob::TileDv,
                              Knob::Rung,  Knob::Cluster};
  for (auto [knob, got, wanted] :
       llvm::zip(ConfigAttr::getKnobs(), kernel.getConfig()->getValues(),
                 entry.config.getValues())) {
    if (got == wanted || !llvm::is_contained(ofEntry, knob)) {
      continue;
    }
    const KnobInfo &info = infoOf(knob);
    return kernel.emitOpError("expected '")
           << info.name << "' of its 'config' to be " << info.spell(wanted)
           << ", as in " << entry.origin << ", got " << info.spell(got)
           << "; --schedule reads an entry with another value";
  }
  return success();
}

namespace {

struct SchedulePass : public attn::impl::ScheduleBase<SchedulePass> {
  using ScheduleBase::ScheduleBase;

  /// Returns the entry with the kernel's condition among those for its problem.
  FailureOr<TableEntry> findEntry(tile::KernelOp kernel) {
    int64_t rung = kernel.getConfig()->getRung();
    auto entries = lookupTableEntries(kernel.getContext(), kernel.getProblem(),
                                      target, scheduleFile, rung,
                                      [&] { return kernel.emitOpError(); });
    if (failed(entries)) {
      return failure();
    }
    ConditionAttr when =
        kernel.getVariant() ? kernel.getVariant()->getWhen() : ConditionAttr();
    auto found = llvm::find_if(
        *entries, [&](const TableEntry &entry) { return entry.when == when; });
    if (found != entries->end()) {
      return *found;
    }
    InFlightDiagnostic error =
        kernel.emitOpError("expected an entry with its condition, ")
        << when << ", got";
    for (const TableEntry &entry : *entries) {
      error << "\n  " << entry.origin;
      if (entry.when) {
        error << " with " << entry.when;
      }
    }
    return error;
  }

  /// Attaches the schedule of the kernel's entry, and checks it.
  LogicalResult attach(tile::KernelOp kernel) {
    if (!kernel.getConfig()) {
      return kernel.emitOpError("expected a 'config'");
    }
    FailureOr<TableEntry> entry = findEntry(kernel);
    if (failed(entry) || failed(checkConfig(kernel, *entry))) {
      return failure();
    }
    kernel.setScheduleAttr(entry->schedule);
    remark::passed(kernel.getLoc(), remarkOf("schedule"))
        << llvm::formatv("'{0}' for '{1}' from {2}",
                         entry->schedule.getName().getValue(), target,
                         entry->origin)
               .str();
    return verifyKernel(kernel, &*entry);
  }

  /// Checks the schedule that the kernel has.
  LogicalResult keep(tile::KernelOp kernel) {
    StringRef machine = kernel.getSchedule()->getMachine().getValue();
    if (machine != target) {
      return kernel.emitOpError("expected its schedule to be for machine '")
             << target << "', got '" << machine << "'";
    }
    remark::passed(kernel.getLoc(), remarkOf("schedule"))
        << llvm::formatv("'{0}' for '{1}' from the kernel",
                         kernel.getSchedule()->getName().getValue(), target)
               .str();
    return verifyKernel(kernel, nullptr);
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      if (failed(kernel.getSchedule() ? keep(kernel) : attach(kernel))) {
        return signalPassFailure();
      }
      recordConsumed(kernel, getArgument());
    }
  }
};

struct VerifySchedulePass
    : public attn::impl::VerifyScheduleBase<VerifySchedulePass> {
  using VerifyScheduleBase::VerifyScheduleBase;

  void runOnOperation() override {
    bool failedAny = false;
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      failedAny |=
          kernel.getSchedule() &&
          failed(verifyKernel(kernel, nullptr, {exhaustive, lowering}));
    }
    if (failedAny) {
      signalPassFailure();
    }
  }
};

} // namespace
