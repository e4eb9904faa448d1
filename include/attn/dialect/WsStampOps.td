// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps: where a kernel says when it came past a place.
#ifndef ATTN_DIALECT_WSSTAMPOPS_TD
#define ATTN_DIALECT_WSSTAMPOPS_TD

include "attn/dialect/WsEnums.td"

def Ws_StampsOp : Ws_Op<"stamps", [MemoryEffects<[MemWrite]>, HasParent<"KernelOp">]> {
  let summary = "the kernel writes stamps, into memory of a fixed size";
  let description = [{
    Stamps are kept of the first `ctas` CTAs and of the last one, the first `events`
    of every replica of a role; more are counted alone.

    **Constraints**
    - C1: `events` is from 1 to 2^20, `ctas` from 1 to 64

    **Example** `ws.stamps events 4096 ctas 4`
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<1048576>]>:$events,
    ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<64>]>:$ctas);
  let assemblyFormat = "`events` $events `ctas` $ctas attr-dict";
}

def Ws_StampOp : Ws_Op<"stamp", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one thread of the role's replica writes down the time, and what begins here";
  let description = [{
    What began at the stamp before ends here. `object` is the channel, turn, edge,
    rendezvous or hold in question, if there is one.

    **Constraints**
    - C1: the kernel has one `ws.stamps`
    - C2: in a `ws.role`

    **Example** `ws.stamp wait "k"`
  }];
  let arguments = (ins EnumProp<Ws_Activity>:$activity, OptionalAttr<StrAttr>:$object);
  let assemblyFormat = "$activity ($object^)? attr-dict";
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_WSSTAMPOPS_TD
