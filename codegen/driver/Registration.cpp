// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/driver/Registration.h"
#include "attn/codegen/driver/Pipelines.h"
#include "attn/codegen/emit/Passes.h"
#include "attn/codegen/target/Passes.h"
#include "attn/codegen/target/Sm90.h"
#include "attn/dialect/Launch.h"
#include "attn/passes/kernels/Passes.h"
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/Passes.h"
#include "attn/passes/schedule/ScheduleTable.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attn::registerDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect, launch::LaunchDialect, nvx::NvxDialect,
                  tile::TileDialect, ws::WsDialect>();
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, DLTIDialect,
              func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
              math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect,
              tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
  registerTableFiles(registry);
  codegen::registerSm90(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void attn::registerPasses() {
  registerAttnSchedulePasses();
  registerAttnKernelsPasses();
  registerAttnMiddlePasses();
  codegen::registerAttnTargetPasses();
  codegen::registerAttnEmitPasses();
  registerPipelines();
  registerCanonicalizerPass();
  registerCSEPass();
  registerLoopInvariantCodeMotionPass();
  registerRemoveDeadValuesPass();
  registerStripDebugInfoPass();
  registerSymbolDCEPass();
}
