// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixed list of LLVM passes. The instructions are already in the order of
// the schedule: no pass here may change it.
#include "LLVMPipeline.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace {

/// Assembly may synchronize threads: no pass may make it depend on additional
/// conditions.
void markAssemblyConvergent(Module &module) {
  for (Function &function : module) {
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (call && call->isInlineAsm()) {
        call->setConvergent();
      }
    }
  }
}

/// Asks the assembler not to unroll: `.pragma "nounroll"` at each loop.
struct ForbidUnrollingPass : PassInfoMixin<ForbidUnrollingPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &manager) {
    for (Loop *loop :
         manager.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
      loop->setLoopAlreadyUnrolled();
    }
    return PreservedAnalyses::all();
  }
};

/// The backend's passes that move instructions between blocks, or create new
/// ones for loops and addresses. The names are those of 22.1; unknown ones are
/// ignored.
constexpr StringLiteral kReordering[] = {
    "Canonicalize Freeze Instructions in Loops",
    "Loop Strength Reduction",
    "Speculatively execute instructions",
    "consthoist",
    "early-tailduplication",
    "gvn",
    "machine-sink",
    "nary-reassociate",
    "slsr"};

/// Disables them.
struct ReorderingGate : OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return !is_contained(kReordering, pass);
  }
};

FunctionPassManager makePasses() {
  FunctionPassManager passes;
  // First folds vectors that are joined only to be taken apart: the
  // scalarizer's time grows with the square of a vector's size.
  passes.addPass(InstSimplifyPass());
  passes.addPass(ScalarizerPass());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  // Not InstCombine: it sinks instructions past the waits.
  passes.addPass(InstSimplifyPass());
  // Branches stay branches and selects stay selects: earlier passes chose them.
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()
                                     .speculateBlocks(false)
                                     .hoistCommonInsts(false)
                                     .sinkCommonInsts(false)
                                     .convertSwitchToLookupTable(false)));
  passes.addPass(EarlyCSEPass());
  passes.addPass(ADCEPass());
  passes.addPass(ForbidUnrollingPass());
  return passes;
}

/// Registers the analyses that those passes need. LLVM's PassBuilder would
/// register all analyses, and so link every pass of LLVM.
void registerAnalyses(FunctionAnalysisManager &manager,
                      TargetMachine &machine) {
  manager.registerPass([] { return PassInstrumentationAnalysis(); });
  manager.registerPass([] { return AssumptionAnalysis(); });
  manager.registerPass([] { return DominatorTreeAnalysis(); });
  manager.registerPass([] { return LoopAnalysis(); });
  manager.registerPass([] { return OptimizationRemarkEmitterAnalysis(); });
  manager.registerPass([] { return PostDominatorTreeAnalysis(); });
  manager.registerPass([&] { return machine.getTargetIRAnalysis(); });
  manager.registerPass([] { return TargetLibraryAnalysis(); });
}

} // namespace

void attn::codegen::runLLVMPipeline(Module &module, TargetMachine &machine) {
  FunctionAnalysisManager analyses;
  registerAnalyses(analyses, machine);
  markAssemblyConvergent(module);
  FunctionPassManager passes = makePasses();
  for (Function &function : module) {
    if (!function.isDeclaration()) {
      passes.run(function, analyses);
    }
  }
}

void attn::codegen::disableReordering(LLVMContext &context) {
  static ReorderingGate gate;
  context.setOptPassGate(gate);
}
