// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "machine/instruction_set.h"

#include "core/decoder.h"
#include "ops/rows.h"

using namespace attn::sim;

static OpcodeTable makeOpcodeTable() {
  Rows rows;
  addIntegerRows(rows);
  addFloatRows(rows);
  addPackedFloatRows(rows);
  addMixedFloatRows(rows);
  addMinMaxRows(rows);
  addHalfRows(rows);
  addMoveRows(rows);
  addConvertRows(rows);
  addNarrowRows(rows);
  addRandomRows(rows);
  addCompareRows(rows);
  addMemoryRows(rows);
  addAtomicRows(rows);
  addControlRows(rows);
  addNamedBarrierRows(rows);
  addWarpRows(rows);
  addMatrixRows(rows);
  addMmaRows(rows);
  addBarrierRows(rows);
  addBulkRows(rows);
  addBulkTensorRows(rows);
  addTensorMapRows(rows);
  addAsyncCopyRows(rows);
  addHintRows(rows);
  const size_t wgmma = rows.size();
  addWgmmaRows(rows);
  require(rows, wgmma, kUpToHopper);
  const size_t tensor = rows.size();
  addTensorRows(rows);
  addTensorMoveRows(rows);
  addTensorMmaRows(rows);
  addTensorCopyRows(rows);
  addTensorCommitRows(rows);
  require(rows, tensor, kFamily100);
  addClusterRows(rows);
  addLaunchControlRows(rows);
  return OpcodeTable(rows);
}

bool attn::sim::decode(std::shared_ptr<const ptx::Module> module,
                       std::string_view name, Program &program,
                       Diagnostic &diagnostic) {
  static const OpcodeTable table = makeOpcodeTable();
  return decodeKernel(table, std::move(module), name, program, diagnostic);
}
