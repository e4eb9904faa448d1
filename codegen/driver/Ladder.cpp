// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladder of the schedule table: if the assembler spills registers of a
// kernel, the problem is compiled again with the entries of the next rung.
#include "KernelLadders.h"
#include "Loss.h"
#include "ResourceReport.h"
#include "attn/codegen/driver/Compiler.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "attn/support/Decision.h"

using namespace mlir;
using namespace attn;

namespace {

/// A module that was compiled on one rung.
struct Attempt {
  OwningOpRef<ModuleOp> module;
  int64_t rung;
  Loss loss;
};

} // namespace

namespace {
/// An op whose schedule the table chooses.
struct Unscheduled {
  Operation *op = nullptr;
  ProblemAttr problem;
};
} // namespace

/// Returns the only op of `module` that becomes a kernel if the table chooses
/// its schedule, or none.
static Unscheduled findUnscheduled(ModuleOp module,
                                   const CompileOptions &options) {
  SmallVector<Unscheduled> all;
  bool choose = options.scheduleFile.empty();
  module.walk([&](Operation *inner) {
    TypeSwitch<Operation *>(inner)
        .Case<AttentionOp, DeltaOp, AttentionBwdOp, SumGradientOp, ClearSumsOp,
              ConvertSumsOp>([&](auto op) {
          all.push_back({op, op.getProblem()});
          choose &= !op.getConfig();
        });
  });
  choose &= all.size() == 1 && !makesSeveralKernels(module);
  return choose ? all.front() : Unscheduled();
}

static FailureOr<bool> hasRung(const Unscheduled &of, int64_t rung,
                               const CompileOptions &options) {
  auto entries = lookupTableEntries(of.op->getContext(), of.problem,
                                    options.target, /*scheduleFile=*/"", rung,
                                    [&] { return of.op->emitOpError(); });
  if (failed(entries)) {
    return failure();
  }
  return !entries->empty();
}

static int64_t rungOf(ModuleOp module) {
  auto binaries = module.getOps<gpu::BinaryOp>();
  return binaries.empty() ? 0 : attn::rungOf(*binaries.begin());
}

/// Reports the rung that was used, unless it is the first one tried.
static void explain(Operation *op, const Attempt &taken, int64_t attempts) {
  if (taken.loss.any()) {
    remark::missed(op->getLoc(), decisionOf("ladder"))
        << llvm::formatv("rung {0} is taken with {1}, the fewest of {2} rungs",
                         taken.rung, taken.loss.describe(), attempts)
               .str();
  } else if (attempts > 1) {
    decided(op->getLoc(), "ladder")
        << llvm::formatv("rung {0} is taken", taken.rung).str();
  }
}

/// Compiles copies of `module` on one rung after another; returns the first
/// without losses, or the one with the fewest.
static FailureOr<Attempt> findRung(ModuleOp module, const Unscheduled &of,
                                   CompileOptions options,
                                   CompileRung compileRung) {
  options.losses = codegen::Losses::Accept;
  std::optional<Attempt> best;
  for (int64_t attempts = 1;; ++attempts) {
    Attempt attempt{module.clone(), 0, {}};
    if (failed(compileRung(*attempt.module, options))) {
      return failure();
    }
    attempt.rung = rungOf(*attempt.module);
    attempt.loss = Loss::of(*attempt.module);
    options.rung = attempt.rung + 1;
    std::string loss = attempt.loss.describe();
    bool lost = attempt.loss.any();
    int64_t rung = attempt.rung;
    if (!best || attempt.loss < best->loss) {
      best = std::move(attempt);
    }
    FailureOr<bool> more = lost ? hasRung(of, options.rung, options) : false;
    if (failed(more)) {
      return failure();
    }
    if (!*more) {
      explain(of.op, *best, attempts);
      return std::move(*best);
    }
    remark::missed(of.op->getLoc(), decisionOf("ladder"))
        << llvm::formatv("rung {0} has {1}: the next is tried", rung, loss)
               .str();
  }
}

LogicalResult attn::climb(ModuleOp module, const CompileOptions &options,
                          CompileRung compileRung) {
  if (options.losses != codegen::Losses::Refuse) {
    return compileRung(module, options);
  }
  if (makesSeveralKernels(module) && options.scheduleFile.empty()) {
    return climbEach(module, options, compileRung);
  }
  Unscheduled of = findUnscheduled(module, options);
  if (!of.op) {
    return compileRung(module, options);
  }
  CompileOptions plain = options;
  plain.instrument = false;
  FailureOr<Attempt> found = findRung(module, of, plain, compileRung);
  if (failed(found)) {
    return failure();
  }
  if (options.instrument) {
    // Stamps need registers too, but the rung is that of the kernel without
    // them.
    CompileOptions stamped = options;
    stamped.rung = found->rung;
    return compileRung(module, stamped);
  }
  module.getBodyRegion().takeBody(found->module->getBodyRegion());
  module->setDiscardableAttrs((*found->module)->getDiscardableAttrDictionary());
  return success();
}
