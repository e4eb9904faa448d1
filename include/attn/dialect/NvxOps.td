// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level L3: the few instructions that upstream's nvvm dialect lacks.
#ifndef ATTN_DIALECT_NVXOPS_TD
#define ATTN_DIALECT_NVXOPS_TD

include "attn/dialect/NvxEnums.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nvx_Dialect : Dialect {
  let name = "nvx";
  let cppNamespace = "::attn::nvx";
  let summary = "Instructions of NVIDIA GPUs that upstream nvvm lacks";
  let description = [{
    Values belong to one thread. A tile in the registers of a warpgroup is a
    `vector<Nxf32>` in the register order of the instruction that computes it;
    a matrix operand in registers is a `vector<Nxi32>`, each element two or
    four packed numbers. Instructions that upstream `nvvm` covers well are not here.
  }];
}

class Nvx_Op<string mnemonic, list<Trait> traits = []>
    : Op<Nvx_Dialect, mnemonic, traits>;

def Nvx_F32Vector : FixedVectorOfRankAndType<[1], [F32]>;
def Nvx_I32Vector : FixedVectorOfRankAndType<[1], [I32]>;

//===----------------------------------------------------------------------===//
// Warpgroup matrix multiply (sm_90a)
//===----------------------------------------------------------------------===//

def Nvx_WgmmaOp : Nvx_Op<"wgmma", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one asynchronous GEMM of a warpgroup: D = A * B (+ C)";
  let description = [{
    D(64 x N) = A(64 x K) * B(K x N), plus C if `acc` is given, with f32
    accumulation. The 128 threads of the warpgroup execute it together.

    **PTX** (sm_90a): one volatile inline assembly, so that nothing comes between its
    instructions: `wgmma.fence`, one `wgmma.mma_async.m64nNk16` (k32 for 8-bit elements)
    for each k step and part of D's columns, and `wgmma.commit_group`.

    **Operands**
    - `a`: an i32, the low word of the descriptor of A in shared memory, whose
      high word is `a_desc_hi`; or `vector<(4 * steps) x i32>`, the fragments of A.
    - `b`: the low word of the descriptor of B, whose high word is `b_desc_hi`.
    - `acc`: C in the register order of D. Without it the first step ignores the old
      contents of D's registers.
    - `fresh`: the same in all threads. If it is true, `acc` is ignored and may be poison.
    - `a_offsets`, `b_offsets`: for each k step, the number to add to the low word
      (units of 16 bytes).
    - `b_parts`: cuts D's columns into equal parts, each computed by instructions of its
      own: for each part, the number to add to the low word of B. Without it D is one part.
    - `transpose_a`, `transpose_b`: the operand in shared memory is MN-major.

    **Constraints**
    - C1: D has 4, 8, ..., 128 elements a thread (N = 8, 16, ..., 256).
    - C2: `b_offsets` has one entry for each k step, at least one.
    - C3: A in shared memory has `a_desc_hi`, and `a_offsets` has one entry for each k step.
    - C4: A in registers has 4 elements for each k step, and neither `a_desc_hi`,
      `a_offsets` nor `transpose_a`.
    - C5: 8-bit elements are not transposed.
    - C6: `acc` has the type of the result; `fresh` only with `acc`.
    - C7: `b_parts` has 2 or more entries that divide N into multiples of 8.

    **Effects**: reads shared memory. D is in flight until a wait that covers this GEMM; until
    then only another `nvx.wgmma` (as `acc`) or `nvx.wgmma_wait` may use it. The registers
    of A are also read until then. If the next A is written before that wait, the assembler
    serializes every wgmma (C7513), unless the wait passes this A through, which costs a
    second set of registers.

    **Example**
    ```mlir
    %s = nvx.wgmma bf16 a(%qdesc : i32) b(%kdesc) {
      a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
      a_offsets = array<i32: 0, 2, 4, 6>, b_offsets = array<i32: 0, 2, 4, 6>}
      : vector<64xf32>
    %o1 = nvx.wgmma bf16 a(%p : vector<32xi32>) b(%vdesc) acc(%o0 : vector<64xf32>) {
      b_desc_hi = 0x40000040 : i32, transpose_b,
      b_offsets = array<i32: 0, 128, 256, 384, 512, 640, 768, 896>}
      : vector<64xf32>
    ```
  }];
  let arguments = (ins
    EnumProp<Nvx_ElementType>:$element,
    AnyTypeOf<[I32, Nvx_I32Vector]>:$a,
    I32:$b,
    Optional<Nvx_F32Vector>:$acc,
    Optional<I1>:$fresh,
    OptionalAttr<I32Attr>:$a_desc_hi,
    I32Attr:$b_desc_hi,
    OptionalAttr<DenseI32ArrayAttr>:$a_offsets,
    DenseI32ArrayAttr:$b_offsets,
    OptionalAttr<DenseI32ArrayAttr>:$b_parts,
    UnitAttr:$transpose_a,
    UnitAttr:$transpose_b);
  let results = (outs Nvx_F32Vector:$result);
  let assemblyFormat = [{
    $element `a` `(` $a `:` type($a) `)` `b` `(` $b `)` (`acc` `(` $acc^ `:` type($acc) `)`)?
    (`fresh` `(` $fresh^ `)`)? attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    /// The number of k steps.
    int64_t getSteps() { return getBOffsets().size(); }
    /// Columns of D.
    int64_t getN() { return getResult().getType().getNumElements() * 2; }
    /// Instructions of a k step.
    int64_t getParts() { return getBParts() ? getBParts()->size() : 1; }
    bool isAInRegisters() { return ::llvm::isa<::mlir::VectorType>(getA().getType()); }
  }];
  let hasVerifier = 1;
}

