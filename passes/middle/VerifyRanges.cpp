// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-ranges: computes the bounds of each streaming loop for many sizes
// and work items. They come in the order in which the loop runs, and no range
// has more blocks than it says.
#include "ScalarProgram.h"
#include "attn/dialect/Ws.h"
#include "attn/passes/middle/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include <random>

namespace attn {
#define GEN_PASS_DEF_VERIFYRANGES
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// A launch and one of its work items. Sizes and arguments go by their names.
class Sample {
public:
  Sample(ws::KernelOp kernel, unsigned number)
      : kernel(kernel), config(kernel.getConfig()), random(number + 1),
        parts(1 + below(config.getLastWaveParts())), part(below(parts)),
        isPart(parts > 1 && below(2)), withCare(below(2)), replica(below(4)) {}

  /// Makes up what no launch decides alone; none for values of unknown ops.
  std::optional<int64_t> valueOf(Value value);
  /// Chooses a work item out of so many row blocks, heads and batches.
  void chooseItem(ArrayRef<int64_t> extents);
  void chooseSubtile(int64_t number) { subtile = number; }
  std::string describe() const;

private:
  int64_t below(int64_t count) {
    return static_cast<int64_t>(random() % std::max<int64_t>(count, 1));
  }
  /// A size round the edges of blocks, or a number from 0 on.
  int64_t pick();
  int64_t named(StringRef name);
  std::optional<int64_t> sizeOf(tensor::DimOp dim);
  int64_t ownedRows(tile::OwnedRowsOp owned, unsigned result) const;

  ws::KernelOp kernel;
  ConfigAttr config;
  std::minstd_rand random;
  llvm::MapVector<StringRef, int64_t> chosen;
  std::array<int64_t, 3> item = {}; // row block of the CTA, head, batch
  int64_t subtile = 0;
  int64_t parts, part;
  bool isPart, withCare;
  int64_t replica; // modulo the role's
};

} // namespace

int64_t Sample::pick() {
  int64_t tile = below(2) ? config.getTileM() : config.getTileN();
  int64_t edge = below(6) * tile, beside = below(3) - 1;
  switch (below(4)) {
  case 0:
    return below(4096);
  case 1:
    return below(4);
  default:
    return std::max<int64_t>(edge + beside, 0);
  }
}

int64_t Sample::named(StringRef name) {
  auto known = chosen.find(name);
  if (known == chosen.end()) {
    known = chosen.insert({name, pick()}).first;
  }
  return known->second;
}

/// A size that some argument has static is that of all of its name.
std::optional<int64_t> Sample::sizeOf(tensor::DimOp dim) {
  auto tensor = dyn_cast<BlockArgument>(dim.getSource());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!tensor || !index) {
    return std::nullopt;
  }
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(*index)) {
    return type.getDimSize(*index);
  }
  auto nameOf = [&](unsigned argument, int64_t rank, int64_t index) {
    ArrayRef<StringAttr> names = kernel.getArgs()[argument].getDims();
    return names.empty()
               ? StringAttr::get(kernel.getContext(),
                                 kernel.getArgs().dimsOf(argument, rank)[index])
               : names[index];
  };
  StringAttr name = nameOf(tensor.getArgNumber(), type.getRank(), *index);
  for (BlockArgument other : kernel.getBody().getArguments()) {
    auto shape = dyn_cast<RankedTensorType>(other.getType());
    for (int64_t i = 0; shape && i < shape.getRank(); ++i) {
      if (!shape.isDynamicDim(i) &&
          nameOf(other.getArgNumber(), shape.getRank(), i) == name) {
        return shape.getDimSize(i);
      }
    }
  }
  return named(name.getValue());
}

int64_t Sample::ownedRows(tile::OwnedRowsOp owned, unsigned result) const {
  auto bounds = owned->getParentOfType<tile::BoundsOp>();
  int64_t rows = bounds.countOwnedRows(config);
  if (result == 1) {
    return rows;
  }
  return bounds.getSubtile() ? item[0] * config.getTileM() + subtile * rows
                             : item[0] / config.getCluster() *
                                   config.getCluster() * config.getTileM();
}

std::optional<int64_t> Sample::valueOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto role = dyn_cast<ws::RoleOp>(parent)) {
      return replica % role.getReplicas();
    }
    if (parent == kernel && argument.getType().isSignlessInteger()) {
      StringAttr name = kernel.getArgs()[argument.getArgNumber()].getName();
      return named(name.getValue());
    }
    return std::nullopt;
  }
  unsigned result = cast<OpResult>(value).getResultNumber();
  using Result = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Result>(value.getDefiningOp())
      .Case([&](tensor::DimOp dim) { return sizeOf(dim); })
      .Case([&](tile::CoordsOfOp) { return item[result]; })
      .Case([&](tile::OwnedRowsOp owned) { return ownedRows(owned, result); })
      .Case([&](tile::CutOp) { return result == 1 ? parts : 0; })
      .Case([&](tile::PartOfOp) {
        return result == 0 ? part : result == 1 ? int64_t(isPart) : 0;
      })
      .Case([&](tile::WithCareOp) { return int64_t(withCare); })
      .Default([](Operation *) { return Result(); });
}

