// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one CTA's program and its schedule to one program for each role.
#ifndef ATTN_PASSES_MIDDLE_PASSES_TD
#define ATTN_PASSES_MIDDLE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Subtile : Pass<"attn-subtile", "::mlir::ModuleOp"> {
  let summary = "cut the owned rows into the sub-tiles of the schedule";
  let description = [{
    Afterwards the program is that of one sub-tile, numbered by `tile.subtile_id`.
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
    The chip of the schedule's machine defines the layouts (docs/chips.md): one for results of
    matrix products and the tiles computed with them, and one for an operand A in registers. A
    vector has the layout of its tile without the dimension along which it is reduced or
    broadcast; vectors that are computed from one another have the same layout. Loaded tiles have no layout: the copy and the instruction that reads
    them agree on theirs.

    **Requires** a schedule for a machine whose chip has a lowering, and register tiles with as
    many rows as the chip's (`attn-subtile`).

    **Ensures** every register tile's type has a `#tile.layout`.

    **Before** `tensor<64x128xf32>`
    **After** `tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>`

    A tile that fits no layout is an error that names the tile and what was
    expected. A vector that would need one element a row and one element a column is an
    error too. Does not change numerics. Remark: the number of register operands converted.
  }];
  let dependentDialects = ["::attn::tile::TileDialect"];
}

