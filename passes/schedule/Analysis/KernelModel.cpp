// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/KernelModel.h"
#include "attn/dialect/ItemMemory.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

LogicalResult sched::reject(EmitError emitError, StringRef rule,
                            const llvm::formatv_object_base &message) {
  return emitError() << (rule + ": " + message.str()).str();
}

int KernelModel::findValue(StringRef name) const {
  auto it = valueIndex.find(name);
  return it == valueIndex.end() ? -1 : it->second;
}

int KernelModel::findStep(StringRef name) const {
  auto it = stepIndex.find(name);
  return it == stepIndex.end() ? -1 : it->second;
}

std::optional<ValueInstance> KernelModel::resolve(int value, int item,
                                                  int iteration, int first,
                                                  int end) const {
  if (values[value].origin == Origin::Final) {
    iteration = end;
  }
  // A carried value may be yielded unchanged, so this may take several steps.
  while (value >= 0 && values[value].origin != Origin::Step) {
    if (iteration == first) {
      return std::nullopt;
    }
    --iteration;
    value = values[value].yielded;
  }
  if (value < 0) {
    return std::nullopt;
  }
  return ValueInstance{value, item,
                       values[value].perIteration() ? iteration : -1};
}

namespace attn::sched {

/// Builds the model from the IR.
class KernelReader {
public:
  KernelReader(KernelModel &model, ConfigAttr config, KernelValuesAttr names,
               EmitError emitError)
      : model(model), config(config), names(names), emitError(emitError) {}

  LogicalResult read(tile::KernelOp kernel);

private:
  LogicalResult readStep(tile::StepOp op, LoopPosition region);
  LogicalResult readLoop(tile::ForOp op);
  LogicalResult connectLoop(tile::ForOp op);
  LogicalResult addValue(Value value, StringAttr name, ArrayAttr axes,
                         Origin origin, LoopPosition region);
  LogicalResult checkAxis(StringRef name, StringRef axis, int64_t size);
  void readEngine(tile::StepOp op, KernelStep &step);
  int operandOf(tile::StepOp op, Value inner);
  void findFamilies();

  KernelModel &model;
  ConfigAttr config;
  KernelValuesAttr names;
  EmitError emitError;
  llvm::DenseMap<Value, int> known;
  llvm::StringMap<int64_t> axisSizes;
};

} // namespace attn::sched

LogicalResult KernelReader::checkAxis(StringRef name, StringRef axis,
                                      int64_t size) {
  auto [it, isNew] = axisSizes.try_emplace(axis, size);
  if (isNew || it->second == size || model.tiles == Tiles::Cut) {
    return success();
  }
  return reject(emitError, "V1",
                formatv("expected axis '{0}' of value '{1}' to have {2} "
                        "elements, got {3}",
                        axis, name, it->second, size));
}

LogicalResult KernelReader::addValue(Value value, StringAttr name,
                                     ArrayAttr axes, Origin origin,
                                     LoopPosition region) {
  KernelValue entry;
  entry.ir = value;
  entry.name = name.getValue();
  entry.origin = origin;
  entry.region = region;
  entry.isWork = isa<tile::WorkType>(value.getType());
  // A work item is read and written in one access of 16 bytes.
  entry.elementBytes = entry.isWork ? 16 : 4;
  if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
    if (!type.hasStaticShape() || type.getRank() != int64_t(axes.size()) ||
        !type.getElementType().isIntOrFloat()) {
      return reject(emitError, "V1",
                    formatv("expected value '{0}' to have {1} axes, got {2}",
                            entry.name, axes.size(), type));
    }
    entry.elementBytes =
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    type = tile::pieceTypeOf(value);
    llvm::append_range(entry.shape, type.getShape());
    for (auto [axis, size] :
         llvm::zip(axes.getAsRange<StringAttr>(), type.getShape())) {
      entry.axes.push_back(axis.getValue());
      if (failed(checkAxis(entry.name, axis.getValue(), size))) {
        return failure();
      }
    }
  } else if (!axes.empty()) {
    return reject(emitError, "V1",
                  formatv("expected value '{0}' to be a tile, got {1}",
                          entry.name, value.getType()));
  }
  int index = model.values.size();
  if (!model.valueIndex.try_emplace(entry.name, index).second) {
    return reject(emitError, "V1",
                  formatv("expected names of values to differ, got '{0}' twice",
                          entry.name));
  }
  known[value] = index;
  model.values.push_back(std::move(entry));
  return success();
}

