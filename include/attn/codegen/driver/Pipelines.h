// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole compiler as one pipeline, cut into stages.
#ifndef ATTN_CODEGEN_DRIVER_PIPELINES_H
#define ATTN_CODEGEN_DRIVER_PIPELINES_H

#include "attn/codegen/emit/Losses.h"
#include "attn/support/DefaultTarget.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <string>

namespace attn {

/// The stages, each a boundary at which IR can be printed and read back.
enum class Stage { Attn, Tile, Schedule, Ws, Nvvm, Llvm, Ptx, Cubin };

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("machine to compile for"),
                             llvm::cl::init(kDefaultTarget)};
  Option<std::string> scheduleFile{
      *this, "schedule-file",
      llvm::cl::desc("take config and schedule from this file"),
      llvm::cl::init("")};
  Option<int64_t> rung{
      *this, "rung",
      llvm::cl::desc("lowest rung of the schedule table to compile on"),
      llvm::cl::init(0)};
  ListOption<std::string> rungs{
      *this, "rungs",
      llvm::cl::desc("KERNEL=RUNG,...: lowest rungs of kernels of gradients")};
  Option<std::string> ptxas{
      *this, "ptxas", llvm::cl::desc("assembler to run (default: search)"),
      llvm::cl::init("")};
  Option<codegen::Losses> losses{
      *this, "losses",
      llvm::cl::desc("how to treat kernels with spills or C75xx"),
      llvm::cl::values(
          clEnumValN(codegen::Losses::Refuse, "refuse", "an error"),
          clEnumValN(codegen::Losses::Warn, "warn", "a warning"),
          clEnumValN(codegen::Losses::Accept, "accept", "nothing")),
      llvm::cl::init(codegen::Losses::Refuse)};
  Option<std::string> reproducerDir{
      *this, "reproducer-dir",
      llvm::cl::desc("folder for the IR that LLVM does not compile"),
      llvm::cl::init("")};
  Option<bool> instrument{
      *this, "instrument",
      llvm::cl::desc("make the kernel record when each role does what"),
      llvm::cl::init(false)};
  ListOption<std::string> instrumentRoles{
      *this, "instrument-roles",
      llvm::cl::desc("the roles that record; all if none is named")};
};

/// Adds the passes of one stage: its input is the output of the stage before.
void addStage(Stage stage, mlir::OpPassManager &manager,
              const PipelineOptions &options);

/// Adds the passes of the stages from `first` to `last`. From Stage::Attn,
/// input of any stage is accepted: a pass ignores ops below its level.
void addStages(Stage first, Stage last, mlir::OpPassManager &manager,
               const PipelineOptions &options);

/// Registers `attn-to-ptx` and a sub-pipeline `attn-stage-<name>` for each
/// stage.
void registerPipelines();

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_PIPELINES_H
