// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lowering.h"
#include "PtxWriter.h"
#include "attn/codegen/emit/GiveUp.h"
#include "attn/codegen/emit/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

namespace attn::codegen {
#define GEN_PASS_DEF_EMITPTX
#include "attn/codegen/emit/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Replaces `module` by a binary with the same name and discardable attributes.
static void replaceByBinary(gpu::GPUModuleOp module, StringRef ptx) {
  OpBuilder builder(module);
  auto object = gpu::ObjectAttr::get(
      builder.getContext(), module.getTargetsAttr()[0],
      gpu::CompilationTarget::Assembly, builder.getStringAttr(ptx),
      /*properties=*/nullptr, /*kernels=*/nullptr);
  auto binary =
      gpu::BinaryOp::create(builder, module.getLoc(), module.getName(), nullptr,
                            ArrayRef<Attribute>{object});
  binary->setDiscardableAttrs(module->getDiscardableAttrDictionary());
  module.erase();
}

namespace {

struct EmitPtxPass : attn::codegen::impl::EmitPtxBase<EmitPtxPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    PtxOptions options{reproducerDir};
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp module : modules) {
      if (isGivenUp()) {
        module.emitError("expected the program to go on, it ends");
        return signalPassFailure();
      }
      if (failed(lowerToLLVM(module)) || failed(verifyVectorPlaces(module))) {
        return signalPassFailure();
      }
      FailureOr<std::string> ptx = translateToPTX(module, options);
      if (failed(ptx)) {
        return signalPassFailure();
      }
      replaceByBinary(module, *ptx);
    }
  }
};

} // namespace