void Sample::chooseItem(ArrayRef<int64_t> extents) {
  item = {below(extents[0] * config.getCluster()), below(extents[1]),
          below(extents[2])};
}

std::string Sample::describe() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "with ";
  for (auto [name, value] : chosen) {
    stream << name << " = " << value << ", ";
  }
  stream << "row block " << item[0] << ", head " << item[1] << ", batch "
         << item[2];
  if (isPart) {
    stream << ", part " << part << " of " << parts;
  }
  return text;
}

namespace {

/// The bounds of one loop, computed for one sample after the other.
class LoopTrial {
public:
  LoopTrial(ws::KernelOp kernel, ws::ForOp loop) : kernel(kernel), loop(loop) {}

  LogicalResult run();

private:
  FailureOr<SmallVector<int64_t>> inputsOf(const ScalarProgram &program,
                                           Sample &sample);
  LogicalResult tryOne(Sample &sample);
  LogicalResult check(ArrayRef<int64_t> values, const Sample &sample);

  ws::KernelOp kernel;
  ws::ForOp loop;
  /// What a sample is chosen by, and the bounds.
  ScalarProgram choice, bounds;
  SmallVector<unsigned> extents, subtile, results;
};

} // namespace

FailureOr<SmallVector<int64_t>>
LoopTrial::inputsOf(const ScalarProgram &program, Sample &sample) {
  SmallVector<int64_t> inputs;
  for (Value input : program.getInputs()) {
    std::optional<int64_t> value = sample.valueOf(input);
    if (!value) {
      InFlightDiagnostic error = loop.emitOpError(
          "attn-verify-ranges: expected bounds that are integer arithmetic on "
          "sizes, arguments and work items, got ");
      if (Operation *op = input.getDefiningOp()) {
        error << "a '" << op->getName() << "'";
        error.attachNote(op->getLoc()) << "the op";
      } else {
        error << "a block argument of type " << input.getType();
      }
      return error;
    }
    inputs.push_back(*value);
  }
  return inputs;
}

LogicalResult LoopTrial::check(ArrayRef<int64_t> values, const Sample &sample) {
  bool isDown = loop.getRanges().isDown();
  for (auto [number, range] : llvm::enumerate(loop.getRanges().getList())) {
    int64_t begin = values[results[number]], end = values[results[number + 1]];
    int64_t blocks = isDown ? begin - end : end - begin;
    if (blocks >= 0 && blocks <= range.getAtMost().value_or(blocks)) {
      continue;
    }
    InFlightDiagnostic error = loop.emitOpError("attn-verify-ranges: ");
    if (blocks < 0) {
      error << "expected bounds in the order '"
            << stringifyDirection(loop.getRanges().getDirection()) << "', got "
            << begin << " before " << end << " round range " << number;
    } else {
      error << "expected the blocks of range " << number << " to be at most "
            << *range.getAtMost() << ", got " << blocks;
    }
    error.attachNote() << sample.describe();
    return error;
  }
  return success();
}

/// Samples without items, or whose arithmetic divides by zero, are no launches.
LogicalResult LoopTrial::tryOne(Sample &sample) {
  SmallVector<int64_t> values;
  auto inputs = inputsOf(choice, sample);
  if (failed(inputs)) {
    return failure();
  }
  if (!choice.run(*inputs, values)) {
    return success();
  }
  if (!extents.empty()) {
    auto counts = llvm::map_to_vector(
        extents, [&](unsigned number) { return values[number]; });
    if (llvm::any_of(counts, [](int64_t count) { return count < 1; })) {
      return success();
    }
    sample.chooseItem(counts);
  }
  if (!subtile.empty()) {
    sample.chooseSubtile(values[subtile.front()]);
  }
  inputs = inputsOf(bounds, sample);
  if (failed(inputs)) {
    return failure();
  }
  return bounds.run(*inputs, values) ? check(values, sample) : success();
}

LogicalResult LoopTrial::run() {
  constexpr unsigned samples = 96;
  if (auto work = loop->getParentOfType<ws::WorkLoopOp>()) {
    for (Value extent : work.getOperands()) {
      extents.push_back(choice.add(extent));
    }
  }
  for (Value bound : loop.getBounds()) {
    results.push_back(bounds.add(bound));
    auto source = bound.getDefiningOp<tile::BoundsOp>();
    if (source && source.getSubtile()) {
      subtile.assign({choice.add(source.getSubtile())});
    }
  }
  for (unsigned number = 0; number < samples; ++number) {
    Sample sample(kernel, number);
    if (failed(tryOne(sample))) {
      return failure();
    }
  }
  return success();
}

namespace {

class VerifyRangesPass : public attn::impl::VerifyRangesBase<VerifyRangesPass> {
public:
  using VerifyRangesBase::VerifyRangesBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      WalkResult walked = kernel.walk([&](ws::ForOp loop) {
        return failed(LoopTrial(kernel, loop).run()) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      });
      if (walked.wasInterrupted()) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
