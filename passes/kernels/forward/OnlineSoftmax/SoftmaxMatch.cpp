// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SoftmaxMatch.h"

using namespace mlir;
using namespace attn;

/// Returns the step that contains only `op` and whose arguments are these
/// operands.
static FailureOr<tile::StepOp> stepOf(Operation *op, ValueRange operands) {
  auto step = dyn_cast<tile::StepOp>(op->getParentOp());
  if (!step || !llvm::hasNItems(step.getBody().front(), 2)) {
    return op->emitOpError("expected to be the only op of a 'tile.step'");
  }
  if (step->getNumOperands() != operands.size()) {
    return op->emitOpError("expected step @")
           << step.getName() << " to have " << operands.size()
           << " operands, got " << step->getNumOperands();
  }
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (operand != step.getBody().getArgument(unsigned(i))) {
      return op->emitOpError("expected operand #")
             << i << " to be argument #" << i << " of step @" << step.getName();
    }
  }
  if (!llvm::equal(step.getBody().front().getTerminator()->getOperands(),
                   op->getResults())) {
    return op->emitOpError("expected step @")
           << step.getName() << " to yield the results of the op";
  }
  return step;
}

/// Checks the state: a carried value that starts at zero and that only attend
/// uses.
static LogicalResult matchState(SoftmaxMatch &match) {
  tile::AttendOp op = match.attend;
  auto state = dyn_cast<BlockArgument>(match.state);
  if (!state || state.getOwner() != &match.loop.getBody().front() ||
      state.getArgNumber() == 0) {
    return op.emitOpError("expected 'state' to be carried by the 'tile.for'");
  }
  match.carried = state.getArgNumber() - 1;
  Operation *yield = match.loop.getBody().front().getTerminator();
  if (yield->getOperand(match.carried) != match.attendStep.getResult(0)) {
    return op.emitOpError("expected the loop to carry the result of step @")
           << match.attendStep.getName() << " as value #" << match.carried;
  }
  if (!state.hasOneUse() || !match.attendStep.getResult(0).hasOneUse()) {
    return op.emitOpError("expected 'state' and the result to have no other "
                          "use in the loop");
  }
  if (!matchPattern(match.loop.getInits()[match.carried], m_AnyZeroFloat())) {
    return match.loop.emitOpError("expected the attend state, value #")
           << match.carried << ", to start at zero";
  }
  return success();
}

/// Checks a step whose body moves to the step that needs its result.
static LogicalResult checkMoved(Operation *op, tile::StepOp step,
                                StringRef operand) {
  if (step && step->getNumResults() == 1 && step->hasOneUse()) {
    return success();
  }
  return op->emitOpError("expected '")
         << operand << "' to be the result of a 'tile.step' without other "
         << "results or uses";
}

static LogicalResult matchResult(SoftmaxMatch &match) {
  Value last = match.loop.getResult(match.carried);
  for (Operation *user : last.getUsers()) {
    auto step = dyn_cast<tile::StepOp>(user);
    if (!step || match.resultStep) {
      return user->emitOpError("expected one step with 'tile.attend_result' to "
                               "be the only use of the attend state");
    }
    match.resultStep = step;
  }
  if (!match.resultStep) {
    return match.loop.emitOpError("expected 'tile.attend_result' to read the "
                                  "attend state, value #")
           << match.carried;
  }
  auto result = dyn_cast<tile::AttendResultOp>(
      match.resultStep.getBody().front().front());
  if (!result) {
    return match.resultStep.emitOpError("expected 'tile.attend_result' in the "
                                        "step that reads the attend state");
  }
  if (failed(stepOf(result, result->getOperands()))) {
    return failure();
  }
  if (result.getSinks()) {
    match.sinkStep =
        match.resultStep.getOperand(1).getDefiningOp<tile::StepOp>();
    return checkMoved(result, match.sinkStep, "sinks");
  }
  return success();
}