def Nvx_WgmmaWaitOp : Nvx_Op<"wgmma_wait", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["values", "results"]>]> {
  let summary = "wait until at most `pending` groups of wgmma are in flight";
  let description = [{
    The results are the operands after the wait. Results whose GEMM is complete may be used
    freely.

    **PTX** (sm_90a): a volatile `wgmma.wait_group.sync.aligned` that reads and
    writes every element in place, so that no use moves above it.

    **Constraints**
    - C1: `pending` is from 0 to 7.

    **Example**
    ```mlir
    %s1, %o1 = nvx.wgmma_wait 0 (%s0, %o0) : vector<64xf32>, vector<64xf32>
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<7>]>:$pending,
    Variadic<AnyTypeOf<[Nvx_F32Vector, Nvx_I32Vector]>>:$values);
  let results = (outs Variadic<AnyTypeOf<[Nvx_F32Vector, Nvx_I32Vector]>>:$results);
  let assemblyFormat = [{
    $pending (` ` `(` $values^ `)`)? attr-dict (`:` type($values)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Conversions and arithmetic
//===----------------------------------------------------------------------===//

def Nvx_PackOp : Nvx_Op<"pack", [Pure]> {
  let summary = "round pairs of f32 to 16 bits and pack each pair into an i32";
  let description = [{
    Element i of the result holds source element 2i in its low half and 2i + 1
    in its high half, rounded to nearest even.

    **PTX** (sm_90): one `cvt.rn.bf16x2.f32` or `cvt.rn.f16x2.f32` for each pair.

    **Constraints**
    - C1: `element` is bf16 or f16.
    - C2: the source has twice as many elements as the result.

    **Example**
    ```mlir
    %p = nvx.pack bf16 %s : vector<64xf32> -> vector<32xi32>
    ```
  }];
  let arguments = (ins EnumProp<Nvx_ElementType>:$element, Nvx_F32Vector:$source);
  let results = (outs Nvx_I32Vector:$result);
  let assemblyFormat =
    "$element $source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Nvx_Exp2PolyOp : Nvx_Op<"exp2_poly", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "2^x by a polynomial on the FMA pipes";
  let description = [{
    Splits x = n + f with integer n and |f| <= 1/2 (Cody-Waite, by adding and subtracting
    1.5 * 2^23), computes 2^f with a minimax polynomial of `degree`, and adds n to
    the exponent. This relieves the MUFU unit. The coefficients are in Exp2Poly.h.

    **Numerics**: at every degree the relative error against 2^x in float64, for
    -125.5 <= x <= 127, is below the error of rounding P to the type of its product:

    | `degree` | at most | of the rounding to f16, 2^-11 | to bf16, 2^-9 |
    |---|---|---|---|
    | 3 | 7.6e-5 | 1/6 | 1/25 |
    | 4 | 2.8e-6 | 1/170 | 1/690 |
    | 5 | 2.5e-7 | 1/1900 | 1/7800 |

    Below -126, and for -inf, the result is a denormal number, which the f32
    instructions of a kernel flush to 0. Above 127, and for inf, the result is 2^127, large
    enough for `tile.reject` to detect that a reference was too small. A NaN gives NaN.

    **PTX**: max, min, add, sub, sub, `degree` fma, shl, add, fma, as separate instructions.

    **Constraints**
    - C1: `degree` is 3, 4 or 5.

    **Example**
    ```mlir
    %p = nvx.exp2_poly %x {degree = 3 : i32} : vector<16xf32>
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[F32, Nvx_F32Vector]>:$x,
    ConfinedAttr<I32Attr, [IntMinValue<3>, IntMaxValue<5>]>:$degree);
  let results = (outs AnyTypeOf<[F32, Nvx_F32Vector]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def Nvx_MbarrierWaitOp : Nvx_Op<"mbarrier_wait", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the phase of the given parity of a barrier is complete";
  let description = [{
    **PTX** (sm_90): a loop of `mbarrier.try_wait.parity.shared::cta` on a
    32-bit address, in one volatile assembly, so that the values that are live
    across it stay in one basic block. Upstream's op for this requires a suspend-time hint.

    **Effects**: acquires the writes that the phase's arrivals released (CTA scope).

    **Example**
    ```mlir
    nvx.mbarrier_wait %barrier, %parity : !llvm.ptr<3>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$address, I32:$parity);
  let assemblyFormat = "$address `,` $parity attr-dict `:` qualified(type($address))";
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

def Nvx_SmemBaseOp : Nvx_Op<"smem_base", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "address of a variable in shared memory, computed here";
  let description = [{
    If the address were computed before a loop, it would be in a register of each thread,
    and every descriptor and barrier address would be moved to a uniform register at each
    use. Computed in the loop, it is uniform from the start.

    **PTX**: a volatile `mov.b32`, which stays in its loop.

    **Example**
    ```mlir
    %base = nvx.smem_base @kernel_smem
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs I32:$address);
  let assemblyFormat = "$variable attr-dict";
}

def Nvx_ClusterRankOp : Nvx_Op<"cluster_rank", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "number of this CTA in its cluster, read here";
  let description = [{
    Upstream's op is pure, so values computed from it would occupy registers from the first
    use to the last, in a role that has few.

    **PTX** (sm_90): a volatile `mov.u32` of `%cluster_ctarank`.

    **Example**
    ```mlir
    %rank = nvx.cluster_rank
    ```
  }];
  let results = (outs I32:$rank);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Additions to memory
//===----------------------------------------------------------------------===//

def Nvx_ReduceAddOp : Nvx_Op<"reduce_add", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds consecutive f32 to global memory, in any order with other threads";
  let description = [{
    **PTX** (sm_90): one `red.relaxed.gpu.global.add.v2.f32` or `.v4.f32`. Each element is added
    atomically, not all of them together.

    **Constraints**
    - C1: 2 or 4 elements

    **Example** `nvx.reduce_add %pair to %address : vector<2xf32>, !llvm.ptr<1>`
  }];
  let arguments = (ins Nvx_F32Vector:$values, LLVM_AnyPointer:$address);
  let assemblyFormat = "$values `to` $address attr-dict `:` type($values) `,` type($address)";
  let hasVerifier = 1;
}

def Nvx_BulkReduceAddOp : Nvx_Op<"bulk_reduce_add", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds consecutive f32 of shared memory to global memory, asynchronously";
  let description = [{
    **PTX** (sm_90): one `cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32`, by one thread. Each element is
    added atomically. It belongs to the thread's next bulk group.

    **Constraints**
    - C1: `bytes` is a positive multiple of 16

    **Example** `nvx.bulk_reduce_add 4096 from %source to %address : !llvm.ptr<3>, !llvm.ptr<1>`
  }];
  let arguments = (ins I64Attr:$bytes, LLVM_AnyPointer:$source, LLVM_AnyPointer:$address);
  let assemblyFormat = "$bytes `from` $source `to` $address attr-dict `:` type($source) `,` type($address)";
  let hasVerifier = 1;
}

def Nvx_TurnWaitOp : Nvx_Op<"turn_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits, if `waits`, until the i32 at `address` is `turn`";
  let description = [{
    What the thread does later is ordered after what comes before the `nvx.turn_pass` that stored `turn`.

    **PTX** (sm_90): a predicated loop around `ld.acquire.gpu.global.b32`.

    **Example** `nvx.turn_wait %turn at %address if %waits : !llvm.ptr<1>`
  }];
  let arguments = (ins I32:$turn, LLVM_AnyPointer:$address, I1:$waits);
  let assemblyFormat = "$turn `at` $address `if` $waits attr-dict `:` type($address)";
}

