// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers one kernel module to the llvm and nvvm dialects in three steps: set
// floating-point flags, expand ops that LLVM lowers badly, convert the rest.
#include "Lowering.h"
#include "attn/codegen/emit/Passes.h"
#include "attn/codegen/target/NvxToLLVM.h"
#include "attn/passes/schedule/ResourcePlan.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace attn::codegen {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "attn/codegen/emit/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Runs before all operations get `afn`: expands those that were written
/// without it.
static void expandPreciseMath(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populatePreciseMathPatterns(patterns);
  walkAndApplyPatterns(module, std::move(patterns));
}

/// The only place that sets contraction, approximation and denormals.
/// Conversions between float types, which have no flags, stay exact.
static void setFloatingPoint(gpu::GPUModuleOp module) {
  module.walk([](arith::ArithFastMathInterface op) {
    if (!op.getFastMathFlagsAttr()) {
      return;
    }
    auto flags = op.getFastMathFlagsAttr().getValue() |
                 arith::FastMathFlags::contract | arith::FastMathFlags::afn;
    op->setAttr(op.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op.getContext(), flags));
  });
  module.walk([](LLVM::FastmathFlagsInterface op) {
    auto flags = op.getFastmathAttr().getValue() |
                 LLVM::FastmathFlags::contract | LLVM::FastmathFlags::afn;
    op->setAttr(op.getFastmathAttrName(),
                LLVM::FastmathFlagsAttr::get(op.getContext(), flags));
  });
  module.walk([](LLVM::LLVMFuncOp function) {
    function.setDenormalFpMathF32("preserve-sign,preserve-sign");
  });
}

/// Rewrites within `arith`, `math` and `vector`, and lowers `nvx` completely.
static void expand(gpu::GPUModuleOp module) {
  RewritePatternSet toArith(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(toArith);
  populateExp2PolyPatterns(toArith);
  populateMathToNVVMPatterns(toArith);
  walkAndApplyPatterns(module, std::move(toArith));
  // A walk does not visit the ops that its own patterns create.
  RewritePatternSet toLLVM(module.getContext());
  populateMathToNVVMPatterns(toLLVM);
  populateNvxToLLVMPatterns(toLLVM);
  walkAndApplyPatterns(module, std::move(toLLVM));
}

static LogicalResult lowerControlFlow(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

static bool isLowered(Operation *op) {
  if (isa<NVVM::NVVMDialect>(op->getDialect())) {
    auto builder = dyn_cast<NVVM::BasicPtxBuilderInterface>(op);
    return !builder || builder.hasIntrinsic();
  }
  return isa<LLVM::LLVMDialect>(op->getDialect());
}

/// Ops that are already lowered stay as they are, including their flags.
static bool isLowered(gpu::GPUModuleOp module) {
  return !module.getBody()
              ->walk([](Operation *op) {
                return op->getDialect() && isLowered(op)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

static LogicalResult convert(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateNVVMToLLVMConversionPatterns(patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.addDynamicallyLegalDialect<NVVM::NVVMDialect>(
      [](Operation *op) { return isLowered(op); });
  return applyFullConversion(module, target, std::move(patterns));
}

LogicalResult attn::codegen::lowerToLLVM(gpu::GPUModuleOp module) {
  if (isLowered(module)) {
    return success();
  }
  if (failed(verifyMath(module))) {
    return failure();
  }
  expandPreciseMath(module);
  setFloatingPoint(module);
  expand(module);
  if (failed(lowerControlFlow(module)) || failed(convert(module))) {
    return failure();
  }
  // Again, for the operations that the conversions created.
  setFloatingPoint(module);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    function->removeAttr(kResourcesAttr);
  }
  return success();
}

namespace {

struct LowerToLLVMPass : attn::codegen::impl::LowerToLLVMBase<LowerToLLVMPass> {
  void runOnOperation() override {
    if (failed(lowerToLLVM(getOperation()))) {
      signalPassFailure();
    }
  }
};

} // namespace
