// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/driver/Compiler.h"
#include "BundleBytes.h"
#include "ResourceReport.h"
#include "attn/codegen/driver/Variants.h"
#include "attn/codegen/emit/FindPtxas.h"
#include "attn/codegen/emit/PlanWriter.h"
#include "attn/dialect/Attn.h"
#include "attn/passes/kernels/Gradients.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

namespace {

Stage lastStage(Emit emit) {
  switch (emit) {
  case Emit::Attn:
    return Stage::Attn;
  case Emit::Tile:
    return Stage::Tile;
  case Emit::Schedule:
    return Stage::Schedule;
  case Emit::Ws:
    return Stage::Ws;
  case Emit::Nvvm:
  case Emit::Plan:
    return Stage::Nvvm;
  case Emit::Llvm:
    return Stage::Llvm;
  case Emit::Ptx:
    return Stage::Ptx;
  case Emit::Cubin:
  case Emit::Bundle:
    return Stage::Cubin;
  }
  return Stage::Cubin;
}

/// Forwards the passes' remarks to the diagnostics.
LogicalResult enableRemarks(MLIRContext *context) {
  // All kinds must be named: the filter of a missing one matches nothing.
  remark::RemarkCategories categories{"attn", "attn", "attn", "attn", "attn"};
  return remark::enableOptimizationRemarks(
      *context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
      categories,
      /*printAsEmitRemarks=*/true);
}

std::string printModule(ModuleOp module, const CompileOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.bytecode) {
    (void)writeBytecodeToFile(module, stream);
    return text;
  }
  OpPrintingFlags flags;
  module.print(stream,
               options.genericForm ? flags.printGenericOpForm() : flags);
  stream << "\n";
  return text;
}

FailureOr<gpu::BinaryOp> theBinary(ModuleOp module) {
  auto binaries = module.getOps<gpu::BinaryOp>();
  if (!llvm::hasSingleElement(binaries)) {
    module.emitError("expected one kernel to write as one artifact, got ")
        << std::distance(binaries.begin(), binaries.end());
    return failure();
  }
  return *binaries.begin();
}

FailureOr<std::string> makeBundle(gpu::BinaryOp binary) {
  auto plan = launch::PlanOp::of(binary);
  if (!plan) {
    return binary.emitError("expected a 'launch.plan' of '@")
           << binary.getName() << "', got none";
  }
  return bundleBytes(
      codegen::writePlan(
          plan, [&](StringRef kernel) { return findAssembly(binary, kernel); }),
      binary);
}

} // namespace

/// Returns the assembler that the user requested; empty for a search.
static std::string requestedPtxas(const CompileOptions &options) {
  return options.ptxas.empty()
             ? llvm::sys::Process::GetEnv("ATTN_PTXAS").value_or("")
             : options.ptxas;
}

static void setPipelineOptions(const CompileOptions &options,
                               PipelineOptions &pipeline) {
  pipeline.target = options.target;
  pipeline.scheduleFile = options.scheduleFile;
  pipeline.rung = options.rung;
  std::vector<std::string> rungs;
  for (const auto &[kernel, rung] : options.rungs) {
    rungs.push_back(llvm::formatv("{0}={1}", kernel, rung));
  }
  pipeline.rungs = rungs;
  pipeline.ptxas = requestedPtxas(options);
  // Stamps need registers that a schedule may not have.
  pipeline.losses = options.instrument ? codegen::Losses::Warn : options.losses;
  pipeline.reproducerDir = options.reproducerDir;
  pipeline.instrument = options.instrument;
  pipeline.instrumentRoles = options.instrumentRoles;
}

LogicalResult attn::runStages(ModuleOp module, const CompileOptions &options,
                              Stage first, Stage last) {
  PipelineOptions pipeline;
  setPipelineOptions(options, pipeline);
  PassManager manager(module.getContext());
  if (options.timing) {
    manager.enableTiming();
  }
  addStages(first, last, manager, pipeline);
  return manager.run(module);
}

FailureOr<std::string> attn::bundleOf(ModuleOp module) {
  FailureOr<gpu::BinaryOp> binary = theBinary(module);
  if (failed(binary)) {
    return failure();
  }
  return makeBundle(*binary);
}

/// Whether a bundle has no machine code, so that the driver assembles its PTX.
static bool leavesAssemblyToDriver(ModuleOp module,
                                   const CompileOptions &options) {
  if (options.emit != Emit::Bundle) {
    return false;
  }
  std::string requested = requestedPtxas(options);
  if (!requested.empty()) {
    return requested == codegen::kNoPtxas;
  }
  llvm::Expected<codegen::Ptxas> found = codegen::findPtxas("");
  if (found) {
    return false;
  }
  module.emitWarning("the bundle has PTX alone, which the driver assembles: ")
      << llvm::toString(found.takeError());
  return true;
}

FailureOr<std::string> attn::compile(ModuleOp module,
                                     const CompileOptions &options) {
  if (options.gradients &&
      failed(requestGradients(module, *options.gradients))) {
    return failure();
  }
  if (options.verbose && failed(enableRemarks(module.getContext()))) {
    return module.emitError("cannot enable remarks");
  }
  Stage last = leavesAssemblyToDriver(module, options)
                   ? Stage::Ptx
                   : lastStage(options.emit);
  auto run = [&](ModuleOp copy, const CompileOptions &changed) {
    return runStages(copy, changed, Stage::Attn, last);
  };
  if (failed(last == Stage::Cubin ? climb(module, options, run)
                                  : run(module, options))) {
    return failure();
  }
  if (options.emit <= Emit::Llvm) {
    return printModule(module, options);
  }
  if (options.emit == Emit::Plan) {
    return planOf(module);
  }
  FailureOr<gpu::BinaryOp> binary = theBinary(module);
  if (failed(binary)) {
    return failure();
  }
  if (options.verbose) {
    printResources(*binary, llvm::errs());
  }
  switch (options.emit) {
  case Emit::Ptx:
    return objectOf(*binary, gpu::CompilationTarget::Assembly);
  case Emit::Cubin:
    return objectOf(*binary, gpu::CompilationTarget::Binary);
  default:
    return makeBundle(*binary);
  }
}

bool attn::writeArtifact(StringRef path, StringRef bytes, std::string &error) {
  if (path == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    return true;
  }
  llvm::Error failed =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
        stream << bytes;
        return llvm::Error::success();
      });
  if (failed) {
    error = llvm::toString(std::move(failed));
    return false;
  }
  return true;
}
