// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_WSENUMS_TD
#define ATTN_DIALECT_WSENUMS_TD

include "mlir/IR/EnumAttr.td"

def Ws_Activity : I32Enum<"Activity", "what a role does from a stamp on", [
      I32EnumCase<"Item", 0, "item">,
      I32EnumCase<"Run", 1, "run">,
      I32EnumCase<"Acquire", 2, "acquire">,
      I32EnumCase<"Wait", 3, "wait">,
      I32EnumCase<"WaitEdge", 4, "wait_edge">,
      I32EnumCase<"Take", 5, "take">,
      I32EnumCase<"Sync", 6, "sync">,
      I32EnumCase<"Copy", 7, "copy">,
      I32EnumCase<"Mma", 8, "mma">,
      I32EnumCase<"Await", 9, "await">,
      I32EnumCase<"Store", 10, "store">,
      I32EnumCase<"AwaitStore", 11, "await_store">]> {
  let cppNamespace = "::attn::ws";
}

#endif // ATTN_DIALECT_WSENUMS_TD
