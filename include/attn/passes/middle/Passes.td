// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one CTA's program and its schedule to one program a role.
#ifndef ATTN_PASSES_MIDDLE_PASSES_TD
#define ATTN_PASSES_MIDDLE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Subtile : Pass<"attn-subtile", "::mlir::ModuleOp"> {
  let summary = "cut the owned rows into the sub-tiles of the schedule";
  let description = [{
    After it the program is that of one sub-tile: `tile.subtile_id` says which.
    Steps that compute on registers are cut; loads stay whole, and each sub-tile reads
    its `tile.piece` of them.

    **Requires** kernels with `config` and `schedule`, whose split axis is M and
    whose loaded tiles of that axis are `whole`.

    **Ensures** every register tile has tile_m / sub-tiles rows.

    **Before**
    ```mlir
    %s = tile.step @qk (%q, %k) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<128x128xf32> { ... }
    ```
    **After**
    ```mlir
    %s = tile.step @qk (%q, %k) : (tensor<128x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
    ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x64xbf16>):
      %t = tile.subtile_id
      %p = tile.piece %a[%t] : tensor<128x64xbf16> -> tensor<64x64xbf16>
      ...
    ```
    Does nothing to a kernel whose schedule has no split, or that has been cut.
    Does not change numerics.
    Remark: the number of sub-tiles and their rows.
  }];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

