// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds tiles whose columns nothing tells apart, so that a thread may hold any
// of them.
#ifndef ATTN_CODEGEN_SM90_BLINDCOLUMNS_H
#define ATTN_CODEGEN_SM90_BLINDCOLUMNS_H

#include "../common/TilePatterns.h"

namespace attn::codegen::sm90 {

/// Marks the loads and the stores from registers of such tiles with
/// `anyColumnsAttr`. All of them that meet in one op have the same mark.
void markBlindColumns(ws::RoleOp role);

} // namespace attn::codegen::sm90

#endif // ATTN_CODEGEN_SM90_BLINDCOLUMNS_H
