// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the roles of a CTA, and the CTAs of a cluster, learn of work items: the
// loop over them, handing out, verdicts with second runs, and the mailbox.
#ifndef ATTN_DIALECT_WSWORKOPS_TD
#define ATTN_DIALECT_WSWORKOPS_TD

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

def Ws_VerdictOp : Ws_Op<"verdict", [Symbol, HasParent<"KernelOp">]> {
  let summary = "whether work items are accepted or rejected: a ring of two, each a barrier and a word";
  let description = [{
    Every role that may reject an item gives its verdict on each (`ws.give_verdict`). An item
    that one of them rejects has a second run, which nobody rejects. With `work = dynamic` the
    role that hands items out takes the verdict on each (`ws.choose_item`); with `work = grid`
    every role takes it at the end of the item (`ws.second_run`). In a cluster the roles of all
    CTAs give it: to the first CTA if items are handed out, otherwise to each. `offset`: first
    byte in shared memory, set by `attn-plan-memory` (ItemMemory.h).

    **Example** `ws.verdict @verdict at 49168`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = "$sym_name (`at` $offset^)? attr-dict";
  let extraClassDeclaration = [{
    /// Whether the role that hands out items takes it.
    bool isHandedOut();
    /// Whether the roles of all CTAs of a cluster give it.
    bool isInCluster();
  }];
}
def Ws_MailboxOp : Ws_Op<"mailbox", [Symbol, HasParent<"KernelOp">]> {
  let summary = "memory in each CTA of a cluster, into which the first CTA sends the work item";
  let description = [{
    One barrier says that the item has come, one of the first CTA that all others have read
    it; then the item, and a word with the parity of both (ItemMemory.h). `offset`: first byte in
    shared memory, set by `attn-plan-memory`.

    **Example** `ws.mailbox @mailbox at 49232`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = "$sym_name (`at` $offset^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// The loop over items
//===----------------------------------------------------------------------===//

def Ws_WorkLoopOp : Ws_Op<"work_loop", [RecursiveMemoryEffects, NoTerminator, SingleBlock, NoRegionArguments, HasParent<"RoleOp">]> {
  let summary = "the body for every work item of this CTA";
  let description = [{
    `extents`: row blocks, heads, batches, as for `tile.next_work`, which gives the
    item of the turn. Where items are handed out (`work = dynamic`) one role takes
    them (`ws.take_item`) and puts each into a channel, from which the other roles get
    it; `ws.end_unless_work` ends the loop in every role.

    In a kernel with a `ws.verdict` an item may be rejected; all roles then run it a second
    time. Work that is one item a CTA ends with `ws.second_run`. Where items are handed out,
    the second run is an item of its own (`ws.choose_item`).

    **Constraints**
    - C1: a `ws.second_run` is the last op of the body
    - C2: a `ws.fetch_work` comes behind the `ws.end_unless_work`
  }];
  let arguments = (ins I32:$blocks, I32:$heads, I32:$batches);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `extents` `(` $blocks `,` $heads `,` $batches `)` attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}
def Ws_SecondRunOp : Ws_SharedOp<"second_run", [HasParent<"WorkLoopOp">]> {
  let summary = "the end of the one work item of a CTA: runs it a second time if it was rejected";
  let description = [{
    In the first run every role waits here for the verdict, which is the same for all. The
    second run ends here. `rejected`, whether a second run follows, is set by
    `attn-lower-channels`.
  }];
  let arguments = (ins Tile_WorkType:$work, FlatSymbolRefAttr:$verdict, Optional<I1>:$rejected);
  let assemblyFormat = "`of` $work `by` $verdict (`rejected` $rejected^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Handing out
//===----------------------------------------------------------------------===//

def Ws_TakeItemOp : Ws_SharedOp<"take_item", [AttrSizedOperandSegments], [MemRead, MemWrite]> {
  let summary = "the next work item: the counter's answer to the last `ws.fetch_work`, or none";
  let description = [{
    In the first turn nothing was asked for yet, and the item is the one that has the number of
    this CTA, or of this cluster. The operands are those of `tile.next_work`.
  }];
  let arguments = (ins I32:$blocks, I32:$heads, I32:$batches, Optional<I32>:$section,
    Optional<I32>:$whole, Optional<I32>:$parts);
  let results = (outs Tile_WorkType:$work);
  let assemblyFormat = [{
    `extents` `(` $blocks `,` $heads `,` $batches `)` (`section` `(` $section^ `)`)?
    (`cut` `(` $whole^ `,` $parts `)`)? attr-dict
  }];
}
def Ws_ChooseItemOp : Ws_SharedOp<"choose_item"> {
  let summary = "takes the verdicts that are due, and chooses between a rejected item and the next one";
  let description = [{
    In turn t (from 0) all verdicts but that on the item of turn t - 1 are taken; that one too, if
    neither a next item nor a rejected one is left (ItemChoice.h). A rejected item comes
    before the next one: its second run.

    **Constraints**
    - C1: `next` is what a `ws.take_item` before it in its block gives, which nothing else uses
  }];
  let arguments = (ins Tile_WorkType:$next, FlatSymbolRefAttr:$verdict);
  let results = (outs Tile_WorkType:$work);
  let assemblyFormat = "$next `by` $verdict attr-dict";
  let hasVerifier = 1;
}
def Ws_ShareWorkOp : Ws_SharedOp<"share_work", [SingleBlock, NoRegionArguments]> {
  let summary = "the work item of a cluster: its first CTA runs the body and sends the item to the others";
  let description = [{
    The others wait for it in their mailboxes. The next item is sent after all have read
    this one. The result is the row block of this CTA.

    **Constraints**
    - C1: a `ws.take_item`, at most one `ws.choose_item`, and a `ws.yield` of the last result
  }];
  let arguments = (ins FlatSymbolRefAttr:$mailbox);
  let results = (outs Tile_WorkType:$work);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`through` $mailbox attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}
def Ws_PutWorkOp : Ws_SharedOp<"put_work"> {
  let summary = "stores a work item, or that there is none, into a slot; the slot is full then";
  let description = [{
    **Constraints**
    - C1: the slot carries work items
    - C2: `work` is the item of the turn, not one that another role has handed out
  }];
  let arguments = (ins Tile_WorkType:$work, Ws_SlotType:$slot);
  let assemblyFormat = "$work `to` $slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
}
def Ws_GetWorkOp : Ws_SharedOp<"get_work"> {
  let summary = "reads the work item in a slot";
  let description = [{
    **Constraints**
    - C1: the slot carries work items
  }];
  let arguments = (ins Ws_SlotType:$slot);
  let results = (outs Tile_WorkType:$work);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
}
def Ws_EndUnlessWorkOp : Ws_SharedOp<"end_unless_work", [HasParent<"WorkLoopOp">]> {
  let summary = "ends the work loop here if there was no work item left";
  let arguments = (ins Tile_WorkType:$work);
  let assemblyFormat = "$work attr-dict";
}
def Ws_FetchWorkOp : Ws_SharedOp<"fetch_work", [], [MemRead, MemWrite]> {
  let summary = "asks the grid's counter for the work item that follows, which `ws.take_item` gives in the next turn";
  let description = [{
    The grid's counter is incremented here; nobody waits for its answer before the
    next turn. In a second run nothing is asked, as the last answer is not used yet; in a
    cluster its first CTA alone asks.

    **Constraints**
    - C1: `work` is the item of the turn, not one that another role has handed out
  }];
  let arguments = (ins Tile_WorkType:$work);
  let assemblyFormat = "`after` $work attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

def Ws_GiveVerdictOp : Ws_SharedOp<"give_verdict"> {
  let summary = "rejects a work item where `rejected` holds, otherwise accepts it";
  let description = [{
    `rejected` is one for all threads of a warp; every warp gives a verdict. One warp
    that rejects is enough. An item that is computed with care (`tile.with_care`) is
    accepted.
  }];
  let arguments = (ins FlatSymbolRefAttr:$verdict, Tile_WorkType:$work, I1:$rejected);
  let assemblyFormat = "$verdict `on` $work `rejected` $rejected attr-dict";
}
def Ws_VerdictSlotOp : Ws_Op<"verdict_slot", [Pure]> {
  let summary = "which barrier and word take the verdict on a work item that was handed out";
  let description = [{
    Written by `attn-lower-channels`.
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$slot);
  let assemblyFormat = "$work attr-dict";
}

#endif // ATTN_DIALECT_WSWORKOPS_TD
