// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a function: IR of any stage in, an artifact out.
#ifndef ATTN_CODEGEN_DRIVER_COMPILER_H
#define ATTN_CODEGEN_DRIVER_COMPILER_H

#include "attn/codegen/driver/Pipelines.h"
#include "attn/support/GradientRequest.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace attn {

/// The lowest rung of the table for kernels, by their names.
using KernelRungs = std::map<std::string, int64_t>;

enum class Emit {
  Attn,
  Tile,
  Schedule,
  Ws,
  Nvvm,
  Llvm,
  Ptx,
  Cubin,
  Bundle,
  Plan
};

struct CompileOptions {
  std::string target = kDefaultTarget;
  std::string scheduleFile; // empty for the table
  int64_t rung = 0;         // the lowest rung of the table to compile on
  KernelRungs rungs;        // the same for some kernels of several
  std::string ptxas;        // empty for a search
  codegen::Losses losses = codegen::Losses::Refuse; // without a ladder
  Emit emit = Emit::Bundle;
  bool bytecode = false;                    // IR as bytecode
  bool genericForm = false;                 // IR in generic form
  bool verbose = false;                     // pass remarks on
  std::optional<GradientRequest> gradients; // in place of the attention
  bool instrument = false; // write stamps of what each role does when
  std::vector<std::string>
      instrumentRoles;       // only in these roles, if there are any
  bool timing = false;       // report the time by pass and by assembler
  std::string reproducerDir; // for input that LLVM cannot compile; empty for
                             // the temporary folder
};

/// Parses the text or bytecode of a module; `name` is its name in diagnostics,
/// which go to the context.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(mlir::MLIRContext &context,
                                              llvm::StringRef source,
                                              llvm::StringRef name);

/// Reads the module in `path` ("-": standard input). Diagnostics go to the
/// context.
mlir::OwningOpRef<mlir::ModuleOp> readModule(mlir::MLIRContext &context,
                                             llvm::StringRef path);

/// Compiles `module` in place as far as `options.emit` needs and returns the
/// bytes of the artifact. Diagnostics go to the context.
mlir::FailureOr<std::string> compile(mlir::ModuleOp module,
                                     const CompileOptions &options);

/// Compiles a module to machine code in place.
using CompileRung = llvm::function_ref<mlir::LogicalResult(
    mlir::ModuleOp, const CompileOptions &)>;

/// Compiles `module` in place with `compileRung`, on the lowest rung of the
/// schedule table where the assembler spills no register and serializes no
/// instruction, or on the one with the fewest spilled bytes. If the table does
/// not choose the schedule, the module is compiled once.
mlir::LogicalResult climb(mlir::ModuleOp module, const CompileOptions &options,
                          CompileRung compileRung);

/// Runs the stages from `first` to `last` on `module`. Diagnostics go to the
/// context.
mlir::LogicalResult runStages(mlir::ModuleOp module,
                              const CompileOptions &options, Stage first,
                              Stage last);

/// Returns the bytes of the bundle of `module`, which is past the stage Ptx or
/// Cubin and has one binary.
mlir::FailureOr<std::string> bundleOf(mlir::ModuleOp module);

/// Writes `bytes` to `path` ("-": standard output) atomically. On failure
/// returns false and sets `error`.
bool writeArtifact(llvm::StringRef path, llvm::StringRef bytes,
                   std::string &error);

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_COMPILER_H
