// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/driver/Variants.h"
#include "BundleBytes.h"
#include "attn/codegen/emit/PlanWriter.h"
#include "attn/dialect/Attn.h"
#include "attn/dialect/Launch.h"
#include "attn/dialect/Ws.h"

using namespace mlir;
using namespace attn;

/// Whether a kernel is what the schedule table was tested with.
static bool isPlain(ws::KernelOp kernel) {
  ProblemAttr problem = kernel.getProblem();
  auto adds = [&](ArgumentRole role) {
    return !kernel.getArgs().all(role).empty();
  };
  return problem.getKind() == KernelKind::Fwd &&
         problem.getScoreRegion() == attn::RegionKind::Absent &&
         problem.getMaskRegion() == attn::RegionKind::Absent &&
         !adds(ArgumentRole::Capture) && !adds(ArgumentRole::DropoutRate) &&
         !adds(ArgumentRole::Sinks);
}

bool attn::areSeparable(ModuleOp module) {
  SmallVector<ws::KernelOp> kernels(module.getOps<ws::KernelOp>());
  if (kernels.size() < 2 || !module.getOps<launch::SequenceOp>().empty()) {
    return false;
  }
  return llvm::all_of(kernels, [&](ws::KernelOp kernel) {
    return kernel.getVariant() && kernels.front().getVariant() &&
           kernel.getVariant()->getGroup() ==
               kernels.front().getVariant()->getGroup() &&
           isPlain(kernel);
  });
}

/// Returns the only module of kernels, which has a plan.
static FailureOr<gpu::GPUModuleOp> findKernels(ModuleOp module) {
  auto all = module.getOps<gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(all) || !launch::PlanOp::of(*all.begin())) {
    return module.emitError("expected one module of kernels with a plan, got ")
           << std::distance(all.begin(), all.end()) << " modules";
  }
  return *all.begin();
}

/// Without what the assembler says of kernels, which are not there.
static std::string writeBarePlan(launch::PlanOp plan) {
  return codegen::writePlan(plan, [](StringRef) { return DictionaryAttr(); });
}

FailureOr<std::string> attn::planOf(ModuleOp module) {
  FailureOr<gpu::GPUModuleOp> kernels = findKernels(module);
  if (failed(kernels)) {
    return failure();
  }
  return writeBarePlan(launch::PlanOp::of(*kernels)) + "\n";
}

FailureOr<std::string> attn::planBundleOf(ModuleOp module) {
  FailureOr<gpu::GPUModuleOp> kernels = findKernels(module);
  if (failed(kernels)) {
    return failure();
  }
  return bundleBytes(writeBarePlan(launch::PlanOp::of(*kernels)), nullptr);
}

/// Erases the kernels that are not launched by `variant`.
static void keepKernels(gpu::GPUModuleOp module, launch::VariantOp variant) {
  auto isKept = [&](StringRef name) {
    return llvm::any_of(variant.getKernels(), [&](launch::KernelOp kernel) {
      return kernel.getKernel() == name;
    });
  };
  for (auto function :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
        !isKept(function.getName())) {
      function.erase();
    }
  }
  SymbolTableCollection tables;
  SymbolUserMap users(tables, module);
  for (auto global :
       llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>())) {
    if (users.useEmpty(global)) {
      global.erase();
    }
  }
}

FailureOr<std::string> attn::compileVariant(ModuleOp module,
                                            const CompileOptions &options,
                                            Stage last, size_t index) {
  FailureOr<gpu::GPUModuleOp> kernels = findKernels(module);
  if (failed(kernels)) {
    return failure();
  }
  auto plan = launch::PlanOp::of(*kernels);
  auto variants = plan.getVariants();
  if (index >= variants.size()) {
    return plan.emitOpError("expected the index of a variant to be below ")
           << variants.size() << ", got " << index;
  }
  std::string text = writeBarePlan(plan);
  keepKernels(*kernels, variants[index]);
  plan.erase(); // it names kernels that are gone
  CompileOptions alone = options;
  alone.losses = codegen::Losses::Warn;
  if (failed(runStages(module, alone, Stage::Llvm, last))) {
    return failure();
  }
  auto binaries = module.getOps<gpu::BinaryOp>();
  return bundleBytes(std::move(text), *binaries.begin());
}
