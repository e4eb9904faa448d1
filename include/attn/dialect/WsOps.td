// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level L2: roles, channels between them, and linear async tokens.
#ifndef ATTN_DIALECT_WSOPS_TD
#define ATTN_DIALECT_WSOPS_TD

include "attn/dialect/ArgumentAttrs.td"
include "attn/dialect/TileTypes.td"
include "attn/dialect/VariantAttrs.td"
include "attn/dialect/WsEnums.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ws_Dialect : Dialect {
  let name = "ws";
  let cppNamespace = "::attn::ws";
  let summary = "Roles of warps, channels between them, and linear async tokens";
  let description = [{
    Level L2. A `ws.kernel` declares its channels, holds, edges, turns and
    rendezvous, and one program a role. Arrival counts, phases, byte counts and addresses
    are absent: `attn-lower-channels` derives them.

    Before `attn-pipeline` the streaming loop is a `ws.for` of `ws.entry`s in the
    schedule's order; after it, plain `scf` loops in issue order.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
}

class Ws_Type<string name, string typeMnemonic> : TypeDef<Ws_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def Ws_SlotType : Ws_Type<"Slot", "slot"> {
  let summary = "one slot of a channel, with what it carries: a tile or a work item; or a piece of a hold";
  let description = [{
    **Constraints**
    - C1: the tile is a static 16-bit tile of rank 2, or tensor<4xi32>: a work item
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$channel, "::mlir::RankedTensorType":$tile);
  let extraClassDeclaration = [{
    /// What a slot of work items carries.
    static ::mlir::RankedTensorType workItemType(::mlir::MLIRContext *context);
  }];
  let assemblyFormat = "`<` $channel `,` $tile `>`";
  let genVerifyDecl = 1;
}
def Ws_TokenType : Ws_Type<"Token", "token"> {
  let summary = "an asynchronous op in flight";
}

class Ws_Op<string opMnemonic, list<Trait> traits = []> : Op<Ws_Dialect, opMnemonic, traits>;

// Shared memory and everything that orders accesses to it are one resource, which each of
// these ops reads and writes: none may be dropped, doubled, or moved across another.
def Ws_Shared : Resource<"::attn::ws::SharedResource">;
class Ws_SharedOp<string opMnemonic, list<Trait> traits = [], list<MemoryEffect> others = []>
    : Ws_Op<opMnemonic, !listconcat(traits,
        [MemoryEffects<!listconcat([MemRead<Ws_Shared>, MemWrite<Ws_Shared>], others)>])>;

def Ws_CountAttr : ConfinedAttr<I64Attr, [IntPositive]>;
def Ws_NumberAttr : ConfinedAttr<I64Attr, [IntNonNegative]>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Ws_KernelOp : Ws_Op<"kernel", [IsolatedFromAbove, Symbol, SymbolTable, NoTerminator, SingleBlock]> {
  let summary = "a kernel for one machine: declarations and one program a role";
  let description = [{
    The arguments are whole tensors and scalars, described by `args` as in `tile.kernel`.
    `smem_bytes` is set by `attn-plan-memory`.

    **Constraints**
    - C1: as many `args` as arguments; as many names of dimensions, if any, as dimensions
    - C2: at least one role
    - C3: declarations, `ws.setup`, roles and pure scalar ops alone
    - C4: a slot's channel is a `ws.channel` of the kernel that carries its tile; that of
      a `ws.held` is a `ws.hold`, whose tile it has, and nothing fills or releases it
    - C5: `ws.put` and `ws.store` name a `ws.hold`; a tile put has its type, and the
      tensor stored to its element type and columns
    - C6: `ws.take` and `ws.give` name a `ws.turn`, `ws.sync` a `ws.rendezvous`, all in
      the role of its ring; `ws.signal` and `ws.wait_edge` name a `ws.edge`
    - C7: the ring of a turn or rendezvous is a role
    - C8: a place lies over another channel or hold of the kernel
    - C9: items are handed out with `work = dynamic`, by one `ws.take_item`, in a work loop of
      a role that one thread runs; in a cluster in a `ws.share_work`; with `cut` if
      `last_wave_parts` is more than 1
    - C10: a `tile.reject` or `ws.give_verdict` is an op of a work loop
    - C11: ops on verdicts name a `ws.verdict`, `ws.share_work` a `ws.mailbox`; there is at
      most one of each
    - C12: an argument that is stored to is one to write; one that is added to
      (`tile.reduce_add`) is one to accumulate; one that is loaded is one to read
    - C13: with a `ws.verdict`, items are handed out through a `ws.choose_item`, or `work = grid`
      and each work loop ends with a `ws.second_run`; a `ws.second_run` has `work = grid`
    - C14: a `ws.mailbox` is in a cluster whose items are handed out
    - C15: all work loops have the same extents, which are those of each `tile.next_work` and
      `ws.take_item` in them; these have the same `section`
    - C16: only an f32 argument has `from` and `to`
    - C17: where `last_wave_parts` of the config is above 1 there are at most one `tile.cut`, with
      as many `most`, outside of roles, and one `tile.join`; what `ws.take_item` and `tile.join`
      say of parts are results of this `tile.cut`. Otherwise there are none, and no `tile.part_of`
    - C18: `ws.store` has `after_first_run` where there is a `tile.reject` or `ws.give_verdict`,
      and only there
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$machine, Attn_ArgumentsAttr:$args,
    Attn_ProblemAttr:$problem, Attn_ConfigAttr:$config,
    OptionalAttr<Attn_VariantAttr>:$variant, Attn_ScheduleAttr:$schedule,
    OptionalAttr<Ws_NumberAttr>:$smem_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `machine` $machine `args` $args `problem` $problem `config` $config
    (`variant` $variant^)? `schedule` $schedule (`smem` $smem_bytes^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Ws_ChannelOp : Ws_Op<"channel", [Symbol, HasParent<"KernelOp">]> {
  let summary = "a ring of `depth` slots with a full and a free barrier each";
  let description = [{
    `types` are the tiles of its alternatives: each cycle carries one of them. A
    slot is written after `ws.acquire`, read after `ws.wait`, and given back by
    `ws.release`. `full_implied` and `free_implied`: another order proves that a slot
    is full or free. `cluster`: all CTAs of the cluster fill a cycle's slots together, in each
    of them, and it is free when all have released it. `over`: the place whose memory it shares.
    `offset`: first byte in shared memory, set by `attn-plan-memory`.

    **Constraints**
    - C1: depth is at least 1, `offset` at least 0
    - C2: at least one type, all static 16-bit tiles of rank 2; or tensor<4xi32> alone,
      for work items

    **Example** `ws.channel @k [tensor<128x64xbf16>] depth 2`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$types, Ws_CountAttr:$depth,
    UnitAttr:$full_implied, UnitAttr:$free_implied, UnitAttr:$cluster,
    OptionalAttr<FlatSymbolRefAttr>:$over, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = [{
    $sym_name $types `depth` $depth (`full_implied` $full_implied^)? (`free_implied` $free_implied^)?
    (`cluster` $cluster^)?
    (`over` $over^)? (`at` $offset^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Does it carry work items?
    bool carriesWork();
    /// Bytes to a multiple of which the ring's first is aligned.
    int64_t getAlignment();
    /// Bytes from one slot to the next in shared memory.
    int64_t getSlotBytes();
    /// Bytes of the whole ring.
    int64_t getBytes() { return getSlotBytes() * static_cast<int64_t>(getDepth()); }
  }];
}
def Ws_HoldOp : Ws_Op<"hold", [Symbol, HasParent<"KernelOp">]> {
  let summary = "shared memory for a tile, one piece a replica, without barriers";
  let description = [{
    A role writes its own piece (`ws.put`) and copies it out (`ws.store`), or lets a
    matrix instruction read it (`ws.held`).

    **Constraints**
    - C1: `pieces` is at least 1, `offset` at least 0
    - C2: the type is a static 16-bit tile of rank 2

    **Example** `ws.hold @oe tensor<64x64xbf16> pieces 2`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type, Ws_CountAttr:$pieces,
    OptionalAttr<FlatSymbolRefAttr>:$over, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = [{
    $sym_name $type `pieces` $pieces (`over` $over^)? (`at` $offset^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes from one piece to the next in shared memory.
    int64_t getPieceBytes();
    /// Bytes of all pieces.
    int64_t getBytes() { return getPieceBytes() * static_cast<int64_t>(getPieces()); }
  }];
}
def Ws_EdgeOp : Ws_Op<"edge", [Symbol, HasParent<"KernelOp">]> {
  let summary = "order without data; the first `credits` waits pass";
  let description = [{
    `cluster`: signalled by all CTAs of the cluster to all of them.

    **Constraints**
    - C1: `credits` is at least 0
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Ws_NumberAttr:$credits, UnitAttr:$cluster);
  let assemblyFormat = "$sym_name `credits` $credits (`cluster` $cluster^)? attr-dict";
}
def Ws_TurnOp : Ws_Op<"turn", [Symbol, HasParent<"KernelOp">]> {
  let summary = "a ring of edges between the replicas of a role, primed at replica 0";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$ring);
  let assemblyFormat = "$sym_name `ring` $ring attr-dict";
}
def Ws_RendezvousOp : Ws_Op<"rendezvous", [Symbol, HasParent<"KernelOp">]> {
  let summary = "a meeting point of all replicas of a role";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$ring);
  let assemblyFormat = "$sym_name `ring` $ring attr-dict";
}
def Ws_SetupOp : Ws_Op<"setup", [RecursiveMemoryEffects, NoTerminator, SingleBlock, NoRegionArguments, HasParent<"KernelOp">]> {
  let summary = "what one thread does before the roles start";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
def Ws_RoleOp : Ws_Op<"role", [RecursiveMemoryEffects, Symbol, NoTerminator, SingleBlock, HasParent<"KernelOp">]> {
  let summary = "the program of a role; its argument is the replica's number (i32)";
  let description = [{
    `replicas` copies of `warps` warps run it, each thread with `regs` registers. Where all
    that it does is asynchronous, one thread runs it: copies, and stores of what another
    role puts.

    **Constraints**
    - C1: one block argument, i32
    - C2: `warps` and `replicas` are at least 1, `regs` at least 0
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Ws_CountAttr:$warps, Ws_NumberAttr:$regs, Ws_CountAttr:$replicas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `warps` $warps `regs` $regs `replicas` $replicas attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Is all its work asynchronous, so that one thread runs it?
    bool isSingleThread();
  }];
}
def Ws_ForOp : Ws_Op<"for", [SingleBlock, AttrSizedOperandSegments]> {
  let summary = "the streaming loop as entries: a modulo schedule";
  let description = [{
    For time t = 0 .. n - 1 + (largest shift), an entry with shift s runs iteration
    t - s if that exists; entries of one time run in the order of their slots.
    The text is in the order (shift, slot), which dataflow permits. The block
    number (i32) is the region's first argument, then come the carried
    values. What is in flight at the end of a step of time is awaited there.

    The other regions may be absent. `skipped` runs for each block of the range of that kind,
    `drain` before the first step of time in which no entry of shift 0 runs, and
    `empty` instead of all that where there is no block.

    **Constraints**
    - C1: entries with different slots and a `ws.yield` alone in the body
    - C2: one more bound than ranges; those that are results of a `tile.bounds` follow its order,
      and it has the direction of the ranges. The first range alone may be skipped: blocks
      whose slots are passed on unread, before time 0
    - C3: masked entries have one shift
    - C4: a value is computed before it is read, in time
    - C5: block arguments are i32 and the types of `inits`; results and yielded
      values have those types
    - C6: `ws.await_step` and `after` name entries of the loop that hold a `ws.mma`
    - C7: the other regions have no arguments and yield nothing; there is `skipped` where
      a range has that kind, and `drain` only where an entry has a shift
  }];
  let arguments = (ins Variadic<I32>:$bounds, Tile_RangesAttr:$ranges, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$skipped, AnyRegion:$drain, AnyRegion:$empty);
  let assemblyFormat = [{
    `ranges` $ranges `bounds` `(` $bounds `)` `init` `(` $inits `)` attr-dict-with-keyword
    `:` functional-type($inits, $results_) $body
    (`skipped` $skipped^)? (`drain` $drain^)? (`empty` $empty^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The entry's result behind a value that an entry of shift `readerShift`
    /// reads, and how many steps of time ago it was computed; null for values from
    /// outside the loop.
    std::pair<::mlir::OpResult, int64_t> getSource(::mlir::Value value, int64_t readerShift);
  }];
}
def Ws_EntryOp : Ws_Op<"entry", [SingleBlock, NoRegionArguments, AttrSizedOperandSegments, HasParent<"ForOp">]> {
  let summary = "one entry of a role's body in the streaming loop";
  let description = [{
    `masked`: exists only in the code of masked ranges, elsewhere its result is
    `passthrough`. `guard`: a work-item-level entry pinned in the loop, which runs in
    the first (`once`) or `last` step of time. `after`: entries whose MMAs, if they are in
    flight, are awaited before. `releases`: slots that are given back when what the entry does
    has ended.

    **Constraints**
    - C1: `slot` and `shift` are at least 0
    - C2: the guard is `once` or `last`; a guarded entry has no results
    - C3: a masked entry has one result, of the type of `passthrough`
    - C4: `ws.yield` yields the result types
    - C5: a `ws.await_step` is alone in its entry, which has no `after` and `releases`
    - C6: at most one `ws.mma`
  }];
  let arguments = (ins SymbolNameAttr:$name, Ws_NumberAttr:$slot, Ws_NumberAttr:$shift,
    OptionalAttr<Attn_GuardAttr>:$guard, Optional<AnyType>:$passthrough,
    OptionalAttr<FlatSymbolRefArrayAttr>:$after, Variadic<Ws_SlotType>:$releases);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `slot` $slot `shift` $shift (`guard` $guard^)? (`masked` `(` $passthrough^ `:` type($passthrough) `)`)?
    (`after` $after^)? (`releases` `(` $releases^ `:` type($releases) `)`)? (`->` type($results_)^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Values that the entry reads from outside of itself, in order.
    ::llvm::SetVector<::mlir::Value> getCaptures();
  }];
}
def Ws_YieldOp : Ws_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ForOp", "EntryOp", "ShareWorkOp"]>]> {
  let summary = "the values of an entry or item, or those carried to the next iteration";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def Ws_AcquireOp : Ws_SharedOp<"acquire"> {
  let summary = "waits until the next slot of a channel is free";
  let description = [{
    Cycle by cycle the slots of the ring follow one another. The slot may then be
    written (`ws.copy`).
  }];
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "attr-dict `:` type($slot)";
}
def Ws_CopyOp : Ws_SharedOp<"copy", [], [MemRead]> {
  let summary = "copies a tile of a tensor into a slot, asynchronously; the slot is full when it has arrived";
  let description = [{
    Rows past the tensor's end arrive as zeros. `map` as for `tile.load`. `shared`:
    other CTAs will read the same tile. `barrier` is set by `attn-lower-channels`.

    **Constraints**
    - C1: the source has rank 4 and a static last dimension
    - C2: `map` is a permutation of 4 dimensions that keeps the last
    - C3: the slot's tile has the source's element type and at least its head dim
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$batch, I32:$head, I32:$row,
    AffineMapAttr:$map, UnitAttr:$shared, Ws_SlotType:$slot, Optional<LLVM_AnyPointer>:$barrier);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` $map (`shared` $shared^)? `to` $slot
    (`barrier` $barrier^)? attr-dict `:` type($source) `,` type($slot) (`,` type($barrier)^)?
  }];
  let hasVerifier = 1;
}
def Ws_WaitOp : Ws_SharedOp<"wait"> {
  let summary = "waits until the next slot of a channel is full";
  let description = [{
    Every role that waits for a channel reads every cycle of it, and releases each
    slot once.
  }];
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "attr-dict `:` type($slot)";
}
def Ws_ReleaseOp : Ws_SharedOp<"release"> {
  let summary = "gives a slot back: this role has read it";
  let description = [{
    What has read the slot asynchronously has been awaited before.
  }];
  let arguments = (ins Ws_SlotType:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

def Ws_MmaOp : Ws_SharedOp<"mma", [AttrSizedOperandSegments]> {
  let summary = "A * B (or A * B^T), added to `acc` where given; in flight until awaited";
  let description = [{
    A is a slot (with `piece`, the 64 rows of that sub-tile) or a register tile; B is a
    slot. After `attn-distribute` register tiles are vectors, and their shapes are
    not looked at. Where `fresh` is true, in all threads, `acc` is not read, and may be
    poison. The token is linear: an MMA is awaited in the block that issues it, except in a
    `ws.entry`, where `attn-pipeline` places the await.

    **Constraints**
    - C1: A is a slot, a tile of rank 2 or a vector; `piece` only with a slot
    - C2: the result is of f32; `acc` has its type; `fresh` only with `acc`
    - C3: A, B and the result agree in element type and shape: M x K times K x N
      (N x K with `transpose_b`) is M x N; a piece has 64 rows of A
    - C4: the token is used once, by a `ws.await` in the same block; in a `ws.entry`,
      not at all
    - C5: outside of a `ws.entry` the result is used by that `ws.await`, or as `acc` of
      another `ws.mma`, alone
    - C6: until that `ws.await`, a register A is used by `ws.mma` alone

    **Effects** reads the slots until awaited.
  }];
  let arguments = (ins AnyType:$a, Optional<I32>:$piece, Ws_SlotType:$b, Optional<AnyType>:$acc,
      Optional<I1>:$fresh, UnitAttr:$transpose_b);
  let results = (outs AnyType:$result, Ws_TokenType:$token);
  let assemblyFormat = [{
    $a (`piece` `(` $piece^ `)`)? `,` $b (`acc` `(` $acc^ `:` type($acc) `)`)?
    (`fresh` `(` $fresh^ `)`)? (`transpose_b` $transpose_b^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Ws_AwaitOp : Ws_SharedOp<"await", [AllTypesMatch<["value", "result"]>]> {
  let summary = "waits for an MMA and passes its result on";
  let description = [{
    **Constraints**
    - C1: the token is that of a `ws.mma`, and the value its result
  }];
  let arguments = (ins AnyType:$value, Ws_TokenType:$token);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `,` $token attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Ws_AwaitStepOp : Ws_SharedOp<"await_step", [HasParent<"EntryOp">]> {
  let summary = "waits here for the MMA of an entry; `attn-pipeline` finds its token";
  let arguments = (ins FlatSymbolRefAttr:$step);
  let assemblyFormat = "$step attr-dict";
}
def Ws_PutOp : Ws_SharedOp<"put"> {
  let summary = "stores a register tile into this replica's piece of a hold";
  let description = [{
    Every thread stores what it holds of the tile.

    **Constraints**
    - C1: the value is a tile or a vector
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyVectorOfNonZeroRank]>:$value, FlatSymbolRefAttr:$hold, I32:$piece);
  let assemblyFormat = "$value `in` $hold `[` $piece `]` attr-dict `:` type($value)";
}
def Ws_HeldOp : Ws_Op<"held", [Pure]> {
  let summary = "the tile that this replica has put into its piece of a hold, as operand A of an MMA";
  let description = [{
    A warp reads the rows that it has put itself. The next tile is put after all warps of
    the replica have awaited that MMA.

    **Constraints**
    - C1: the result is a slot of the hold
  }];
  let arguments = (ins FlatSymbolRefAttr:$hold, I32:$piece);
  let results = (outs Ws_SlotType:$tile);
  let assemblyFormat = "$hold `[` $piece `]` attr-dict `:` type($tile)";
  let hasVerifier = 1;
}
def Ws_StoreOp : Ws_SharedOp<"store", [], [MemWrite]> {
  let summary = "copies a piece of a hold to a tensor, asynchronously";
  let description = [{
    All threads of the role have put their share before; where another role puts the tile,
    it has, and has signalled an edge that this role has waited for. Rows past the tensor's
    end are dropped.

    `after_first_run`: the work item. Where it is computed with care, the store waits until the
    role's stores before it have arrived: those of the first run go to the same rows.

    **Constraints**
    - C1: the destination has rank 4 and a static last dimension
    - C2: `map` is a permutation of 4 dimensions that keeps the last
  }];
  let arguments = (ins FlatSymbolRefAttr:$hold, I32:$piece, AnyRankedTensor:$dest, I32:$batch,
    I32:$head, I32:$row, AffineMapAttr:$map, Optional<Tile_WorkType>:$first_run);
  let assemblyFormat = [{
    $hold `[` $piece `]` `,` $dest `at` `(` $batch `,` $head `,` $row `)` $map
    (`after_first_run` $first_run^)? attr-dict `:` type($dest)
  }];
  let hasVerifier = 1;
}
def Ws_AwaitStoreOp : Ws_SharedOp<"await_store"> {
  let summary = "waits until the role's stores have read shared memory";
  let assemblyFormat = "attr-dict";
}
def Ws_TakeOp : Ws_SharedOp<"take"> {
  let summary = "waits for this replica's turn";
  let arguments = (ins FlatSymbolRefAttr:$turn, I32:$replica);
  let assemblyFormat = "$turn `[` $replica `]` attr-dict";
}
def Ws_GiveOp : Ws_SharedOp<"give"> {
  let summary = "gives the turn to the next replica";
  let arguments = (ins FlatSymbolRefAttr:$turn, I32:$replica);
  let assemblyFormat = "$turn `[` $replica `]` attr-dict";
}
def Ws_SignalOp : Ws_SharedOp<"signal"> {
  let summary = "signals an edge";
  let arguments = (ins FlatSymbolRefAttr:$edge);
  let assemblyFormat = "$edge attr-dict";
}
def Ws_WaitEdgeOp : Ws_SharedOp<"wait_edge"> {
  let summary = "waits for the next signal of an edge";
  let arguments = (ins FlatSymbolRefAttr:$edge);
  let assemblyFormat = "$edge attr-dict";
}
def Ws_SyncOp : Ws_SharedOp<"sync"> {
  let summary = "meets all replicas of the role";
  let arguments = (ins FlatSymbolRefAttr:$rendezvous);
  let assemblyFormat = "$rendezvous attr-dict";
}
def Ws_SmemOp : Ws_Op<"smem", [Pure]> {
  let summary = "the address of a byte of the CTA's shared memory";
  let arguments = (ins I32:$offset);
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = "$offset attr-dict `:` type($address)";
}
def Ws_SlotOffsetOp : Ws_Op<"slot_offset", [Pure]> {
  let summary = "the first byte of a slot's tile in shared memory";
  let arguments = (ins Ws_SlotType:$slot);
  let results = (outs I32:$offset);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}
def Ws_SlotAtOp : Ws_Op<"slot_at", [Pure]> {
  let summary = "a channel's slot by the first byte of its tile in shared memory";
  let arguments = (ins I32:$offset);
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "$offset attr-dict `:` type($slot)";
}

include "attn/dialect/WsWorkOps.td"
include "attn/dialect/WsStampOps.td"

#endif // ATTN_DIALECT_WSOPS_TD
