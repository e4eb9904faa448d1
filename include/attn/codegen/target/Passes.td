// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From roles and channels to instructions.
#ifndef ATTN_CODEGEN_TARGET_PASSES_TD
#define ATTN_CODEGEN_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def Distribute : Pass<"attn-distribute", "::mlir::ModuleOp"> {
  let summary = "turn tiles into the values that one thread holds";
  let description = [{
    A tile becomes a vector in register order; 16-bit tiles are packed in
    pairs. Reductions, broadcasts, coordinates and packing follow from the layout, by patterns
    that the chip gives (docs/chips.md). On Hopper, shares of a sum along the rows lie in
    several warps and are not added: such a reduction has to be `partial`.

    **Requires** `ws.kernel`s for a machine whose chip has a lowering, and whose register
    tiles have a `#tile.layout`.

    **Ensures** no value of a role is a tile.

    **Before** `%p = math.exp2 %s : tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>`
    **After** `%p = math.exp2 %s : vector<64xf32>`

    The share of exponentials that the schedule's `exp2_soft` names becomes
    `nvx.exp2_poly`, whose error is documented there; otherwise numerics do not change.
  }];
  let dependentDialects = ["::attn::nvx::NvxDialect", "::mlir::vector::VectorDialect",
    "::mlir::NVVM::NVVMDialect"];
}

def LowerChannels : Pass<"attn-lower-channels", "::mlir::ModuleOp"> {
  let summary = "turn channels, edges, turns and rendezvous into barriers";
  let description = [{
    **Requires** `ws.kernel`s for a machine whose chip has a lowering, with planned shared
    memory and expanded loops. An MMA is awaited before a `ws.put` overwrites what it reads.

    **Ensures** no `ws.acquire`, `ws.wait`, `ws.release`, `ws.take`, `ws.give`, `ws.signal`,
    `ws.wait_edge`, `ws.sync`, `ws.await_store` or `ws.give_verdict`; a `ws.second_run` has its `rejected`;
    `ws.setup` initializes every barrier; slots are numbers where they travel. All warps of a replica meet, after they have
    waited for the last MMA, before a `ws.put` overwrites what MMAs of the role read: in its
    own hold, or in a place that shares its memory. What MMAs read or another role stores
    is visible to the async proxy, from all lanes of the warp, right after its `ws.put`; what
    a role of several warps stores, from all of the replica, right before its `ws.store`.

    **Before** `%s = ws.wait : !ws.slot<@k, tensor<128x64xbf16>>`
    **After**
    ```mlir
    nvx.mbarrier_wait %full, %parity : !llvm.ptr<3>
    %s = ws.slot_at %slot : !ws.slot<@k, tensor<128x64xbf16>>
    ```
    Arrival counts, parities and bytes are derived from the roles and the tiles. A channel
    or edge of the cluster has its barriers in each CTA, on which the warps of all arrive.
    A channel that several threads fill, a meeting in a role that one thread
    runs, or two verdicts of one role on an item are an error. Remark: the barriers in memory and the named ones.
  }];
  let dependentDialects = ["::attn::nvx::NvxDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def VerifyChannels : Pass<"attn-verify-channels", "::mlir::ModuleOp"> {
  let summary = "prove that counts, parities, bytes and ids of barriers fit the roles";
  let description = [{
    Runs what every warp does with barriers, lane by lane, against the others, on barriers
    that count arrivals, bytes and phases as the machine's do: the counts that `ws.setup`
    gives them, the parities that waits name, the bytes that copies bring. The numbers of
    blocks are 0 to 3 and enough for every ring to go round twice; some items have a second run.
    Tiles are not computed. `attn-verify-sync` has shown that the roles' program ends; this
    shows that the barriers are that program's.

    **Requires** `ws.kernel`s after `attn-lower-channels`. Barriers, slots and conditions
    follow from counters, threads, the CTA's rank and bounds of the item.

    **Ensures** the same IR, in which
    - barriers and words that `ws.setup` initializes lie in memory of their own;
    - a warp that arrives at a barrier does so once in each phase, and all arrivals of a
      phase are as many as the barrier counts;
    - each wait is for the phase after the one before, by its parity, and somebody waits for
      each phase, but for the last of a barrier that no copy completes;
    - the bytes announced for a phase are those of its copies;
    - named barriers have an id in 1..15, the same number of threads in all warps, and no
      warp twice in a phase;
    - between a `ws.put` and the `ws.mma` or `ws.store` that reads it stand a fence of the
      async proxy in all lanes and, for other warps, an arrival;
    - the thread that stores waits for its stores, before its warp puts the next tile;
    - a fence of the cluster's scope follows a write to another CTA.

    A kernel for which one of these does not hold, or which comes to no end, is an error.

    **Before** and **After** `nvx.mbarrier_wait %full, %parity : !llvm.ptr<3>`
  }];
}

def LowerToNVVM : Pass<"attn-lower-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "turn kernels into gpu.modules of instructions, with their launch plans";
  let description = [{
    **Requires** `ws.kernel`s after `attn-lower-channels`. Those with the same group in
    their `variant` have the same arguments, problem and machine; each is reached by
    some launch, and every launch by one of them.

    **Ensures** a `gpu.module` a kernel, or a group of them, with only `nvx` and upstream
    dialects in it; registers of the roles within the register file; its attribute
    `attn.plan` is the launch plan, with one variant a kernel.
    A product of 256 columns is two instructions a k step, of 128 columns each.
    CTAs of a cluster copy a share of each shared tile to all of them, and meet before the roles
    start and at the end.
    With `knob launch dependent` all threads wait for the launch ahead once barriers are set
    up, and the last role that loads lets the next launch start when it ends.

    **Before** `ws.kernel @f machine "sm_90a" ... { ws.role @load ... ws.role @wg ... }`
    **After**
    ```mlir
    gpu.module @f [#nvvm.target<chip = "sm_90a">] attributes {attn.plan = "..."} {
      llvm.func @f(...) attributes {nvvm.kernel, ...} { ... }
    }
    ```
  }];
  let dependentDialects = ["::attn::nvx::NvxDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::gpu::GPUDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // ATTN_CODEGEN_TARGET_PASSES_TD
