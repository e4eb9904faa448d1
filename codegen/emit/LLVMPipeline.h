// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes on LLVM IR before the backend.
#ifndef ATTN_CODEGEN_LLVMPIPELINE_H
#define ATTN_CODEGEN_LLVMPIPELINE_H

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace attn::codegen {

/// Runs the fixed list of passes. Afterwards no value of a function is a vector
/// that the middle-end could split, and no loop may be unrolled.
void runLLVMPipeline(llvm::Module &module, llvm::TargetMachine &machine);

/// Disables the backend's passes that reshape loops or sink instructions, for
/// the modules of `context`.
void disableReordering(llvm::LLVMContext &context);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LLVMPIPELINE_H
