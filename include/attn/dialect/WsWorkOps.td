// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work items: the loop over them, how they reach the roles of a CTA and the
// CTAs of a cluster, and the verdicts that lead to second runs.
#ifndef ATTN_DIALECT_WSWORKOPS_TD
#define ATTN_DIALECT_WSWORKOPS_TD

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

def Ws_VerdictOp : Ws_Op<"verdict", [Symbol, HasParent<"KernelOp">]> {
  let summary = "whether work items are accepted or rejected: a ring of two slots, each a barrier and a word";
  let description = [{
    Every role that may reject an item gives a verdict on each item (`ws.give_verdict`). If
    any of them rejects it, the item has a second run, which no role rejects. With
    `work = dynamic` the role that hands items out reads the verdicts (`ws.choose_item`); with
    `work = grid` every role reads them at the end of the item (`ws.second_run`). In a cluster
    the roles of all CTAs give verdicts: to the first CTA if items are handed out, otherwise to
    every CTA. `offset`: first byte in shared memory, set by `attn-plan-memory` (ItemMemory.h).

    **Example** `ws.verdict @verdict at 49168`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = "$sym_name (`at` $offset^)? attr-dict";
  let extraClassDeclaration = [{
    /// Whether the role that hands out items reads it.
    bool isHandedOut();
    /// Whether the roles of all CTAs of a cluster give it.
    bool isInCluster();
  }];
}
def Ws_MailboxOp : Ws_Op<"mailbox", [Symbol, HasParent<"KernelOp">]> {
  let summary = "memory in each CTA of a cluster, into which the first CTA sends the work item";
  let description = [{
    It consists of a barrier at which the item arrives; a barrier, used in the first CTA, at
    which the other CTAs arrive when they have read the item; the item; and a word with the
    parity of both barriers (ItemMemory.h). `offset`: first byte in shared memory, set by `attn-plan-memory`.

    **Example** `ws.mailbox @mailbox at 49232`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Ws_NumberAttr>:$offset);
  let assemblyFormat = "$sym_name (`at` $offset^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// The loop over items
//===----------------------------------------------------------------------===//

def Ws_WorkLoopOp : Ws_Op<"work_loop", [RecursiveMemoryEffects, NoTerminator, SingleBlock, NoRegionArguments, HasParent<"RoleOp">]> {
  let summary = "runs its body for every work item of this CTA";
  let description = [{
    `extents`: the numbers of row blocks, heads and batches, as for `tile.next_work`, which
    returns the item of each iteration. If items are handed out (`work = dynamic`), one role takes
    them (`ws.take_item`) and puts each into a channel, from which the other roles get
    it; `ws.end_unless_work` ends the loop in every role.

    In a kernel with a `ws.verdict` an item may be rejected; all roles then run it a second
    time. With one item per CTA (`work = grid`) the body ends with `ws.second_run`. If items
    are handed out, the second run is an item of its own (`ws.choose_item`).

    **Constraints**
    - C1: a `ws.second_run` is the last op of the body
    - C2: a `ws.fetch_work` comes after the `ws.end_unless_work`

    **Example**
    ```mlir
    ws.role @wg warps 4 regs 240 replicas 2 {
    ^bb0(%number: i32):
      ws.work_loop extents(%blocks, %heads, %batches) {
        %work = tile.next_work extents(%blocks, %heads, %batches)
      }
    }
    ```
  }];
  let arguments = (ins I32:$blocks, I32:$heads, I32:$batches);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `extents` `(` $blocks `,` $heads `,` $batches `)` attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}
def Ws_SecondRunOp : Ws_SharedOp<"second_run", [HasParent<"WorkLoopOp">]> {
  let summary = "ends the only work item of a CTA, or runs it a second time if it was rejected";
  let description = [{
    In the first run every role waits here for the verdict, which is the same for all roles.
    The second run ends here. `rejected`: whether a second run follows, set by
    `attn-lower-channels`.

    **Example**
    ```mlir
    ws.role @wg warps 4 regs 240 replicas 2 {
    ^bb0(%number: i32):
      ws.work_loop extents(%blocks, %heads, %batches) {
        %work = tile.next_work extents(%blocks, %heads, %batches)
        ws.second_run of %work by @verdict
      }
    }
    ```
  }];
  let arguments = (ins Tile_WorkType:$work, FlatSymbolRefAttr:$verdict, Optional<I1>:$rejected);
  let assemblyFormat = "`of` $work `by` $verdict (`rejected` $rejected^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Handing out
//===----------------------------------------------------------------------===//

def Ws_TakeItemOp : Ws_SharedOp<"take_item", [AttrSizedOperandSegments], [MemRead, MemWrite]> {
  let summary = "the next work item: the number that the last `ws.fetch_work` got from the counter, or none";
  let description = [{
    In the first iteration there was no `ws.fetch_work` yet: the item has the number of this CTA,
    or of this cluster. The operands have the meaning that they have in `tile.next_work`.

    **Example** `%item = ws.take_item extents(%blocks, %heads, %batches) section(%n)`
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
  let summary = "reads the verdicts that are due, and returns a rejected item or else the next one";
  let description = [{
    Iteration t (from 0) of the work loop reads the verdicts on the items of the iterations
    before t - 1. It reads the verdict on the item of iteration t - 1 only if neither a next item
    nor a rejected one is left (ItemChoice.h). The second run of a rejected item comes before
    the next item.

    **Constraints**
    - C1: `next` is the result of a `ws.take_item` before it in its block, and has no other use

    **Example**
    ```mlir
    %next = ws.take_item extents(%blocks, %heads, %batches)
    %item = ws.choose_item %next by @verdict
    ```
  }];
  let arguments = (ins Tile_WorkType:$next, FlatSymbolRefAttr:$verdict);
  let results = (outs Tile_WorkType:$work);
  let assemblyFormat = "$next `by` $verdict attr-dict";
  let hasVerifier = 1;
}
def Ws_ShareWorkOp : Ws_SharedOp<"share_work", [SingleBlock, NoRegionArguments]> {
  let summary = "the work item of a cluster: its first CTA runs the body and sends the item to the others";
  let description = [{
    The other CTAs wait for it in their mailboxes. The next item is sent after all of them
    have read this one. The result is the item with the row block of this CTA.

    **Constraints**
    - C1: the body is a `ws.take_item`, at most one `ws.choose_item`, and a `ws.yield` of the last result

    **Example**
    ```mlir
    %item = ws.share_work through @mailbox {
      %next = ws.take_item extents(%blocks, %heads, %batches)
      ws.yield %next : !tile.work
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$mailbox);
  let results = (outs Tile_WorkType:$work);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`through` $mailbox attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}
def Ws_PutWorkOp : Ws_SharedOp<"put_work"> {
  let summary = "stores a work item, or that none is left, into a slot, which is then full";
  let description = [{
    **Constraints**
    - C1: the slot carries work items
    - C2: this role hands `work` out: it is not the result of a `ws.get_work`

    **Example**
    ```mlir
    %item = ws.take_item extents(%blocks, %heads, %batches)
    %free = ws.acquire : <@work, tensor<4xi32>>
    ws.put_work %item to %free : <@work, tensor<4xi32>>
    ```
  }];
  let arguments = (ins Tile_WorkType:$work, Ws_ItemSlot:$slot);
  let assemblyFormat = "$work `to` $slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
}
def Ws_GetWorkOp : Ws_SharedOp<"get_work"> {
  let summary = "reads the work item in a slot";
  let description = [{
    **Constraints**
    - C1: the slot carries work items

    **Example**
    ```mlir
    %full = ws.wait : <@work, tensor<4xi32>>
    %item = ws.get_work %full : <@work, tensor<4xi32>>
    ```
  }];
  let arguments = (ins Ws_ItemSlot:$slot);
  let results = (outs Tile_WorkType:$work);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}
def Ws_EndUnlessWorkOp : Ws_SharedOp<"end_unless_work", [HasParent<"WorkLoopOp">]> {
  let summary = "ends the work loop here if no work item was left";
  let description = [{
    **Example**
    ```mlir
    ws.role @wg warps 4 regs 240 replicas 2 {
    ^bb0(%number: i32):
      ws.work_loop extents(%blocks, %heads, %batches) {
        %full = ws.wait : <@work, tensor<4xi32>>
        %item = ws.get_work %full : <@work, tensor<4xi32>>
        ws.release %full : <@work, tensor<4xi32>>
        ws.end_unless_work %item
      }
    }
    ```
  }];
  let arguments = (ins Tile_WorkType:$work);
  let assemblyFormat = "$work attr-dict";
}
def Ws_FetchWorkOp : Ws_SharedOp<"fetch_work", [], [MemRead, MemWrite]> {
  let summary = "asks the grid's counter for the next work item, which `ws.take_item` returns in the next iteration";
  let description = [{
    Increments the grid's counter and does not wait for the old value before the next iteration. In
    a second run it does nothing, since the last value is not used yet. In a cluster only the
    first CTA asks.

    **Constraints**
    - C1: this role hands `work` out: it is not the result of a `ws.get_work`

    **Example**
    ```mlir
    %item = ws.take_item extents(%blocks, %heads, %batches)
    ws.fetch_work after %item
    ```
  }];
  let arguments = (ins Tile_WorkType:$work);
  let assemblyFormat = "`after` $work attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

def Ws_GiveVerdictOp : Ws_SharedOp<"give_verdict"> {
  let summary = "rejects a work item if `rejected` holds, otherwise accepts it";
  let description = [{
    `rejected` is uniform in each warp. Every warp gives a verdict, and one rejection is
    enough to reject the item. An item that is computed with care (`tile.with_care`) is
    always accepted.

    **Example** `ws.give_verdict @verdict on %w rejected %failed`
  }];
  let arguments = (ins FlatSymbolRefAttr:$verdict, Tile_WorkType:$work, I1:$rejected);
  let assemblyFormat = "$verdict `on` $work `rejected` $rejected attr-dict";
}
def Ws_VerdictSlotOp : Ws_Op<"verdict_slot", [Pure]> {
  let summary = "the number of the slot in the verdict's ring for a work item that was handed out";
  let description = [{
    Created by `attn-lower-channels`.

    **Example** `%number = ws.verdict_slot %w`
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$slot);
  let assemblyFormat = "$work attr-dict";
}

#endif // ATTN_DIALECT_WSWORKOPS_TD