/// Returns the operand of the step that a value in its body is, or that it is a
/// piece or another layout of.
int KernelReader::operandOf(tile::StepOp op, Value inner) {
  while (inner && isa_and_present<tile::PieceOp, tile::ConvertLayoutOp>(
                      inner.getDefiningOp())) {
    inner = inner.getDefiningOp()->getOperand(0);
  }
  auto argument = dyn_cast_if_present<BlockArgument>(inner);
  if (!argument || argument.getOwner() != &op.getBody().front() ||
      argument.getArgNumber() >= op.getOperands().size()) {
    return -1;
  }
  auto it = known.find(op.getOperands()[argument.getArgNumber()]);
  return it == known.end() ? -1 : it->second;
}

void KernelReader::readEngine(tile::StepOp op, KernelStep &step) {
  for (Operation &inner : op.getBody().front()) {
    if (isa<tile::LoadOp, tile::LoadRowOp>(inner)) {
      step.engine = Engine::Copy;
    } else if (isa<tile::StoreOp, tile::ReduceAddOp>(inner)) {
      step.engine = Engine::Store;
    } else if (auto mma = dyn_cast<tile::MmaOp>(inner)) {
      step.engine = Engine::Mma;
      step.a = operandOf(op, mma.getA());
      step.b = operandOf(op, mma.getB());
      step.accumulator = operandOf(op, mma.getAcc());
    }
  }
}

LogicalResult KernelReader::readStep(tile::StepOp op, LoopPosition region) {
  KernelStep step;
  step.op = op;
  step.name = op.getName();
  step.region = region;
  for (Value operand : op.getOperands()) {
    // A value that is neither the result of a step nor carried is a constant.
    if (auto it = known.find(operand); it != known.end()) {
      step.reads.push_back(it->second);
    }
  }
  readEngine(op, step);
  if (op.getMasked()) {
    auto it = known.find(op.getOperand(0));
    step.passedOn = it == known.end() ? -1 : it->second;
  }
  int index = model.steps.size();
  if (!model.stepIndex.try_emplace(step.name, index).second) {
    return reject(emitError, "V1",
                  formatv("expected step '{0}' once, got it twice", step.name));
  }
  ValuesAttr results = names.findStep(step.name);
  size_t count = results ? results.getNames().size() : 0;
  if (count < op->getNumResults()) {
    return reject(
        emitError, "V1",
        formatv("expected names for the {0} results of step '{1}', got {2}",
                op->getNumResults(), step.name, count));
  }
  for (size_t i = 0; i < op->getNumResults(); ++i) {
    if (failed(addValue(op->getResult(i), results.getNames()[i],
                        results.getAxes()[i], Origin::Step, region))) {
      return failure();
    }
    step.writes.push_back(model.values.size() - 1);
    model.values.back().producer = index;
  }
  if (step.writes.empty() && step.holds<tile::LoadOp>()) {
    return reject(emitError, "V1",
                  formatv("expected step '{0}' to have what it loads as a "
                          "result, got no result",
                          step.name));
  }
  model.steps.push_back(std::move(step));
  return success();
}

LogicalResult KernelReader::readLoop(tile::ForOp op) {
  size_t carried = op->getNumResults();
  Block &body = op.getBody().front();
  if (names.getCarried().getNames().size() < carried ||
      names.getFinal().getNames().size() < carried ||
      body.getNumArguments() != carried + 1) {
    return reject(emitError, "V1",
                  formatv("expected names for the {0} carried values of the "
                          "loop, got {1} and {2}",
                          carried, names.getCarried().getNames().size(),
                          names.getFinal().getNames().size()));
  }
  for (size_t i = 0; i < carried; ++i) {
    if (failed(addValue(body.getArgument(i + 1),
                        names.getCarried().getNames()[i],
                        names.getCarried().getAxes()[i], Origin::Carried,
                        LoopPosition::Loop))) {
      return failure();
    }
  }
  for (auto step : body.getOps<tile::StepOp>()) {
    if (failed(readStep(step, LoopPosition::Loop))) {
      return failure();
    }
  }
  for (size_t i = 0; i < carried; ++i) {
    if (failed(addValue(op->getResult(i), names.getFinal().getNames()[i],
                        names.getFinal().getAxes()[i], Origin::Final,
                        LoopPosition::After))) {
      return failure();
    }
  }
  return connectLoop(op);
}