def Nvx_TurnPassOp : Nvx_Op<"turn_pass", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "stores `turn` at `address` after all that the thread knows to be written";
  let description = [{
    That is what it has written, and what others had before they arrived at a barrier that it has waited for.

    **PTX** (sm_90): `st.release.gpu.global.b32`.

    **Example** `nvx.turn_pass %turn at %address : !llvm.ptr<1>`
  }];
  let arguments = (ins I32:$turn, LLVM_AnyPointer:$address);
  let assemblyFormat = "$turn `at` $address attr-dict `:` type($address)";
}

//===----------------------------------------------------------------------===//
// Stamps
//===----------------------------------------------------------------------===//

def Nvx_StampOp : Nvx_Op<"stamp", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["cursor", "next"]>]> {
  let summary = "write the SM's clock and `id` to memory at `base` + `cursor`";
  let description = [{
    `cursor` is in bytes. Nothing is written if it is `limit` or more, as unsigned numbers.
    The result is `cursor` + `stride`, or `cursor` if that is negative: a thread that must not
    write starts with a negative one.

    **PTX** (sm_90): one volatile assembly without a branch: `mov.u32 %clock`, two
    comparisons, a predicated `st.global.v2.b32` and a predicated `add`.

    **Constraints**
    - C1: `id` is at least 0; `limit` and `stride` are at least 1

    **Example**
    ```mlir
    %next = nvx.stamp %base, %cursor {id = 3 : i32, limit = 98816 : i32, stride = 120 : i32} : !llvm.ptr<1>
    ```
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<1>:$base, I32:$cursor,
    ConfinedAttr<I32Attr, [IntNonNegative]>:$id,
    ConfinedAttr<I32Attr, [IntPositive]>:$limit,
    ConfinedAttr<I32Attr, [IntPositive]>:$stride);
  let results = (outs I32:$next);
  let assemblyFormat = "$base `,` $cursor attr-dict `:` qualified(type($base))";
}

#endif // ATTN_DIALECT_NVXOPS_TD
