// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stamps: the times at which a kernel passes points of its program.
#ifndef ATTN_DIALECT_WSSTAMPOPS_TD
#define ATTN_DIALECT_WSSTAMPOPS_TD

include "attn/dialect/WsEnums.td"

def Ws_StampsOp : Ws_Op<"stamps", [MemoryEffects<[MemWrite]>, HasParent<"KernelOp">]> {
  let summary = "the kernel writes stamps, into memory of a fixed size";
  let description = [{
    The first `ctas` CTAs and the last one keep stamps: the first `events` stamps of every
    replica of a role. Later stamps are only counted.

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
  let summary = "one thread of the replica records the time and the activity that begins here";
  let description = [{
    The activity of the previous stamp ends here. `object` is the channel, turn, edge,
    rendezvous or hold of the activity, if it has one.

    **Constraints**
    - C1: the kernel has one `ws.stamps`
    - C2: in a `ws.role`

    **Example**
    ```mlir
    ws.stamps events 4096 ctas 4
    ws.role @wg warps 4 regs 240 replicas 2 {
    ^bb0(%number: i32):
      ws.stamp wait "k"
    }
    ```
  }];
  let arguments = (ins EnumProp<Ws_Activity>:$activity, OptionalAttr<StrAttr>:$object);
  let assemblyFormat = "$activity ($object^)? attr-dict";
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_WSSTAMPOPS_TD