def WarpSpecialize : Pass<"attn-warp-specialize", "::mlir::ModuleOp"> {
  let summary = "write one program for each role, with channels between them";
  let description = [{
    Binds the schedule and plans each role as `attn-verify-schedule` does, and emits the plan:
    the acts before and after the loop as ops, and the loop as a `ws.for`, whose entries have
    slots and shifts, and name the MMAs after which they run and the slots that they release.
    With `skip right`, each replica of the role that has one replica for each sub-tile starts at the last block
    with keys of its own rows; the blocks before it are a range of kind `skipped`. With `skip both` it
    also ends at the first such block, if rows have first keys. A role without
    replicas can store what the replicas of another role put, one sub-tile at a time.

    **Requires** laid-out kernels with a verified schedule.

    **Ensures** no `tile.kernel`; values cross roles through channels alone; each kernel has the
    plan of its schedule's resources in `attn.resources`.

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
    numerics. Remark: the numbers of roles, channels, holds, edges, turns and rendezvous.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
}

def VerifyRanges : Pass<"attn-verify-ranges", "::mlir::ModuleOp"> {
  let summary = "compute the bounds of streaming loops for many sizes and work items";
  let description = [{
    A range with `at_most` may have no code for further blocks, and a loop whose bounds are in
    the wrong order runs no block: either would silently leave out keys, or leave them unmasked.
    The bounds of every `ws.for` are computed for 96 invented launches that `attn.checks` and the
    limits of every launch plan accept, for one item, sub-tile and part of each. Sizes are small,
    at the edges of blocks, 0, or next to the largest that is accepted; integer arguments may be
    negative. This is a test, not a proof.

    **Requires** `ws.kernel`s before `attn-pipeline`, which takes ranges apart.

    **Ensures** the IR is unchanged, bounds are in the direction of their ranges, no range has
    more than `at_most` blocks, and each item has one gap of at least 0 blocks in all `tile.skip`,
    as far as the launches show; an error names the sizes and the item.
    Bounds and extents that are not computed by integer arithmetic are an error. So are checks that accept fewer than 8
    of the launches; the error names the check that refuses most.

    **Example** `ws.for ranges <down [masked at_most 1, full]> bounds(%b#0, %b#1, %b#2)` with
    tile_m = 128, tile_n = 64 and a causal mask:
    ```
    'ws.for' op attn-verify-ranges: expected the blocks of range 0 to be at most 1, got 2
    note: with b = 1, sq = 129, hq = 4, sk = 383, hk = 2, row block 0, head 0, batch 0
    ```
  }];
}

def HandOut : Pass<"attn-hand-out", "::mlir::ModuleOp"> {
  let summary = "lower how roles and the CTAs of a cluster get work items";
  let description = [{
    Verdicts: a kernel with a `tile.reject` gets a `ws.verdict`, and each `tile.reject` becomes a `ws.give_verdict` to
    it. With `work = grid` every role ends the item with a `ws.second_run`, which
    takes the verdict. With `work = dynamic` the role that hands items out takes it, and hands a
    rejected item out again.

    Handing out (`work = dynamic`): `tile.next_work` becomes `ws.take_item`, which asks the
    counter, and `ws.choose_item`, which chooses between that item and a rejected one. In a
    cluster the first CTA does so, in a `ws.share_work`, and sends the item to the `ws.mailbox` of
    every other CTA.

    **Requires** `ws.kernel`s with roles, before `attn-pipeline` or after it. An item is rejected
    only with `work = grid` or `dynamic`. With `work = dynamic`, one role alone has a
    `tile.next_work`.

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
    Kernels without a `tile.reject` whose work is not `dynamic` are left alone. Does not change numerics.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
}

def PlanMemory : Pass<"attn-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every channel and hold its place in shared memory";
  let description = [{
    Places follow one another in the order of the schedule, aligned to 1024
    bytes. After them come channels of work items, barriers, the verdict and the mailbox. A
    place `over` another has the offset of its host; `attn-verify-schedule` has proved the order
    that such an overlap needs.

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
    run under a branch on the number of the time step. A masked range that, by its bounds, ends with the prologue has no loop. In that case, and if
    no other range is masked, `first_branch` makes the prologue branch. With `first` the only loop runs masked entries in all time steps.
    `shifted_branch` is as `first_branch`, but a loop in which no entry has a shift or runs once has no prologue: the steady loop
    begins with the first time step.
    Carried values, slots and results of earlier time steps become iteration arguments. An entry
    awaits the MMAs that it names, if they are in flight; the end of a time step awaits the others. Slots are
    released where the `ws.for` says: at the end of an entry, or of its MMA. The region
    `skipped` becomes a loop before the prologue, or after the epilogue for a last range; `drain`
    becomes ops before the epilogue, and `empty` the branch for no blocks.

    **Requires** `ws.for` loops with shifts of at most 1, whose masked entries read no slot.

    **Ensures** no `ws.for`, `ws.entry` or `ws.await_step`; every MMA is awaited in
    the block that issues it; every slot waited for is released once.

    **Before** `ws.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(...) { ws.entry @qk issue 1 shift 0 ... }`
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
    +0 times such a factor is +0, but upstream folds do not know the factor. The first step of
    an online softmax scales zeros by exp2(m - max(m, m')) with a finite constant m.

    A factor is known to be finite and not negative if it is such a constant, `math.exp2` of
    a value known to be at most 0, the result of a branch whose sides both yield known factors, or
    `tile.broadcast` of a known factor. A value is known to be at most 0 and not NaN if it is such a
    constant; a - max(a, b) or a - max(b, a) with a finite constant a, whatever b is; min(a, b)
    with a known b; or a select of two known values. A branch that yields these zeros on both
    sides is replaced by them.

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
    An accumulator that enters a chain of loops as zeros, and that only MMAs use before the end
    of the last loop, enters as poison. Each of these MMAs is `fresh` in the first iteration of
    the first loop, and after the loops if there was no iteration. An MMA whose accumulator is the
    constant +0 gets no accumulator.

    **Requires** `ws.kernel`s after `attn-pipeline`: a loop whose first iteration has the number
    at which another loop ended runs after that loop, and no loop ends before it begins.

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
    Ops after a branch that has a `ws.await` move into both of its regions: in the one with the await, before its last
    await; in the other, to its end. An op moves if it has no effects, does not depend on that await or anything after it,
    and depends on some result of the branch. Ops that repeat a value (`tile.broadcast`, `tensor.splat`) stay:
    they cost nothing where they are used, and would turn a result of the branch into a tile.

    **Requires** `ws.kernel`s after `attn-pipeline`.

    **Ensures** ops with effects keep their order.

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
  let summary = "prove that the roles' programs end, and do not race for shared memory";
  let description = [{
    Reads the emitted program of each role, and nothing else: unrolls it into its waits,
    releases, copies, MMAs, puts, stores and their awaits, and runs the roles against one
    another. Places conflict if their memory overlaps, by the offsets of `attn-plan-memory`. A run records which events happened before which, so it stands for every order of
    events in which each wait sees the same phase of its barrier.

    The work items tried have 0 or 1 block in each range of the loop, 2 or 3 in one, 3 in all, or
    enough to wrap every ring twice; where a CTA runs several items, they come in triples
    a, b, a as well. Option `exhaustive`: items with 0 to 3 blocks in each range, one at a time, in
    pairs and in triples. Items that are handed out are followed by one that ends every role.
    If sub-tiles skip blocks, each sub-tile has one block of the first range less than the next
    sub-tile, as far as there are blocks, and one of the last range more if they skip on both sides. In a cluster the roles of all CTAs run against one another, and those
    of its last CTA skip least. An item that can be rejected is also run a second time: at once,
    or two items later if items are handed out. Verdicts, and the items that the CTAs of a
    cluster share, are waited for, written and read like slots of channels. The IR is not
    changed.

    **Requires** `ws.kernel`s after `attn-hand-out` and `attn-pipeline`.

    **Ensures**
    - V8: a slot or piece was written before it is read, for this work item, in the cycle that
      was waited for; a slot is read before it is released
    - V9: memory was written and read before it is overwritten; MMAs are awaited before what
      they read is released
    - V15: both ends of every channel, edge and turn run the same number of cycles, every tile that
      is put is read, and every verdict that is given is read
    - V16, V17: each phase of a barrier has its arrivals once, and completes after all roles have
      waited for the previous phase
    - V18: there is no deadlock
    - V19: asynchronous operations end before their role does
    - V26: the counter of work items is asked once an iteration of the work loop
    - V28: tiles that are combined come from the same rows and columns of their tensors; each block
      of the loop is added once; a result is stored after all blocks, to its own rows, batch and
      head; results of loops and branches are used; and each item writes all its rows of each
      result

    **Before**, and refused: K is released while the MMA may still read it
    ```mlir
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    %s, %t = ws.mma %q, %k ...
    ws.release %k : <@k, tensor<128x64xbf16>>
    %done = ws.await %s, %t ...
    ```
    **After**, corrected
    ```mlir
    %done = ws.await %s, %t ...
    ws.release %k : <@k, tensor<128x64xbf16>>
    ```
    An error names the rule, the work items, and the locations of the ops.
  }];
  let options = [
    Option<"exhaustive", "exhaustive", "bool", "false",
           "try all items with 0 to 3 blocks in each range, in pairs and triples too">
  ];
}

def Instrument : Pass<"attn-instrument", "::mlir::ModuleOp"> {
  let summary = "make the kernel record when each role does what";
  let description = [{
    Inserts a `ws.stamp` before each op that waits or issues, one `run` where a role continues
    to compute, and one `item` where a work item begins. Pipelines have the pass only with their
    option `instrument`.

    **Requires** `ws.kernel`s after `attn-pipeline`.

    **Ensures** a `ws.stamps` in each kernel; of the launches of a call (`launch.sequence`), in the kernels of the first with
    the most replicas of roles. Stamps wait for nothing and access nothing
    that roles share, so the result of `attn-verify-sync` still holds. `attn.resources`, if the
    kernel has it, includes their words in shared memory, which fit the machine.

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
    already. A stamp needs a few registers for a short time; with `roles`, roles that have none
    to spare can be left out. Does not change numerics. Remark: the number of stamps.
  }];
  let dependentDialects = ["::attn::ws::WsDialect"];
  let options = [
    Option<"events", "events", "int64_t", "4096",
           "stamps kept of one replica of a role in one CTA, from 1 to 1048576">,
    Option<"ctas", "ctas", "int64_t", "4",
           "CTAs of which stamps are kept, besides the last one, from 1 to 64">,
    ListOption<"roles", "roles", "std::string",
               "the roles that get stamps; all if none is named">,
  ];
}

#endif // ATTN_PASSES_MIDDLE_PASSES_TD
