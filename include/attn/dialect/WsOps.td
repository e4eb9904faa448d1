// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level L2: roles, channels between them, and linear async tokens.
#ifndef ATTN_DIALECT_WSOPS_TD
#define ATTN_DIALECT_WSOPS_TD

include "attn/dialect/TileTypes.td"
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
  let summary = "one slot of a channel, with the tile that it carries";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$channel, "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $channel `,` $tile `>`";
}
def Ws_TokenType : Ws_Type<"Token", "token"> {
  let summary = "an asynchronous op in flight";
}

class Ws_Op<string opMnemonic, list<Trait> traits = []> : Op<Ws_Dialect, opMnemonic, traits>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Ws_KernelOp : Ws_Op<"kernel", [IsolatedFromAbove, Symbol, SymbolTable, NoTerminator, SingleBlock]> {
  let summary = "a kernel for one machine: declarations and one program a role";
  let description = [{
    `smem_bytes` is set by `attn-plan-memory`.

    **Constraints**
    - C1: as many `arg_names` as arguments
    - C2: at least one role; role names differ from other symbols
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$machine, StrArrayAttr:$arg_names,
    Attn_ProblemAttr:$problem, Attn_ConfigAttr:$config, Attn_ScheduleAttr:$schedule,
    OptionalAttr<I64Attr>:$smem_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `machine` $machine `args` $arg_names `problem` $problem `config` $config
    `schedule` $schedule (`smem` $smem_bytes^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Ws_ChannelOp : Ws_Op<"channel", [Symbol]> {
  let summary = "a ring of `depth` slots with a full and a free barrier each";
  let description = [{
    `types` are the tiles of its alternatives: each cycle carries one of them.
    `offset`: first byte in shared memory, set by `attn-plan-memory`.

    **Constraints**
    - C1: depth is at least 1
    - C2: at least one type, all 16-bit tiles of rank 2
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$types, I64Attr:$depth,
    UnitAttr:$full_implied, UnitAttr:$free_implied, OptionalAttr<FlatSymbolRefAttr>:$over, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = [{
    $sym_name $types `depth` $depth (`full_implied` $full_implied^)? (`free_implied` $free_implied^)?
    (`over` $over^)? (`at` $offset^)? attr-dict
  }];
  let hasVerifier = 1;
}
def Ws_HoldOp : Ws_Op<"hold", [Symbol]> {
  let summary = "shared memory for a tile, one piece a replica, without barriers";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type, I64Attr:$pieces,
    OptionalAttr<FlatSymbolRefAttr>:$over, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = [{
    $sym_name $type `pieces` $pieces (`over` $over^)? (`at` $offset^)? attr-dict
  }];
}
def Ws_EdgeOp : Ws_Op<"edge", [Symbol]> {
  let summary = "order without data; the first `credits` waits pass";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$credits);
  let assemblyFormat = "$sym_name `credits` $credits attr-dict";
}
def Ws_TurnOp : Ws_Op<"turn", [Symbol]> {
  let summary = "a ring of edges between the replicas of a role, primed at replica 0";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$ring);
  let assemblyFormat = "$sym_name `ring` $ring attr-dict";
}
def Ws_RendezvousOp : Ws_Op<"rendezvous", [Symbol]> {
  let summary = "a meeting point of all replicas of a role";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$ring);
  let assemblyFormat = "$sym_name `ring` $ring attr-dict";
}
def Ws_SetupOp : Ws_Op<"setup", [NoTerminator, SingleBlock]> {
  let summary = "what one thread does before the roles start";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
def Ws_RoleOp : Ws_Op<"role", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "the program of a role; its argument is the replica's number (i32)";
  let description = [{
    **Constraints**
    - C1: one block argument, i32
    - C2: warps and replicas are at least 1
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$warps, I64Attr:$regs, I64Attr:$replicas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `warps` $warps `regs` $regs `replicas` $replicas attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}
def Ws_WorkLoopOp : Ws_Op<"work_loop", [NoTerminator, SingleBlock]> {
  let summary = "the body for every work item of this CTA";
  let arguments = (ins I32:$blocks, I32:$heads, I32:$batches);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`extents` `(` $blocks `,` $heads `,` $batches `)` attr-dict-with-keyword $body";
}
def Ws_ForOp : Ws_Op<"for", [SingleBlock, AttrSizedOperandSegments]> {
  let summary = "the streaming loop as entries: a modulo schedule";
  let description = [{
    For time t = 0 .. n - 1 + (largest shift), an entry with shift s runs iteration
    t - s if that exists; entries of one time run in the order of their slots.
    The text is in the order (shift, slot), which dataflow permits.

    **Constraints**
    - C1: only entries in the body, with different slots
    - C2: one more bound than kinds
    - C3: masked entries have one shift
    - C4: a value is computed before it is read, in time
  }];
  let arguments = (ins Variadic<I32>:$bounds, StrArrayAttr:$kinds, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ranges` $kinds `bounds` `(` $bounds `)` `init` `(` $inits `)` attr-dict-with-keyword
    `:` functional-type($inits, $results_) $body
  }];
  let hasRegionVerifier = 1;
}
def Ws_EntryOp : Ws_Op<"entry", [SingleBlock]> {
  let summary = "one entry of a role's body in the streaming loop";
  let description = [{
    `masked`: exists only in the code of masked ranges, elsewhere its result is
    `passthrough`. `guard`: a work-item-level entry pinned in the loop.
  }];
  let arguments = (ins SymbolNameAttr:$name, I64Attr:$slot, I64Attr:$shift,
    OptionalAttr<StrAttr>:$guard, Optional<AnyType>:$passthrough);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `slot` $slot `shift` $shift (`guard` $guard^)? (`masked` `(` $passthrough^ `:` type($passthrough) `)`)?
    (`->` type($results_)^)? attr-dict-with-keyword $body
  }];
}
def Ws_YieldOp : Ws_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["ForOp", "EntryOp"]>]> {
  let summary = "the values of an entry, or those carried to the next iteration";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def Ws_AcquireOp : Ws_Op<"acquire"> {
  let summary = "waits until the next slot of a channel is free";
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "attr-dict `:` type($slot)";
}
def Ws_CopyOp : Ws_Op<"copy"> {
  let summary = "copies a tile of a tensor into a slot, asynchronously; the slot is full when it has arrived";
  let description = [{
    Rows past the tensor's end arrive as zeros. `map` as for `tile.load`. `shared`:
    other CTAs will read the same tile. `barrier` is set by `attn-lower-channels`.
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$batch, I32:$head, I32:$row,
    AffineMapAttr:$map, UnitAttr:$shared, Ws_SlotType:$slot, Optional<LLVM_AnyPointer>:$barrier);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` $map (`shared` $shared^)? `to` $slot
    (`barrier` $barrier^)? attr-dict `:` type($source) `,` type($slot) (`,` type($barrier)^)?
  }];
}
def Ws_WaitOp : Ws_Op<"wait"> {
  let summary = "waits until the next slot of a channel is full";
  let results = (outs Ws_SlotType:$slot);
  let assemblyFormat = "attr-dict `:` type($slot)";
}
def Ws_ReleaseOp : Ws_Op<"release"> {
  let summary = "gives a slot back: this role has read it";
  let arguments = (ins Ws_SlotType:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

def Ws_MmaOp : Ws_Op<"mma", [AttrSizedOperandSegments]> {
  let summary = "A * B (or A * B^T), added to `acc` where given; in flight until awaited";
  let description = [{
    A is a slot (with `piece`, the 64 rows of that sub-tile) or a register tile; B is a
    slot. The result and a register A may be used by `ws.await` alone while in flight.
  }];
  let arguments = (ins AnyType:$a, Optional<I32>:$piece, Ws_SlotType:$b, Optional<AnyType>:$acc, UnitAttr:$transpose_b);
  let results = (outs AnyType:$result, Ws_TokenType:$token);
  let assemblyFormat = [{
    $a (`piece` `(` $piece^ `)`)? `,` $b (`acc` `(` $acc^ `:` type($acc) `)`)?
    (`transpose_b` $transpose_b^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
}
def Ws_AwaitOp : Ws_Op<"await", [AllTypesMatch<["value", "result"]>]> {
  let summary = "waits for an MMA and passes its result on";
  let arguments = (ins AnyType:$value, Ws_TokenType:$token);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `,` $token attr-dict `:` type($value)";
}
def Ws_AwaitStepOp : Ws_Op<"await_step"> {
  let summary = "waits here for the MMA of an entry; `attn-pipeline` finds its token";
  let arguments = (ins FlatSymbolRefAttr:$step);
  let assemblyFormat = "$step attr-dict";
}
def Ws_PutOp : Ws_Op<"put"> {
  let summary = "stores a register tile into this replica's piece of a hold";
  let arguments = (ins AnyType:$value, FlatSymbolRefAttr:$hold, I32:$piece);
  let assemblyFormat = "$value `in` $hold `[` $piece `]` attr-dict `:` type($value)";
}
def Ws_StoreOp : Ws_Op<"store"> {
  let summary = "copies a piece of a hold to a tensor, asynchronously";
  let description = [{
    All threads of the role have stored their share before. Rows past the tensor's end are dropped.
  }];
  let arguments = (ins FlatSymbolRefAttr:$hold, I32:$piece, AnyRankedTensor:$dest, I32:$batch,
    I32:$head, I32:$row, AffineMapAttr:$map);
  let assemblyFormat = [{
    $hold `[` $piece `]` `,` $dest `at` `(` $batch `,` $head `,` $row `)` $map attr-dict `:` type($dest)
  }];
}
def Ws_AwaitStoreOp : Ws_Op<"await_store"> {
  let summary = "waits until the role's stores have read shared memory";
  let assemblyFormat = "attr-dict";
}
def Ws_TakeOp : Ws_Op<"take"> {
  let summary = "waits for this replica's turn";
  let arguments = (ins FlatSymbolRefAttr:$turn, I32:$replica);
  let assemblyFormat = "$turn `[` $replica `]` attr-dict";
}
def Ws_GiveOp : Ws_Op<"give"> {
  let summary = "gives the turn to the next replica";
  let arguments = (ins FlatSymbolRefAttr:$turn, I32:$replica);
  let assemblyFormat = "$turn `[` $replica `]` attr-dict";
}
def Ws_SignalOp : Ws_Op<"signal"> {
  let summary = "signals an edge";
  let arguments = (ins FlatSymbolRefAttr:$edge);
  let assemblyFormat = "$edge attr-dict";
}
def Ws_WaitEdgeOp : Ws_Op<"wait_edge"> {
  let summary = "waits for the next signal of an edge";
  let arguments = (ins FlatSymbolRefAttr:$edge);
  let assemblyFormat = "$edge attr-dict";
}
def Ws_SyncOp : Ws_Op<"sync"> {
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

#endif // ATTN_DIALECT_WSOPS_TD
