// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WrittenRows.h"
#include "../ScalarProgram.h"

using namespace mlir;
using namespace attn;

/// How far `row` moves where the inputs of its arithmetic that `grows` chooses
/// grow by one; the most over some values of the others, which may choose
/// between rows.
static int64_t stepOf(Value row, function_ref<bool(Value)> grows) {
  constexpr int64_t samples = 8;
  ScalarProgram program;
  unsigned number = program.add(row);
  int64_t most = 0;
  for (int64_t sample = 0; sample < samples; ++sample) {
    SmallVector<int64_t> inputs, values, next;
    for (auto [index, input] : llvm::enumerate(program.getInputs())) {
      int64_t value = (sample >> (index % 3)) & 1;
      inputs.push_back(input.getType().isInteger(1) ? value : value + 1);
    }
    bool exists = program.run(inputs, values);
    for (auto [input, value] : llvm::zip(program.getInputs(), inputs)) {
      value += grows(input);
    }
    if (exists && program.run(inputs, next)) {
      most = std::max(most, std::abs(next[number] - values[number]));
    }
  }
  return most;
}

/// The row block of a work item.
static bool isRowBlock(Value value) {
  auto coords = value.getDefiningOp<tile::CoordsOfOp>();
  return coords && value == coords.getBlock();
}

static bool isTurn(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && value == loop.getInductionVar();
}

void WrittenRows::note(Value dest, Value row, RankedTensorType tile, int item,
                       int64_t first) {
  Rows &rows = all[{dest.getAsOpaquePointer(), item}];
  rows.ofItem = std::max(rows.ofItem, stepOf(row, isRowBlock));
  rows.ofTurn = std::max(rows.ofTurn, stepOf(row, isTurn));
  int64_t &end = rows.written[first];
  end = std::max(end, first + tile.getDimSize(0));
}

/// What is added to, and is not the item's own, has the rows of each block.
LogicalResult
WrittenRows::checkRows(const Rows &rows, ArgumentAttr argument, int64_t blocks,
                       function_ref<InFlightDiagnostic()> emitError) {
  bool adds = argument.getAccess() == ArgumentAccess::Accumulate;
  int64_t got = 0, expected = rows.ofItem;
  for (auto [first, end] : rows.written) {
    got += end - first;
  }
  if (adds && (blocks == 0 || expected == 0)) {
    expected = blocks * rows.ofTurn;
  }
  if (got >= expected && (got > 0 || (adds && blocks == 0))) {
    return success();
  }
  InFlightDiagnostic error = emitError();
  error << (adds ? "add to " : "write ");
  if (expected > 0) {
    return error << expected << " rows of " << argument.getName() << ", got "
                 << got;
  }
  return error << "rows of " << argument.getName() << ", got none";
}

LogicalResult WrittenRows::check(ws::KernelOp kernel,
                                 ArrayRef<SyncItem> items) const {
  for (auto [argument, description] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArgs().getList())) {
    if (description.getAccess() == ArgumentAccess::Read) {
      continue;
    }
    for (int item = 0, e = items.size(); item < e; ++item) {
      auto found = all.find({argument.getAsOpaquePointer(), item});
      auto emitError = [&] {
        return emitSyncError(kernel, items)
               << "V28: expected work item " << item << " to ";
      };
      if (failed(checkRows(found == all.end() ? Rows() : found->second,
                           description, items[item].from(0), emitError))) {
        return failure();
      }
    }
  }
  return success();
}