def ResolveLayouts : Pass<"attn-resolve-layouts", "::mlir::ModuleOp"> {
  let summary = "give every register tile its layout";
  let description = [{
    The chip of the schedule's machine says how tiles lie (docs/chips.md): as the results of
    its matrix instructions, a register operand A as that operand. A vector lies as its tile
    without the dimension that it is reduced or broadcast along, and so do all vectors that
    it is computed with. Loaded tiles have no layout: the copy and the instruction that reads
    them agree on theirs.

    **Requires** a schedule for a machine whose chip has a lowering; register tiles of the
    chip's rows (`attn-subtile`).

    **Ensures** every register tile's type has a `#tile.layout`.

    **Before** `tensor<64x128xf32>`
    **After** `tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>`

    A tile that fits no layout is an error that names the tile and what was
    expected; so is a vector that would have an element a row and an element a column. Does not change numerics. Remark: the register operands converted.
  }];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

def WarpSpecialize : Pass<"attn-warp-specialize", "::mlir::ModuleOp"> {
  let summary = "one program a role, with channels between them";
  let description = [{
    Binds the schedule and plans each role as `attn-verify-schedule` does, and writes the plan
    down: the acts before and after the loop as ops, and the loop as a `ws.for`, whose entries
    have slots and shifts, name the MMAs after which they run and the slots that they release.
    With `skip right` each replica of the role that has one a sub-tile starts at the last block
    with keys of its own rows; those before are a range of kind `skipped`. A role without
    replicas can list stores a sub-tile at a time, of what the replicas of another role put.

    **Requires** laid-out kernels with a verified schedule.

    **Ensures** no `tile.kernel`; values cross roles through channels alone.

    **Before**
    ```mlir
    tile.kernel @f ... schedule <"x" machine "m" { role load ... chan k = k in smem depth 2 ... }> { tile.work { ... } }
    ```
    **After**
    ```mlir
    ws.kernel @f machine "m" ... {
      ws.channel @k [tensor<128x64xbf16>] depth 2
      ws.role @load warps 1 regs 24 replicas 1 { ... }
      ws.role @wg warps 4 regs 240 replicas 2 { ... }
    }
    ```
    A schedule that the machine has no lowering for is an error (rule V29). Does not change
    numerics. Remark: how many of each it made.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
}

def VerifyRanges : Pass<"attn-verify-ranges", "::mlir::ModuleOp"> {
  let summary = "compute the bounds of streaming loops for many sizes and work items";
  let description = [{
    A range with `at_most` may lack the code for a further block, and a loop whose bounds come in
    the wrong order has no block at all: either would leave keys out, or unmasked, without a word.
    The bounds of every `ws.for` are computed for 96 made-up launches that `attn.checks` and the
    limits of every launch plan accept, and an item, sub-tile and part of each. Sizes are small,
    round the edges of blocks, 0, or next to the largest that is accepted; integer arguments are
    negative too. It is a trial, no proof.

    **Requires** `ws.kernel`s before `attn-pipeline`, which takes ranges apart.

    **Ensures** nothing is changed. Bounds come in the direction of their ranges, and no range has
    more than `at_most` blocks; the error says which sizes and item break it. Bounds and extents of
    ops that no integer arithmetic makes are an error, and so are checks that accept fewer than 8
    of the launches, with the check that refuses most.

    **Example** `ws.for ranges <down [masked at_most 1, full]> bounds(%b#0, %b#1, %b#2)` with
    tile_m = 128, tile_n = 64 and a causal mask:
    ```
    'ws.for' op attn-verify-ranges: expected the blocks of range 0 to be at most 1, got 2
    note: with b = 1, sq = 129, hq = 4, sk = 383, hk = 2, row block 0, head 0, batch 0
    ```
  }];
}

def HandOut : Pass<"attn-hand-out", "::mlir::ModuleOp"> {
  let summary = "write out how roles and the CTAs of a cluster learn of work items";
  let description = [{
    Verdicts: a kernel with a `tile.reject` gets a `ws.verdict`, to which each of them becomes a
    `ws.give_verdict`. With `work = grid` every role ends the item with a `ws.second_run`: it takes
    the verdict there. With `work = dynamic` the role that hands items out takes it, and a
    rejected item is handed out once more.

    Handing out (`work = dynamic`): `tile.next_work` becomes the counter's answer
    (`ws.take_item`) and the choice between it and a rejected item (`ws.choose_item`). In a
    cluster its first CTA does so, in a `ws.share_work`, and sends the item to the `ws.mailbox` of
    each other.

    **Requires** `ws.kernel`s with roles, before `attn-pipeline` or after it. An item is rejected
    only with `work = grid` or `dynamic`. One role has a `tile.next_work` with `work = dynamic`.

    **Ensures** no `tile.reject`, and no `tile.next_work` in a loop of items that are handed out.

    **Before**
    ```mlir
    ws.work_loop extents(%b, %h, %z) {
      %w = tile.next_work extents(%b, %h, %z)
      %s = ws.acquire : !ws.slot<@work, tensor<4xi32>>
      ws.put_work %w to %s : !ws.slot<@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work after %w
    }
    ```
    **After**
    ```mlir
    ws.work_loop extents(%b, %h, %z) {
      %next = ws.take_item extents(%b, %h, %z)
      %w = ws.choose_item %next by @verdict
      %s = ws.acquire : !ws.slot<@work, tensor<4xi32>>
      ws.put_work %w to %s : !ws.slot<@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work after %w
    }
    ```
    Kernels with neither are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
}

def PlanMemory : Pass<"attn-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every channel and hold its place in shared memory";
  let description = [{
    Places follow one another in the order of the schedule, aligned to 1024
    bytes. After them come channels of work items, barriers, the verdict and the mailbox. A
    place `over` another begins where its host does; the order that such an alias demands has
    been proved by the schedule's verifier.

    **Requires** `ws.kernel`s.

    **Ensures** every channel, hold, `ws.verdict` and `ws.mailbox` has an `offset`;
    `smem_bytes` is set and, with the barriers, verdict and mailbox, within the machine's limit.

    **Before** `ws.channel @k [tensor<128x64xbf16>] depth 2`
    **After** `ws.channel @k [tensor<128x64xbf16>] depth 2 at 16384`

    Remark: the bytes used.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
}

def Pipeline : Pass<"attn-pipeline", "::mlir::ModuleOp"> {
  let summary = "expand the modulo schedule of each role";
  let description = [{
    The first time step is the prologue, then come steady loops, then the epilogue. With
    knob `peel first_masked` there is one loop a range: masked entries exist in masked
    ones only. With `first_branch` there is one for all ranges, in which masked entries
    run under a branch on the step's number. A masked range whose bounds say that the
    prologue is all of it has no loop; with `first_branch` the prologue branches then, if no
    other range is masked. With `first` the only loop runs masked
    entries in all steps. Carried values,
    slots and results of earlier times travel through the loops. An entry awaits the MMAs that
    it names, as far as they are in flight; the end of a step of time awaits the others. Slots are
    released where the loop says so: at the end of an entry, or of its MMA. The regions
    `skipped`, `drain` and `empty` become a loop before the prologue, ops before the epilogue
    and the branch for no blocks.

    **Requires** `ws.for` loops with shifts of at most 1, whose masked entries read no slot.

    **Ensures** no `ws.for`, `ws.entry` or `ws.await_step`; every MMA is awaited in
    the block that issues it; every slot waited for is released once.

    **Before** `ws.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(...) { ws.entry @qk slot 1 shift 0 ... }`
    **After**, with `first_masked`
    ```mlir
    %r = scf.if %nonempty {
      // prologue
      %a = scf.for %t = %one to %m iter_args(...) { /* masked copy */ }
      %b = scf.for %t = %m to %n iter_args(...) { /* full copy */ }
      // epilogue
    } else { ... }
    ```
    Does not change numerics. Remark: for each loop, its role and the copies of its body.
  }];
  let dependentDialects = ["::attn::ws::WsDialect", "::mlir::scf::SCFDialect"];
}

def DropZeroScaling : Pass<"attn-drop-zero-scaling", "::mlir::ModuleOp"> {
  let summary = "do not scale zeros by factors that are finite and not negative";
  let description = [{
    +0 times such a factor is +0, which upstream folds cannot know. The first step of an
    online softmax scales zeros by exp2(m - max(m, m')) with a finite constant m.

    A factor is known to be finite and not negative if it is such a constant, `math.exp2` of
    what is at most 0, what two branches yield that are known, or `tile.broadcast` of one
    that is known. At most 0, and no NaN, are: such a constant; a - max(a, b) or
    a - max(b, a) with a finite constant a, whatever b is; min(a, b) with a known b; and
    what is selected of two that are known. A branch that yields these zeros either way is
    replaced by them.

    **Requires** nothing.

    **Ensures** no `arith.mulf` in a `ws.kernel` has the constant +0 on its left and a factor
    on its right that is known.

    **Before**
    ```mlir
    %d = arith.subf %lowest, %max : tensor<64xf32> // %max = maxnumf(%scores, %lowest)
    %f = math.exp2 %d : tensor<64xf32>
    %all = tile.broadcast %f dim 1 : tensor<64xf32> -> tensor<64x64xf32>
    %o = arith.mulf %zeros, %all : tensor<64x64xf32>
    %r, %t = ws.mma %p, %v acc(%o : tensor<64x64xf32>) ...
    ```
    **After**
    ```mlir
    %r, %t = ws.mma %p, %v acc(%zeros : tensor<64x64xf32>) ...
    ```
    Does not change numerics.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
}

def StartFresh : Pass<"attn-start-fresh", "::mlir::ModuleOp"> {
  let summary = "let the first product of a loop write its accumulator, not add to zeros";
  let description = [{
    An accumulator that enters a loop as zeros, and that MMAs alone touch until it has been
    through all loops that follow one another, enters as poison. Each MMA on its way is
    `fresh` in the first step of the first loop, and behind the loops if no step ran. An MMA
    whose accumulator is the constant +0 has none.

    **Requires** `ws.kernel`s after `attn-pipeline`: a loop that begins where another ended
    runs after it, and ends no earlier than it begins.

    **Ensures** no `ws.mma` adds to constant zeros.

    **Before**
    ```mlir
    %o = scf.for %t = %one to %n step %one iter_args(%acc = %zeros) {
      %r, %token = ws.mma %p, %v acc(%acc : tensor<64x64xf32>) ...
    ```
    **After**
    ```mlir
    %o = scf.for %t = %one to %n step %one iter_args(%acc = %poison) {
      %first = arith.cmpi eq, %t, %one : i32
      %r, %token = ws.mma %p, %v acc(%acc : tensor<64x64xf32>) fresh(%first) ...
    ```
    Does not change numerics.
  }];
  let dependentDialects = ["::attn::ws::WsDialect", "::mlir::ub::UBDialect"];
}

def OverlapLastProduct : Pass<"attn-overlap-last-product", "::mlir::ModuleOp"> {
  let summary = "compute what follows a loop while its last product is in flight";
  let description = [{
    Ops behind a branch that has a `ws.await` move in front of the last one and into the
    other region, if they are free of effects, do not read what comes with that await or
    after it, and some result of the branch reaches them. What repeats a value
    (`tile.broadcast`, `tensor.splat`) stays: it costs nothing where it is used, and a tile
    would leave the branch instead of the value.

    **Requires** `ws.kernel`s after `attn-pipeline`.

    **Ensures** the order of what has effects is as before.

    **Before**
    ```mlir
    %o, %sum = scf.if %nonempty -> (tensor<64x64xf32>, f32) {
      // steps
      %done = ws.await %r, %t : tensor<64x64xf32>
      scf.yield %done, %l
    } else {
      scf.yield %zeros, %none
    }
    %inverse = arith.divf %one, %sum : f32
    ```
    **After**
    ```mlir
    %o, %sum, %inverse = scf.if %nonempty -> (tensor<64x64xf32>, f32, f32) {
      // steps
      %i = arith.divf %one, %l : f32
      %done = ws.await %r, %t : tensor<64x64xf32>
      scf.yield %done, %l, %i
    } else {
      %i = arith.divf %one, %none : f32
      scf.yield %zeros, %none, %i
    }
    ```
    Does not change numerics.
  }];
  let dependentDialects = ["::attn::ws::WsDialect", "::mlir::scf::SCFDialect"];
}

def VerifySync : Pass<"attn-verify-sync", "::mlir::ModuleOp"> {
  let summary = "prove that the roles' programs end, and race for no shared memory";
  let description = [{
    Reads the program of each role as it was emitted, and nothing else: unrolls it into
    its waits, releases, copies, MMAs, puts, stores and their awaits, and runs the roles
    against one another. Shared memory is what `attn-plan-memory` made of it: what
    overlaps conflicts. A run keeps which events happened before which, so that it speaks for
    every order in which each wait sees the same phase of its barrier.

    The work items tried have 0 or 1 block in each range of the loop, 2 or 3 in one, 3 in all, or
    enough to wrap every ring twice; where a CTA runs several items, they come in triples
    a, b, a as well. Option `exhaustive`: items with 0 to 3 blocks in each range, one at a time, in
    pairs and in triples. Items that are handed out are followed by one that
    ends every role. Where sub-tiles skip blocks, each has a block of the first range less than the
    next, as long as there are any. In a cluster the roles of all CTAs run against one
    another, and those of its last CTA skip least. An item that can be rejected is also run a second
    time: at once, or where items are handed out two items later. Verdicts, and the items that the
    CTAs of a cluster share, are waited for, written and read as slots of channels are. Changes
    nothing.

    **Requires** `ws.kernel`s after `attn-hand-out` and `attn-pipeline`.

    **Ensures**
    - V8: what is read from a slot or a piece was written before, for this work item, in the
      cycle that was waited for; slots are read before they are released
    - V9: what is written over was read and written before; MMAs are awaited before what they
      read is released
    - V15: both ends of every channel, edge and turn cycle equally, what is put is
      read, and each verdict given is taken
    - V16, V17: each phase of a barrier has its arrivals once, and completes after all have
      waited for the one before
    - V18: no deadlock
    - V19: what is asynchronous ends before its role does
    - V26: the counter of work items is asked once a turn
    - V28: tiles come together that are of the same rows and columns of their tensors, each
      block of the loop is summed up once, what is stored has seen them all and goes to
      its own rows, batch and head, what a loop or branch makes is used, and each item writes all
      its rows of each result

    **Before**, and refused: K is released while the MMA may still read it
    ```mlir
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    %s, %t = ws.mma %q, %k ...
    ws.release %k : <@k, tensor<128x64xbf16>>
    %done = ws.await %s, %t ...
    ```
    **After** it was mended
    ```mlir
    %done = ws.await %s, %t ...
    ws.release %k : <@k, tensor<128x64xbf16>>
    ```
    An error names the rule, the work items, and where the ops are.
  }];
  let options = [
    Option<"exhaustive", "exhaustive", "bool", "false",
           "try all items with 0 to 3 blocks in each range, in pairs and triples too">
  ];
}

def Instrument : Pass<"attn-instrument", "::mlir::ModuleOp"> {
  let summary = "let the kernel write down when each role does what";
  let description = [{
    Inserts a `ws.stamp` before each op that waits or issues, one `run` where a role goes
    on to compute, and one `item` where a work item begins. The pass is in no pipeline
    but with its option `instrument`.

    **Requires** `ws.kernel`s after `attn-pipeline`.

    **Ensures** a `ws.stamps` in each kernel. Stamps wait for nothing and touch nothing
    that roles share, so `attn-verify-sync` holds as before.

    **Before**
    ```mlir
    %s = ws.wait : <@k, tensor<128x64xbf16>>
    %r, %t = ws.mma %q, %s ...
    ```
    **After**
    ```mlir
    ws.stamp wait "k"
    %s = ws.wait : <@k, tensor<128x64xbf16>>
    ws.stamp mma "k"
    %r, %t = ws.mma %q, %s ...
    ws.stamp run
    ```
    Does nothing to a kernel that has a `ws.stamps`, or whose channels are barriers
    already. A stamp takes a few registers for a moment; `roles` leaves out roles that
    have none to spare. Does not change numerics. Remark: how many stamps.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
  let options = [
    Option<"events", "events", "int64_t", "4096",
           "stamps kept of one replica of a role in one CTA, from 1 to 1048576">,
    Option<"ctas", "ctas", "int64_t", "4",
           "CTAs that stamps are kept of beside the last, from 1 to 64">,
    ListOption<"roles", "roles", "std::string",
               "the roles that get stamps; all if none is named">,
  ];
}

#endif // ATTN_PASSES_MIDDLE_PASSES_TD
