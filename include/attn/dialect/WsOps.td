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
    rendezvous, and has one program for each role. It has no arrival counts, phases, byte
    counts or addresses: `attn-lower-channels` derives them.

    Before `attn-pipeline` the streaming loop is a `ws.for` of `ws.entry` ops in the
    schedule's order; after it, it is plain `scf` loops in issue order.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
}

class Ws_Type<string name, string typeMnemonic> : TypeDef<Ws_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def Ws_SlotType : Ws_Type<"Slot", "slot"> {
  let summary = "one slot of a channel, which holds a tile or a work item; or one piece of a hold";
  let description = [{
    **Constraints**
    - C1: the tile is a static tile of rank 2, of 16-bit elements; or a static row vector of f32, or
      tensor<4xi32>: a work item
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$channel, "::mlir::RankedTensorType":$tile);
  let extraClassDeclaration = [{
    /// The type of a work item in a slot.
    static ::mlir::RankedTensorType workItemType(::mlir::MLIRContext *context);
    bool carriesRows() { return getTile().getRank() == 1 && getTile().getElementType().isF32(); }
  }];
  let assemblyFormat = "`<` $channel `,` $tile `>`";
  let genVerifyDecl = 1;
}
def Ws_TokenType : Ws_Type<"Token", "token"> {
  let summary = "an asynchronous op in flight";
}

// A tile of a hold or channel; a slot of tiles, or of work items.
def Ws_SmemTile : Type<
    And<[Tile_Tile.predicate, HasStaticShapePred,
         CPred<"::mlir::getElementTypeOrSelf($_self).isIntOrFloat()">,
         CPred<"::mlir::getElementTypeOrSelf($_self).getIntOrFloatBitWidth() == 16">]>,
    "static 16-bit tile of rank 2", "::mlir::RankedTensorType">;
def Ws_HeldTile : Type<
    And<[Tile_Tile.predicate, HasStaticShapePred,
         Or<[Ws_SmemTile.predicate, CPred<"::mlir::getElementTypeOrSelf($_self).isF32()">]>]>,
    "static tile of rank 2, of 16-bit elements or f32", "::mlir::RankedTensorType">;
class Ws_SlotOf<string predicate, string text> : Type<
    And<[Ws_SlotType.predicate, CPred<"::llvm::cast<::attn::ws::SlotType>($_self)." # predicate>]>,
    text, "::attn::ws::SlotType">;
def Ws_TileSlot : Ws_SlotOf<"getTile().getRank() == 2", "slot of tiles">;
def Ws_RowSlot : Ws_SlotOf<"carriesRows()", "slot of row vectors">;
def Ws_CopiedSlot : Ws_SlotOf<"getTile().getElementType().isFloat()", "slot of tiles or row vectors">;
def Ws_ItemSlot : Ws_SlotOf<"getTile().getElementType().isInteger()", "slot of work items">;
// Values that entries of a loop pass on, and values that are yielded.
def Ws_EntryValue : AnyTypeOf<[AnyRankedTensor, Tile_Scalar, Ws_SlotType], "tile, number or slot">;
def Ws_AnyValue : AnyTypeOf<[AnyRankedTensor, Tile_Scalar, Ws_SlotType, Tile_WorkType],
  "tile, number, slot or work item">;

class Ws_Op<string opMnemonic, list<Trait> traits = []> : Op<Ws_Dialect, opMnemonic, traits>;

// Shared memory and everything that orders accesses to it are one resource. Each of these ops
// reads and writes it, so that none is dropped, duplicated, or moved across another.
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
  let summary = "a kernel for one machine: declarations, and one program for each role";
  let description = [{
    The arguments are whole tensors and scalars, described by `args` as in `tile.kernel`.
    `smem_bytes` is set by `attn-plan-memory`.

    **Constraints**
    - C1: `args` has one entry for each argument, which names all of its dimensions or none
    - C2: at least one role
    - C3: only declarations, `ws.setup`, roles and pure scalar ops
    - C4: a slot's channel is a `ws.channel` of the kernel that carries its tile; the slot of
      a `ws.held` names a `ws.hold` of that tile, or, without a number, of pieces that
      are the rows of that tile, and nothing fills or releases it
    - C5: `ws.put`, `ws.store` and `ws.reduce_add` name a `ws.hold`; a tile that is put has its type, and the
      destination of a store or an addition has its element type and columns
    - C6: `ws.take` and `ws.give` name a `ws.turn`, `ws.sync` a `ws.rendezvous`, all in
      the role of its ring; `ws.signal` and `ws.wait_edge` name a `ws.edge`
    - C7: the ring of a turn or rendezvous is a role
    - C8: `over` names another channel or hold of the kernel
    - C9: items are handed out only with `work = dynamic`, by one `ws.take_item`, in a work loop
      of a role that one thread runs; in a cluster inside a `ws.share_work`; with `cut` if
      `last_wave_parts` is above 1
    - C10: a `tile.reject` or `ws.give_verdict` is an op of a work loop
    - C11: ops on verdicts name a `ws.verdict`, `ws.share_work` a `ws.mailbox`; there is at
      most one of each
    - C12: a stored argument is declared `write`, one of a `ws.reduce_add`, `tile.reduce_add` or added `tile.scatter` `accumulate`,
      and a loaded one `read`
    - C13: with a `ws.verdict`, items are handed out through a `ws.choose_item`, or `work = grid`
      and each work loop ends with a `ws.second_run`; a `ws.second_run` needs `work = grid`
    - C14: a `ws.mailbox` is in a cluster whose items are handed out
    - C15: all work loops have the same extents, and so do the `tile.next_work` and
      `ws.take_item` ops in them; those have the same `section`
    - C16: only an f32 argument has `from` and `to`
    - C17: if `last_wave_parts` of the config is above 1, there is at most one `tile.cut`, outside
      of roles, with that number as `most`, and one `tile.join`; the operands of `ws.take_item`
      and `tile.join` about parts are results of the `tile.cut`. Otherwise there is no
      `tile.cut`, `tile.join` or `tile.part_of`
    - C18: `ws.store` has `after_first_run` if and only if the kernel has a `tile.reject` or
      `ws.give_verdict`
    - C19: C6 and C7 of `tile.kernel`

    **Example**
    ```mlir
    ws.kernel @one_item machine "sm_90a" args ["x", "n"] problem #problem config #config schedule #schedule {
    ^bb0(%x: tensor<?x?x?x64xbf16>, %n: i32):
      ws.channel @k [tensor<128x64xbf16>] depth 2
      ws.role @load warps 1 regs 24 replicas 1 {
      ^bb0(%replica: i32):
        %slot = ws.acquire : <@k, tensor<128x64xbf16>>
        ws.copy %x at(%n, %n, %n) #bshd to %slot : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      }
      ws.role @wg warps 4 regs 240 replicas 1 {
      ^bb0(%replica: i32):
        %slot = ws.wait : <@k, tensor<128x64xbf16>>
        ws.release %slot : <@k, tensor<128x64xbf16>>
      }
    }
    ```
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
    Each cycle carries a tile of one of the `types`. A slot is written after `ws.acquire`,
    read after `ws.wait`, and freed by `ws.release`. `full_implied` and `free_implied`: other
    synchronization already guarantees that a slot is full or free. `cluster`: each CTA of the
    cluster fills a share of the slot in every CTA, and the slot is free when all CTAs have
    released it. `over`: the channel or hold whose memory it shares. `with`: the channel whose barriers
    it shares. Just before, a role acquires, or waits for, the slot of the same cycle of that channel; a copy into that
    slot announces the bytes of both. `offset`: first byte in shared memory, set by `attn-plan-memory`.

    **Constraints**
    - C1: depth is at least 1, `offset` at least 0
    - C2: at least one type, all static 16-bit tiles of rank 2, or all static row vectors of f32, of a multiple
      of four; or only tensor<4xi32>, for work items
    - C3: a channel `with` another carries row vectors, is `free_implied` and has the depth of the other, which
      has barriers of its own

    **Example** `ws.channel @k [tensor<128x64xbf16>] depth 2`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ConfinedAttr<TypeArrayAttr, [ArrayMinCount<1>]>:$types, Ws_CountAttr:$depth,
    UnitAttr:$full_implied, UnitAttr:$free_implied, UnitAttr:$cluster,
    OptionalAttr<FlatSymbolRefAttr>:$over, OptionalAttr<FlatSymbolRefAttr>:$with, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = [{
    $sym_name $types `depth` $depth (`full_implied` $full_implied^)? (`free_implied` $free_implied^)?
    (`cluster` $cluster^)?
    (`over` $over^)? (`with` $with^)? (`at` $offset^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the slots carry work items.
    bool carriesWork();
    /// Whether they carry row vectors.
    bool carriesRows();
    /// Alignment of the ring's first byte.
    int64_t getAlignment();
    /// Bytes from one slot to the next in shared memory.
    int64_t getSlotBytes();
    /// Bytes of the whole ring.
    int64_t getBytes() { return getSlotBytes() * static_cast<int64_t>(getDepth()); }
  }];
}
def Ws_HoldOp : Ws_Op<"hold", [Symbol, HasParent<"KernelOp">]> {
  let summary = "shared memory for a tile, without barriers: one piece for each replica";
  let description = [{
    A role writes its own piece (`ws.put`) and copies it out (`ws.store`), or lets a
    matrix instruction read it (`ws.held`). A hold of a `depth` above 1 is a ring: each put of a replica goes
    to the next of `depth` copies of its piece, and its reads are of the last one. Only a `ws.held` of all
    pieces reads such a ring. A tile of f32 is in the order that `tile.load` calls `grouped`; only `ws.reduce_add` reads it.

    **Constraints**
    - C1: `pieces` and `depth` are at least 1, `offset` at least 0
    - C2: the type is a static tile of rank 2, of 16-bit elements or f32

    **Example** `ws.hold @oe tensor<64x64xbf16> pieces 2`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Ws_HeldTile>:$type, Ws_CountAttr:$pieces,
    DefaultValuedAttr<Ws_CountAttr, "1">:$depth, OptionalAttr<FlatSymbolRefAttr>:$over,
    OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = [{
    $sym_name $type `pieces` $pieces (`depth` $depth^)? (`over` $over^)? (`at` $offset^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// Bytes from one piece to the next in shared memory.
    int64_t getPieceBytes();
    /// Bytes of all pieces, which follow each other, in one slot of the ring.
    int64_t getSlotBytes() { return getPieceBytes() * static_cast<int64_t>(getPieces()); }
    /// Bytes of all slots.
    int64_t getBytes() { return getSlotBytes() * static_cast<int64_t>(getDepth()); }
  }];
}
def Ws_EdgeOp : Ws_Op<"edge", [Symbol, HasParent<"KernelOp">]> {
  let summary = "order without data: one role signals, another waits";
  let description = [{
    The first `credits` waits pass without a signal. `cluster`: every CTA of the cluster
    signals all of them.

    **Constraints**
    - C1: `credits` is at least 0

    **Example** `ws.edge @q_read credits 1`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Ws_NumberAttr:$credits, UnitAttr:$cluster);
  let assemblyFormat = "$sym_name `credits` $credits (`cluster` $cluster^)? attr-dict";
}
def Ws_TurnOp : Ws_Op<"turn", [Symbol, HasParent<"KernelOp">]> {
  let summary = "a ring of edges between the replicas of a role; replica 0 goes first";
  let description = [{
    **Example** `ws.turn @mma ring @wg`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$ring);
  let assemblyFormat = "$sym_name `ring` $ring attr-dict";
}
def Ws_RendezvousOp : Ws_Op<"rendezvous", [Symbol, HasParent<"KernelOp">]> {
  let summary = "a point at which all replicas of a role meet";
  let description = [{
    **Example** `ws.rendezvous @all ring @wg`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$ring);
  let assemblyFormat = "$sym_name `ring` $ring attr-dict";
}
def Ws_SetupOp : Ws_Op<"setup", [RecursiveMemoryEffects, NoTerminator, SingleBlock, NoRegionArguments, HasParent<"KernelOp">]> {
  let summary = "what one thread does before the roles start";
  let description = [{
    **Example**
    ```mlir
    ws.setup {
      %first = ws.smem %n : !llvm.ptr<3>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
def Ws_RoleOp : Ws_Op<"role", [RecursiveMemoryEffects, Symbol, NoTerminator, SingleBlock, HasParent<"KernelOp">]> {
  let summary = "the program of a role; its argument is the number of the replica (i32)";
  let description = [{
    `replicas` copies of `warps` warps run it, each thread with `regs` registers. If all of
    its work is asynchronous (copies, and stores of tiles that another role puts), a single
    thread runs it.

    **Constraints**
    - C1: one block argument, i32
    - C2: `warps` and `replicas` are at least 1, `regs` at least 0

    **Example**
    ```mlir
    ws.role @load warps 1 regs 24 replicas 1 {
    ^bb0(%number: i32):
      %free = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%b, %h, %row) #bshd to %free : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Ws_CountAttr:$warps, Ws_NumberAttr:$regs, Ws_CountAttr:$replicas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `warps` $warps `regs` $regs `replicas` $replicas attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether a single thread runs the role: all of its work is asynchronous.
    bool isSingleThread();
  }];
}
def Ws_ForOp : Ws_Op<"for", [SingleBlock, AttrSizedOperandSegments,
    RangedTypesMatchWith<"results have the types of 'inits'", "inits", "results_", "$_self">]> {
  let summary = "the streaming loop as entries: a modulo schedule";
  let description = [{
    For each time step t = 0 .. n - 1 + (largest shift), an entry with shift s runs iteration
    t - s, if that exists. The entries of one time step run in the order of `issue`.
    In the text they are in the order (shift, issue), so that values are defined before they
    are used. The region's first argument is the block number (i32); the others are the carried
    values. MMAs in flight at the end of a time step are awaited there.

    The other regions may be absent. `skipped` runs for each block of a skipped range,
    `drain` before the first time step in which no entry of shift 0 runs, and `empty`
    instead of the whole loop if there is no block.

    **Constraints**
    - C1: only entries, with different `issue`, and a `ws.yield` in the body
    - C2: there is one more bound than ranges; results of one `tile.bounds` are in its order,
      and its direction is that of the ranges. Only the first and the last range may be skipped:
      slots of their blocks are released unread, before time step 0 and after the last one
    - C3: all masked entries have the same shift
    - C4: a value is computed in an earlier time step than it is read, or before it in the same one
    - C5: the block arguments have the types i32 and those of `inits`; the results and
      the yielded values have the types of `inits`
    - C6: `ws.await_step` and `after` name entries of the loop that contain a `ws.mma`
    - C7: the other regions have no arguments and yield nothing; `skipped` is present if
      a range is skipped, and `drain` only if an entry has a shift

    **Example**
    ```mlir
    ws.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init() : () -> () {
    ^bb0(%block: i32):
      %filled = ws.entry @get_k issue 0 shift 0 -> !ws.slot<@k, tensor<128x64xbf16>> {
        %full = ws.wait : <@k, tensor<128x64xbf16>>
        ws.yield %full : !ws.slot<@k, tensor<128x64xbf16>>
      }
      ws.entry @free_k issue 1 shift 1 releases(%filled : !ws.slot<@k, tensor<128x64xbf16>>) {
        ws.yield
      }
      ws.yield
    }
    ```
  }];
  let arguments = (ins Variadic<I32>:$bounds, Tile_RangesAttr:$ranges, Variadic<Tile_CarriedValue>:$inits);
  let results = (outs Variadic<Tile_CarriedValue>:$results_);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$skipped, AnyRegion:$drain, AnyRegion:$empty);
  let assemblyFormat = [{
    `ranges` $ranges `bounds` `(` $bounds `)` `init` `(` $inits `)` attr-dict-with-keyword
    `:` functional-type($inits, $results_) $body
    (`skipped` $skipped^)? (`drain` $drain^)? (`empty` $empty^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the entry's result that an entry of shift `readerShift` reads through
    /// `value`, and the number of time steps since it was computed; a null result for
    /// values from outside the loop.
    std::pair<::mlir::OpResult, int64_t> getSource(::mlir::Value value, int64_t readerShift);
  }];
}
def Ws_EntryOp : Ws_Op<"entry", [SingleBlock, NoRegionArguments, AttrSizedOperandSegments, HasParent<"ForOp">]> {
  let summary = "one entry of a role's body in the streaming loop";
  let description = [{
    `masked`: the entry is only in the code of masked ranges; elsewhere its result is
    `passthrough`. `guard`: the entry runs once per work item, in the first (`once`) or the
    `last` time step. `after`: entries whose MMAs, if in flight, are awaited first.
    `releases`: slots that are released when the work of the entry is complete.

    **Constraints**
    - C1: `issue` and `shift` are at least 0
    - C2: the guard is `once` or `last`; a guarded entry has no results
    - C3: a masked entry has one result, of the type of `passthrough`
    - C4: `ws.yield` yields the result types
    - C5: a `ws.await_step` is alone in its entry, which has no `after` and `releases`
    - C6: at most one `ws.mma`

    **Example**
    ```mlir
    ws.for ranges <down [full]> bounds(%hi, %lo) init() : () -> () {
    ^bb0(%block: i32):
      ws.entry @load_k issue 0 shift 0 {
        %free = ws.acquire : <@k, tensor<128x64xbf16>>
        ws.copy %q at(%b, %h, %block) #bshd to %free : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
        ws.yield
      }
      ws.yield
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, Ws_NumberAttr:$issue, Ws_NumberAttr:$shift,
    OptionalAttr<Attn_GuardAttr>:$guard, Optional<Tile_CarriedValue>:$passthrough,
    OptionalAttr<FlatSymbolRefArrayAttr>:$after, Variadic<Ws_SlotType>:$releases);
  let results = (outs Variadic<Ws_EntryValue>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `issue` $issue `shift` $shift (`guard` $guard^)? (`masked` `(` $passthrough^ `:` type($passthrough) `)`)?
    (`after` $after^)? (`releases` `(` $releases^ `:` type($releases) `)`)? (`->` type($results_)^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The values from outside that the entry reads, in order.
    ::llvm::SetVector<::mlir::Value> getCaptures();
  }];
}
def Ws_YieldOp : Ws_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ForOp", "EntryOp", "ShareWorkOp"]>]> {
  let summary = "returns the values of an entry, the work item of a `ws.share_work`, or the carried values";
  let description = [{
    **Example**
    ```mlir
    ws.for ranges <down [full]> bounds(%hi, %lo) init() : () -> () {
    ^bb0(%block: i32):
      ws.yield
    }
    ```
  }];
  let arguments = (ins Variadic<Ws_AnyValue>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def Ws_AcquireOp : Ws_SharedOp<"acquire"> {
  let summary = "waits until the next slot of a channel is free";
  let description = [{
    Each cycle uses the next slot of the ring. The slot may then be written (`ws.copy`).

    **Example** `%free = ws.acquire : <@k, tensor<128x64xbf16>>`
  }];
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "attr-dict `:` type($slot)";
}
def Ws_WaitOp : Ws_SharedOp<"wait"> {
  let summary = "waits until the next slot of a channel is full";
  let description = [{
    Every role that waits for a channel reads all of its cycles, and releases each
    slot once.

    **Example** `%full = ws.wait : <@k, tensor<128x64xbf16>>`
  }];
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "attr-dict `:` type($slot)";
}
def Ws_ReleaseOp : Ws_SharedOp<"release"> {
  let summary = "frees a slot that this role has read";
  let description = [{
    Asynchronous reads of the slot are awaited before.

    **Example** `ws.release %slot : <@k, tensor<128x64xbf16>>`
  }];
  let arguments = (ins Ws_SlotType:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

def Ws_MmaOp : Ws_SharedOp<"mma", [AttrSizedOperandSegments,
    OptionalTypesMatchWith<"'acc' has the result's type", "result", "acc", "$_self">]> {
  let summary = "D = A * B (+ `acc`), or A * B^T with `transpose_b`; in flight until awaited";
  let description = [{
    A is a slot (with `piece`, the 64 rows of that sub-tile) or a register tile; B is a
    slot (with `columns`, only the columns of that sub-tile).
    With `transpose_a`, A is a slot whose columns (with `piece`, 64 of them) are the rows of D. After `attn-distribute` register tiles are vectors, whose shapes are not checked.
    `fresh` is the same in all threads; if it is true, `acc` is not read and may be
    poison. The token is linear: an MMA is awaited in the block that issues it, except in a
    `ws.entry`, where `attn-pipeline` places the await.

    **Constraints**
    - C1: A is a slot, a tile of rank 2 or a vector; `piece` and `transpose_a` only with a slot;
      `columns` without `transpose_b`
    - C2: the result is of f32; `acc` has its type; `fresh` only with `acc`
    - C3: A, B and the result agree in element type and shape: M x K (K x M with `transpose_a`) times K x N
      (N x K with `transpose_b`) is M x N; a piece has 64 rows of A; with `columns`, B has a multiple of N
    - C4: the token is used once, by a `ws.await` in the same block; in a `ws.entry`,
      not at all
    - C5: outside of a `ws.entry` the result is used only by that `ws.await`, or as `acc` of
      another `ws.mma`
    - C6: until that `ws.await`, a register A is used only by `ws.mma`

    **Effects**: reads the slots until awaited.

    **Example**
    ```mlir
    %scores, %token = ws.mma %held, %slot transpose_b
        : !ws.slot<@qe, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
    %done = ws.await %scores, %token : tensor<64x128xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Ws_TileSlot, Tile_TileOrShare]>:$a, Optional<I32>:$piece, Ws_TileSlot:$b,
      Optional<I32>:$columns, Optional<Tile_F32TileOrShare>:$acc, Optional<I1>:$fresh, UnitAttr:$transpose_a,
      UnitAttr:$transpose_b);
  let results = (outs Tile_F32TileOrShare:$result, Ws_TokenType:$token);
  let assemblyFormat = [{
    $a (`piece` `(` $piece^ `)`)? `,` $b (`columns` `(` $columns^ `)`)? (`acc` `(` $acc^ `:` type($acc) `)`)?
    (`fresh` `(` $fresh^ `)`)? (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Ws_AwaitOp : Ws_SharedOp<"await", [AllTypesMatch<["value", "result"]>]> {
  let summary = "waits for an MMA and returns its result";
  let description = [{
    **Constraints**
    - C1: token and value are the results of one `ws.mma`

    **Example**
    ```mlir
    %sums, %token = ws.mma %p, %slot : tensor<64x128xbf16>, <@k, tensor<128x64xbf16>> -> tensor<64x64xf32>
    %done = ws.await %sums, %token : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_F32TileOrShare:$value, Ws_TokenType:$token);
  let results = (outs Tile_F32TileOrShare:$result);
  let assemblyFormat = "$value `,` $token attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Ws_AwaitStepOp : Ws_SharedOp<"await_step", [HasParent<"EntryOp">]> {
  let summary = "waits for the MMA of the entry `step`; `attn-pipeline` finds its token";
  let description = [{
    **Example**
    ```mlir
    ws.for ranges <down [full]> bounds(%hi, %lo) init() : () -> () {
    ^bb0(%block: i32):
      %s = ws.entry @qk issue 0 shift 0 -> tensor<64x128xf32> {
        %scores, %token = ws.mma %held, %slot transpose_b
            : !ws.slot<@qe, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
        ws.yield %scores : tensor<64x128xf32>
      }
      ws.entry @await_qk issue 1 shift 0 {
        ws.await_step @qk
        ws.yield
      }
      ws.yield
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$step);
  let assemblyFormat = "$step attr-dict";
}
def Ws_TakeOp : Ws_SharedOp<"take"> {
  let summary = "waits for this replica's turn";
  let description = [{
    **Example** `ws.take @mma[%replica]`
  }];
  let arguments = (ins FlatSymbolRefAttr:$turn, I32:$replica);
  let assemblyFormat = "$turn `[` $replica `]` attr-dict";
}
def Ws_GiveOp : Ws_SharedOp<"give"> {
  let summary = "passes the turn on to the next replica";
  let description = [{
    **Example** `ws.give @mma[%replica]`
  }];
  let arguments = (ins FlatSymbolRefAttr:$turn, I32:$replica);
  let assemblyFormat = "$turn `[` $replica `]` attr-dict";
}
def Ws_SignalOp : Ws_SharedOp<"signal"> {
  let summary = "signals an edge";
  let description = [{
    **Example** `ws.signal @q_read`
  }];
  let arguments = (ins FlatSymbolRefAttr:$edge);
  let assemblyFormat = "$edge attr-dict";
}
def Ws_WaitEdgeOp : Ws_SharedOp<"wait_edge"> {
  let summary = "waits for the next signal of an edge";
  let description = [{
    **Example** `ws.wait_edge @q_read`
  }];
  let arguments = (ins FlatSymbolRefAttr:$edge);
  let assemblyFormat = "$edge attr-dict";
}
def Ws_SyncOp : Ws_SharedOp<"sync"> {
  let summary = "waits until all replicas of the role are at the rendezvous";
  let description = [{
    **Example** `ws.sync @all`
  }];
  let arguments = (ins FlatSymbolRefAttr:$rendezvous);
  let assemblyFormat = "$rendezvous attr-dict";
}
def Ws_SmemOp : Ws_Op<"smem", [Pure]> {
  let summary = "the address of a byte of the CTA's shared memory";
  let description = [{
    **Example** `%address = ws.smem %offset : !llvm.ptr<3>`
  }];
  let arguments = (ins I32:$offset);
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = "$offset attr-dict `:` type($address)";
}
def Ws_SlotOffsetOp : Ws_Op<"slot_offset", [Pure]> {
  let summary = "the offset of a slot's tile in shared memory, in bytes";
  let description = [{
    **Example** `%first = ws.slot_offset %slot : <@k, tensor<128x64xbf16>>`
  }];
  let arguments = (ins Ws_SlotType:$slot);
  let results = (outs I32:$offset);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}
def Ws_SlotAtOp : Ws_Op<"slot_at", [Pure]> {
  let summary = "the slot of a channel whose tile has this offset in shared memory";
  let description = [{
    **Example** `%same = ws.slot_at %offset : <@k, tensor<128x64xbf16>>`
  }];
  let arguments = (ins I32:$offset);
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "$offset attr-dict `:` type($slot)";
}

include "attn/dialect/WsCopyOps.td"
include "attn/dialect/WsWorkOps.td"
include "attn/dialect/WsStampOps.td"

#endif // ATTN_DIALECT_WSOPS_TD