LogicalResult KernelReader::connectLoop(tile::ForOp op) {
  auto bounds = op.getBounds().front().getDefiningOp<tile::BoundsOp>();
  model.rangesFollowRows =
      bounds && !bounds.getBody().getOps<tile::OwnedRowsOp>().empty();
  model.runsDown = op.getRanges().isDown();
  Block &body = op.getBody().front();
  auto yield = dyn_cast<tile::YieldOp>(body.back());
  if (!yield || yield->getNumOperands() != op->getNumResults()) {
    return reject(
        emitError, "V1",
        formatv("expected the loop to yield {0} values", op->getNumResults()));
  }
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    auto it = known.find(value);
    int yielded = it == known.end() ? -1 : it->second;
    for (Value end :
         {Value(body.getArgument(i + 1)), Value(op->getResult(i))}) {
      KernelValue &entry = model.values[known[end]];
      entry.yielded = yielded;
      // A value that is yielded unchanged has the producer of its source.
      entry.producer = yielded < 0 ? -1 : model.values[yielded].producer;
    }
  }
  return success();
}

/// Groups values that share storage: an MMA updates its accumulator in place,
/// and a carried value is stored where its next version is.
void KernelReader::findFamilies() {
  llvm::EquivalenceClasses<int> classes;
  BitVector inPlace(model.values.size());
  for (int v = 0, e = model.values.size(); v < e; ++v) {
    classes.insert(v);
  }
  auto join = [&](int a, int b) {
    bool either = inPlace[classes.getLeaderValue(a)] ||
                  inPlace[classes.getLeaderValue(b)];
    classes.unionSets(a, b);
    if (either) {
      inPlace.set(classes.getLeaderValue(a));
    }
  };
  for (const KernelStep &step : model.steps) {
    if (step.accumulator >= 0 && !step.writes.empty()) {
      inPlace.set(classes.getLeaderValue(step.writes.front()));
      join(step.accumulator, step.writes.front());
    }
  }
  for (int v = 0, e = model.values.size(); v < e; ++v) {
    int yielded = model.values[v].yielded;
    if (yielded >= 0 && (inPlace[classes.getLeaderValue(v)] ||
                         inPlace[classes.getLeaderValue(yielded)])) {
      join(v, yielded);
    }
  }
  for (int v = 0, e = model.values.size(); v < e; ++v) {
    model.values[v].family = classes.getLeaderValue(v);
  }
}

LogicalResult KernelReader::read(tile::KernelOp kernel) {
  auto works = kernel.getBody().getOps<tile::WorkOp>();
  if (!llvm::hasSingleElement(works)) {
    return reject(
        emitError, "V1",
        formatv("expected one tile.work in kernel '{0}'", kernel.getSymName()));
  }
  if (names.getKind() != kernel.getProblem().getKind()) {
    return reject(emitError, "V1",
                  formatv("expected value names for kind '{0}', got '{1}'",
                          stringifyKernelKind(kernel.getProblem().getKind()),
                          stringifyKernelKind(names.getKind())));
  }
  axisSizes["M"] = config.getTileM();
  axisSizes["N"] = config.getTileN();
  LoopPosition region = LoopPosition::Before;
  for (Operation &op : (*works.begin()).getBody().front()) {
    if (auto step = dyn_cast<tile::StepOp>(op)) {
      if (failed(readStep(step, region))) {
        return failure();
      }
    } else if (auto loop = dyn_cast<tile::ForOp>(op)) {
      if (region == LoopPosition::After) {
        return reject(emitError, "V1",
                      formatv("expected one tile.for in kernel '{0}'",
                              kernel.getSymName()));
      }
      if (failed(readLoop(loop))) {
        return failure();
      }
      region = LoopPosition::After;
    }
  }
  if (llvm::none_of(model.steps, [](const KernelStep &step) {
        return step.holds<tile::NextWorkOp>();
      })) {
    return reject(emitError, "V1",
                  formatv("expected a step with tile.next_work in kernel "
                          "'{0}', got none",
                          kernel.getSymName()));
  }
  findFamilies();
  return success();
}

FailureOr<KernelModel> KernelModel::build(tile::KernelOp kernel,
                                          ConfigAttr config,
                                          KernelValuesAttr names, Tiles tiles,
                                          EmitError emitError) {
  KernelModel model;
  model.config = config;
  model.tiles = tiles;
  model.mayReject = ws::mayReject(kernel);
  model.claimsItem = ws::claimsItem(kernel.getArgs(), config);
  model.claimsFirstItem = ws::claimsFirstItem(kernel.getArgs(), config);
  if (failed(KernelReader(model, config, names, emitError).read(kernel))) {
    return failure();
  }
  return model;
}
