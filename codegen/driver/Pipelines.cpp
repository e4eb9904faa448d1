// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/driver/Pipelines.h"
#include "attn/codegen/emit/Passes.h"
#include "attn/codegen/target/Passes.h"
#include "attn/passes/kernels/Passes.h"
#include "attn/passes/middle/Passes.h"
#include "attn/passes/schedule/Passes.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace attn;

void attn::addStage(Stage stage, OpPassManager &manager,
                    const PipelineOptions &options) {
  switch (stage) {
  case Stage::Attn:
    manager.addPass(createDifferentiate({/*marked=*/true}));
    // The table has entries for built-in masks, so these are known before it is
    // asked.
    manager.addPass(createInferMask({/*builtInOnly=*/true}));
    manager.addPass(
        createSplitBackward({options.target, options.scheduleFile}));
    // After the passes that write or split ops of attention.
    manager.addPass(createSplitLaunches());
    manager.addPass(createInferMask());
    manager.addPass(
        createConfigure({options.target, options.scheduleFile, options.rung,
                         SmallVector<std::string>(options.rungs.begin(),
                                                  options.rungs.end())}));
    break;
  case Stage::Tile:
    manager.addPass(createTile());
    manager.addPass(createTileDelta());
    manager.addPass(createTileSums());
    manager.addPass(createTileBackward());
    manager.addPass(createTileSumGradient());
    manager.addNestedPass<tile::KernelOp>(createFuseOnlineSoftmax());
    break;
  case Stage::Schedule:
    manager.addPass(createSchedule({options.target, options.scheduleFile}));
    break;
  case Stage::Ws:
    manager.addPass(createSubtile());
    manager.addPass(createResolveLayouts());
    manager.addPass(createWarpSpecialize());
    manager.addPass(createVerifyRanges());
    manager.addPass(createHandOut());
    manager.addPass(createPlanMemory());
    manager.addPass(createPipeline());
    manager.addPass(createDropZeroScaling());
    manager.addPass(createStartFresh());
    manager.addPass(createOverlapLastProduct());
    manager.addPass(createVerifySync());
    if (options.instrument) {
      InstrumentOptions instrument;
      instrument.roles.assign(options.instrumentRoles.begin(),
                              options.instrumentRoles.end());
      manager.addPass(createInstrument(instrument));
    }
    break;
  case Stage::Nvvm:
    manager.addPass(codegen::createDistribute());
    manager.addPass(codegen::createLowerChannels());
    manager.addPass(codegen::createVerifyChannels());
    manager.addPass(codegen::createLowerToNVVM());
    manager.addPass(codegen::createVerifyResources());
    break;
  case Stage::Llvm:
    manager.addNestedPass<gpu::GPUModuleOp>(codegen::createLowerToLLVM());
    break;
  case Stage::Ptx:
    manager.addPass(codegen::createEmitPtx({options.reproducerDir}));
    break;
  case Stage::Cubin:
    codegen::AssembleOptions assemble;
    assemble.ptxas = options.ptxas;
    assemble.losses = options.losses;
    manager.addPass(codegen::createAssemble(assemble));
    break;
  }
}

void attn::addStages(Stage first, Stage last, OpPassManager &manager,
                     const PipelineOptions &options) {
  for (int stage = int(first); stage <= int(last); ++stage) {
    addStage(static_cast<Stage>(stage), manager, options);
  }
}

void attn::registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "attn-to-ptx", "From attention on tensors to PTX",
      [](OpPassManager &manager, const PipelineOptions &options) {
        addStages(Stage::Attn, Stage::Ptx, manager, options);
      });
  auto registerStage = [](Stage stage, StringRef name, StringRef what) {
    PassPipelineRegistration<PipelineOptions>(
        name, what,
        [stage](OpPassManager &manager, const PipelineOptions &options) {
          addStage(stage, manager, options);
        });
  };
  registerStage(Stage::Attn, "attn-stage-attn", "Choose a config");
  registerStage(Stage::Tile, "attn-stage-tile",
                "From attention to one CTA's program");
  registerStage(Stage::Schedule, "attn-stage-schedule",
                "Attach a verified schedule");
  registerStage(Stage::Ws, "attn-stage-ws",
                "From a schedule to pipelined roles");
  registerStage(Stage::Nvvm, "attn-stage-nvvm", "From roles to instructions");
  registerStage(Stage::Llvm, "attn-stage-llvm",
                "From instructions to the llvm dialect");
  registerStage(Stage::Ptx, "attn-stage-ptx", "From the llvm dialect to PTX");
}
