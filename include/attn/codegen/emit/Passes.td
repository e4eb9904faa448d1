// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from instructions to PTX and cubin (L3 to L4).
// Each description states what the pass requires and what it ensures.
#ifndef ATTN_CODEGEN_EMIT_PASSES_TD
#define ATTN_CODEGEN_EMIT_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToLLVM : Pass<"attn-lower-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower one kernel module to the llvm and nvvm dialects";
  let description = [{
    **Requires**: a `gpu.module` of `llvm.func`s whose bodies hold `nvx`,
    `nvvm`, `llvm`, `arith`, `math`, `scf`, `cf`, `ub` and `vector` (vectors of
    one dimension are the per-thread values).

    **Ensures**: only ops of `llvm` and `nvvm`, which translate to LLVM IR. The
    floating-point mode is set here: every operation has `contract` and `afn` (never
    `nnan` or `ninf`, because -inf is data), and every function flushes f32 denormals. Functions
    have no `attn.resources`: `attn-verify-resources` has compared it with what is replaced here.

    **Before/After**
    ```mlir
    %y = math.log2 %x : f32
    ```
    ```mlir
    %y = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%x) : (f32) -> f32
    ```

    An operation of `math` that the target has no instruction for is an error
    that names it. Idempotent. Results change by the approximations of
    `ex2.approx`, `lg2.approx`, `rcp.approx`, `div.approx`, `sqrt.approx`.
    A function without an instruction becomes other functions, polynomials or integer ops;
    `math.tanh` is `tanh.approx` only with `fastmath<afn>`. [score-ops.md](score-ops.md) has
    the error of each.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def EmitPtx : Pass<"attn-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "replace kernel modules by their PTX";
  let description = [{
    **Requires**: `gpu.module`s with one `#nvvm.target`, as `attn-lower-to-llvm`
    leaves them; others are lowered first.

    **Ensures**: each is a `gpu.binary` with the same name and discardable attributes
    and one object, which holds the PTX text. The same input gives the same bytes.

    The LLVM passes are a fixed list (LLVMPipeline.cpp). The PTX version is
    that of the target's features (`+ptx87`), or the lowest at which every
    instruction selects. What LLVM cannot select is a diagnostic and, in
    `reproducer-dir`, a file of LLVM IR.

    **Before/After**
    ```mlir
    gpu.module @kernels [#nvvm.target<chip = "sm_90a">] { ... }
    ```
    ```mlir
    gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "...">]
    ```
  }];
  let options = [
    Option<"reproducerDir", "reproducer-dir", "std::string", /*default=*/"",
           "where to write LLVM IR that fails to compile (default: the system's "
           "temporary directory)">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def Assemble : Pass<"attn-assemble", "::mlir::ModuleOp"> {
  let summary = "assemble PTX to a cubin with ptxas and judge its report";
  let description = [{
    **Requires**: `gpu.binary`s with an object of PTX.

    **Ensures**: each has a second object, the cubin, whose properties hold
    `kernels`: for each kernel `registers`, `stack`, `spill_stores`,
    `spill_loads`, `barriers` and `shared`; and `serialized`, the number of warnings
    that the assembler serialized wgmma or ignored setmaxnreg (C75xx). Such a
    warning or a spill is an error, unless `losses` is `warn` or `accept`.

    `ptxas`, of 12.8 or newer, is that of the option, otherwise the first one found in PATH,
    the CUDA directories, the wheel `nvidia-cuda-nvcc`, or where `scripts/setup` puts one.
  }];
  let options = [
    Option<"ptxas", "ptxas", "std::string", /*default=*/"",
           "the assembler to run (default: search)">,
    Option<"losses", "losses", "::attn::codegen::Losses",
           /*default=*/"::attn::codegen::Losses::Refuse",
           "how to treat kernels with spills or C75xx",
           [{::llvm::cl::values(
             clEnumValN(::attn::codegen::Losses::Refuse, "refuse", "an error"),
             clEnumValN(::attn::codegen::Losses::Warn, "warn", "a warning"),
             clEnumValN(::attn::codegen::Losses::Accept, "accept", "nothing"))}]>
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

#endif // ATTN_CODEGEN_EMIT_PASSES_TD
