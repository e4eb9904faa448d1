// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level L2: roles, channels between them, and linear async tokens.
#ifndef ATTN_DIALECT_WSOPS_TD
#define ATTN_DIALECT_WSOPS_TD

include "attn/dialect/WsEnums.td"
include "attn/dialect/TileTypes.td"

def Ws_Dialect : Dialect {
  let name = "ws";
  let cppNamespace = "::attn::ws";
  let summary = "Roles of warps, channels between them, and linear async tokens";
  // types follow
  let dependentDialects = ["::attn::tile::TileDialect"];
}

#endif // ATTN_DIALECT_WSOPS_TD
