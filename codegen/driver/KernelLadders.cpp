// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelLadders.h"
#include "Loss.h"
#include "ResourceReport.h"
#include "attn/dialect/Attn.h"
#include "attn/dialect/Launch.h"
#include "attn/support/Decision.h"

using namespace mlir;
using namespace attn;

namespace {

/// A kernel of an attempt.
struct CompiledKernel {
  std::string name;
  int64_t rung, spilledBytes;
};

struct Attempt {
  OwningOpRef<ModuleOp> module;
  Loss loss;
};

} // namespace

static bool asksForGradients(func::FuncOp function) {
  return llvm::any_of(
      llvm::seq(function.getNumArguments()), [&](unsigned number) {
        return function.getArgAttr(number, kGradientAttr) != nullptr;
      });
}

bool attn::makesSeveralKernels(ModuleOp module) {
  int64_t ops = 0;
  bool choose = true, ofGradients = false;
  module.walk([&](Operation *inner) {
    TypeSwitch<Operation *>(inner)
        .Case<AttentionOp, DeltaOp, AttentionBwdOp, SumGradientOp, ClearSumsOp,
              ConvertSumsOp>([&](auto op) {
          ++ops;
          choose &= !op.getConfig();
          ofGradients |= isa<AttentionBwdOp>(op);
          auto function = op->template getParentOfType<func::FuncOp>();
          ofGradients |= function && asksForGradients(function);
        });
  });
  return choose && (ops > 1 || ofGradients);
}

static SmallVector<CompiledKernel> kernelsOf(ModuleOp module) {
  SmallVector<CompiledKernel> kernels;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    auto plan = launch::PlanOp::of(binary);
    if (!plan) {
      continue;
    }
    plan.walk([&](launch::KernelOp kernel) {
      DictionaryAttr report = findAssembly(binary, kernel.getKernel());
      kernels.push_back({kernel.getKernel().str(),
                         kernel.getReport() ? kernel.getReport()->getRung() : 0,
                         report ? countSpilledBytes(report) : 0});
    });
  }
  return kernels;
}

/// Moves the kernels with a loss to their next rung, if they have one. Returns
/// false if none moves. The assembler does not name the kernel of a serialized
/// instruction, so it counts for all.
static bool moveUp(ArrayRef<CompiledKernel> kernels, const Loss &loss,
                   KernelRungs &rungs) {
  bool moved = false;
  for (const CompiledKernel &kernel : kernels) {
    auto known = rungs.find(kernel.name);
    bool isLast = known != rungs.end() && kernel.rung < known->second;
    if (!isLast && (kernel.spilledBytes != 0 || loss.serialized != 0)) {
      rungs[kernel.name] = kernel.rung + 1;
      moved = true;
    }
  }
  return moved;
}

static std::string describeRungs(ModuleOp module) {
  std::string text;
  for (const CompiledKernel &kernel : kernelsOf(module)) {
    text += llvm::formatv("{0}'{1}' on rung {2}", text.empty() ? "" : ", ",
                          kernel.name, kernel.rung);
  }
  return text;
}

LogicalResult attn::climbEach(ModuleOp module, const CompileOptions &options,
                              CompileRung compileRung) {
  CompileOptions plain = options;
  plain.instrument = false;
  plain.losses = codegen::Losses::Accept;
  std::optional<Attempt> best;
  KernelRungs taken;
  for (bool goesOn = true; goesOn;) {
    Attempt attempt{module.clone(), {}};
    if (failed(compileRung(*attempt.module, plain))) {
      return failure();
    }
    attempt.loss = Loss::of(*attempt.module);
    Loss loss = attempt.loss;
    auto kernels = kernelsOf(*attempt.module);
    if (!best || loss < best->loss) {
      best = std::move(attempt);
      taken = plain.rungs;
    }
    goesOn = loss.any() && moveUp(kernels, loss, plain.rungs);
    if (goesOn) {
      remark::missed(module.getLoc(), decisionOf("ladder"))
          << "a launch has " + loss.describe() + ": higher rungs are tried";
    }
  }
  if (!plain.rungs.empty()) {
    decided(module.getLoc(), "ladder") << describeRungs(*best->module);
  }
  if (options.instrument) {
    // The rungs are those of kernels without stamps.
    CompileOptions stamped = options;
    stamped.rungs = taken;
    return compileRung(module, stamped);
  }
  module.getBodyRegion().takeBody(best->module->getBodyRegion());
  module->setDiscardableAttrs((*best->module)->getDiscardableAttrDictionary());
  return success();
}
