// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The families of instructions: each adds the rows of its opcodes.

#ifndef ATTN_SIM_OPS_ROWS_H
#define ATTN_SIM_OPS_ROWS_H

#include "core/opcode_table.h"

namespace attn::sim {

void addIntegerRows(Rows &rows);
void addFloatRows(Rows &rows);
void addPackedFloatRows(Rows &rows);
void addMixedFloatRows(Rows &rows);
void addMinMaxRows(Rows &rows);
void addHalfRows(Rows &rows);
void addMoveRows(Rows &rows);
void addConvertRows(Rows &rows);
void addNarrowRows(Rows &rows);
void addRandomRows(Rows &rows);
void addCompareRows(Rows &rows);
void addMemoryRows(Rows &rows);
void addAtomicRows(Rows &rows);
void addControlRows(Rows &rows);
void addNamedBarrierRows(Rows &rows);
void addWarpRows(Rows &rows);
void addMatrixRows(Rows &rows);
void addMmaRows(Rows &rows);
void addBarrierRows(Rows &rows);
void addBulkRows(Rows &rows);
void addBulkTensorRows(Rows &rows);
void addTensorMapRows(Rows &rows);
void addAsyncCopyRows(Rows &rows);
void addHintRows(Rows &rows);
void addWgmmaRows(Rows &rows);
void addTensorRows(Rows &rows);
void addTensorMoveRows(Rows &rows);
void addTensorMmaRows(Rows &rows);
void addTensorCopyRows(Rows &rows);
void addTensorCommitRows(Rows &rows);
void addClusterRows(Rows &rows);
void addLaunchControlRows(Rows &rows);

} // namespace attn::sim

#endif // ATTN_SIM_OPS_ROWS_H