/// Shapes: scores M x N, values N x D, state M x D.
static LogicalResult checkTypes(SoftmaxMatch &match, tile::KernelOp kernel) {
  auto s = cast<RankedTensorType>(match.scores.getType());
  auto v = cast<RankedTensorType>(match.values.getType());
  auto o = cast<RankedTensorType>(match.state.getType());
  if (!s.hasStaticShape() || !v.hasStaticShape() || !o.hasStaticShape() ||
      s.getRank() != 2 || v.getRank() != 2 || o.getRank() != 2 ||
      s.getDimSize(1) != v.getDimSize(0) ||
      o.getDimSize(0) != s.getDimSize(0) ||
      o.getDimSize(1) != v.getDimSize(1) || !s.getElementType().isF32() ||
      !o.getElementType().isF32()) {
    return match.attend.emitOpError("expected scores of MxNxf32, values of "
                                    "NxD and a state of MxDxf32, got ")
           << s << ", " << v << " and " << o;
  }
  Operation *result = &match.resultStep.getBody().front().front();
  auto row = RankedTensorType::get({s.getDimSize(0)}, s.getElementType());
  if (result->getResult(0).getType() != o ||
      result->getResult(1).getType() != row) {
    return result->emitOpError("expected results of ")
           << o << " and " << row << ", got " << result->getResult(0).getType()
           << " and " << result->getResult(1).getType();
  }
  Region *region = match.attend.getScale().getParentRegion();
  if (region != &kernel.getBody()) {
    return match.attend.emitOpError("expected 'scale' to be a value of the "
                                    "kernel, outside 'tile.work'");
  }
  return success();
}

/// Finds the work item, which is needed only for a reference that may fail and
/// for items in parts.
static LogicalResult matchWork(SoftmaxMatch &match, tile::KernelOp kernel) {
  RowMax rowMax = kernel.getConfig()->getRowMax();
  int64_t parts = kernel.getConfig()->getLastWaveParts();
  if (rowMax == RowMax::Running && parts == 1) {
    return success();
  }
  for (auto step : match.loop->getBlock()->getOps<tile::StepOp>()) {
    for (auto next : step.getBody().getOps<tile::NextWorkOp>()) {
      match.work = step.getResult(0);
      match.parts = next.getParts();
    }
  }
  Operation *work = match.loop->getParentOp();
  if (!match.work && rowMax != RowMax::Running) {
    return work->emitOpError("expected a step with 'tile.next_work' where "
                             "'row_max' is ")
           << stringifyRowMax(rowMax) << ", got none";
  }
  if (!match.parts && parts > 1) {
    return work->emitOpError("expected a 'tile.next_work' with 'cut' where "
                             "'last_wave_parts' is ")
           << parts << ", got none";
  }
  return success();
}

FailureOr<SoftmaxMatch> attn::matchSoftmax(tile::AttendOp attend,
                                           tile::KernelOp kernel) {
  SoftmaxMatch match;
  match.attend = attend;
  SmallVector<Value> operands{attend.getScores(), attend.getValues(),
                              attend.getState()};
  if (attend.getKeep()) {
    operands.push_back(attend.getKeep());
  }
  auto step = stepOf(attend, operands);
  if (failed(step)) {
    return failure();
  }
  match.attendStep = *step;
  match.loop = dyn_cast<tile::ForOp>((*step)->getParentOp());
  if (!match.loop) {
    return attend.emitOpError("expected step @")
           << step->getName() << " to be in a 'tile.for', got '"
           << (*step)->getParentOp()->getName() << "'";
  }
  if (!isa<tile::WorkOp>(match.loop->getParentOp())) {
    return match.loop.emitOpError("expected to be in a 'tile.work', got '")
           << match.loop->getParentOp()->getName() << "'";
  }
  match.scores = step->getOperand(0);
  match.values = step->getOperand(1);
  match.state = step->getOperand(2);
  if (attend.getKeep()) {
    match.keepStep = step->getOperand(3).getDefiningOp<tile::StepOp>();
    if (failed(checkMoved(attend, match.keepStep, "keep"))) {
      return failure();
    }
  }
  if (failed(matchState(match)) || failed(matchResult(match)) ||
      failed(checkTypes(match, kernel)) || failed(matchWork(match, kernel))) {
    return failure();
  }
  return match;
}
