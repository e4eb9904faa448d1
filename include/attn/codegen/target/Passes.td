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
    pairs. Patterns of the chip lower reductions, broadcasts, coordinates and packing as the
    layout demands (docs/chips.md). On Hopper, a column lies in several warps, whose shares of a
    sum down the column are not added: such a reduction has to be `partial`.

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
    `ws.setup` initializes every barrier; a slot that is passed on is its number. Before a
    `ws.put` overwrites memory that MMAs of the role read (of its own hold, or of a place that
    overlaps it), all warps of a replica wait for the last MMA, and then meet. A fence of the
    async proxy follows each `ws.put` that an MMA reads or another role stores, in all lanes of
    the warp. If a role of several warps stores its own puts, all warps of the replica have the
    fence right before its `ws.store`.

    **Before** `%s = ws.wait : !ws.slot<@k, tensor<128x64xbf16>>`
    **After**
    ```mlir
    nvx.mbarrier_wait %full, %parity : !llvm.ptr<3>
    %s = ws.slot_at %slot : !ws.slot<@k, tensor<128x64xbf16>>
    ```
    Arrival counts, parities and bytes are derived from the roles and the tiles. A channel
    or edge of the cluster has its barriers in each CTA, on which the warps of all arrive.
    It is an error if several threads fill a channel, if a role that one thread runs has a
    meeting, or if one role gives two verdicts on an item. Remark: the numbers of barriers in
    memory and of named barriers.
  }];
  let dependentDialects = ["::attn::nvx::NvxDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def VerifyChannels : Pass<"attn-verify-channels", "::mlir::ModuleOp"> {
  let summary = "prove that counts, parities, bytes and ids of barriers match the roles";
  let description = [{
    Executes the barrier operations of all warps, lane by lane, on barriers that count
    arrivals, bytes and phases as the machine's do. The counts are those of `ws.setup`, the
    parities those of the waits, and the bytes those of the copies. Items have 0 to 3 blocks, or
    enough to wrap every ring twice; some have a second run. Tiles are not computed.
    `attn-verify-sync` has proved that the roles' programs end; this pass proves that the
    barriers implement those programs.

    **Requires** `ws.kernel`s after `attn-lower-channels`. Barriers, slots and conditions
    depend only on counters, threads, the CTA's rank and bounds of the item.

    **Ensures** the same IR, in which
    - barriers and words that `ws.setup` initializes lie in memory of their own;
    - a warp that arrives at a barrier does so once in each phase, and a phase has as many
      arrivals as the barrier counts;
    - consecutive waits are for consecutive phases, by parity, and each phase is waited for,
      except the last of a barrier that no copy completes;
    - the bytes announced for a phase are those of its copies;
    - named barriers have an id in 1..15, the same number of threads in all warps, and no
      warp twice in a phase;
    - between a `ws.put` and the `ws.mma` or `ws.store` that reads it there are a fence of
      the async proxy in all lanes and, for other warps, an arrival;
    - the thread that stores waits for its stores, before its warp puts the next tile;
    - a fence of the cluster's scope follows a write to another CTA.

    A kernel that violates one of these, or does not end, is an error.

    **Before** and **After** `nvx.mbarrier_wait %full, %parity : !llvm.ptr<3>`
  }];
}

def LowerToNVVM : Pass<"attn-lower-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "turn kernels into gpu.modules of instructions, with their launch plans";
  let description = [{
    **Requires** `ws.kernel`s after `attn-lower-channels`. Those with the same group in
    their `variant` have the same arguments, problem and machine; each is reached by
    some launch, and every launch by one of them. A `launch.sequence` has the launches of one
    call.

    **Ensures** a `gpu.module` for each kernel, group or sequence, with only `nvx` and upstream
    dialects; the roles' registers fit the register file. Before it is its `launch.plan`,
    with a variant for each choice of a kernel for each launch. No `launch.sequence`.
    A product of 256 columns is two instructions a k step, of 128 columns each.
    Each CTA of a cluster copies its share of each shared tile to all of them; the CTAs meet
    before the roles start and at the end.
    With `knob launch dependent` all threads wait for the previous launch once barriers are set
    up, and the last role that loads lets the next launch start when it ends.

    **Before** `ws.kernel @f machine "sm_90a" ... { ws.role @load ... ws.role @wg ... }`
    **After**
    ```mlir
    launch.plan @f target "sm_90a" ... { ... launch.kernel @f ... }
    gpu.module @f [#nvvm.target<chip = "sm_90a">] {
      llvm.func @f(...) attributes {nvvm.kernel, ...} { ... }
    }
    ```
  }];
  let dependentDialects = ["::attn::launch::LaunchDialect", "::attn::nvx::NvxDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::gpu::GPUDialect", "::mlir::vector::VectorDialect"];
}

def VerifyResources : Pass<"attn-verify-resources", "::mlir::ModuleOp"> {
  let summary = "prove that kernels use the resources that were planned for their schedules";
  let description = [{
    A kernel carries the plan of its schedule, on which the judge decided (rules V11 to V14), in
    its attribute `attn.resources`. This pass counts the same resources in the instructions. The
    number of a warp decides which branches it takes, its registers, and the ids of its barriers.

    **Requires** a `gpu.module` with a launch plan, after `attn-lower-to-nvvm` and before
    `attn-lower-to-llvm`.

    **Ensures** the same IR, in which each function that has `attn.resources`
    - is launched with the planned bytes of shared memory and the planned threads;
    - initializes the planned number of barriers in memory;
    - uses named barriers with ids below the planned number;
    - gives each warp the planned registers.

    A difference is an error that states both values. A function without
    the attribute, from IR that was written by hand, is left alone.

    **Before** and **After**
    ```mlir
    llvm.func @f(...) attributes {attn.resources = {mbarriers = 10, named_barriers = 3, ...}, nvvm.kernel, ...} { ... }
    ```
  }];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

#endif // ATTN_CODEGEN_TARGET_PASSES_TD
