// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-ranges: evaluates the bounds of each streaming loop for many
// launches and work items. The bounds must be in the order of the loop, and no
// range may have more blocks than its limit.
#include "CheckedLaunches.h"
#include "attn/dialect/Ws.h"
#include "attn/passes/middle/Passes.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYRANGES
#include "attn/passes/middle/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// One work item of a launch.
class Sample {
public:
  Sample(ws::KernelOp kernel, const CheckedLaunches::Launch &launch,
         std::minstd_rand &random)
      : config(kernel.getConfig()), launch(launch),
        parts(1 + random() % config.getLastWaveParts()), part(random() % parts),
        isPart(parts > 1 && random() % 2), withCare(random() % 2),
        replica(random() % 4), element(random()) {
    for (auto [place, count] : llvm::zip(item, launch.extents)) {
      place = pickItem(count, random);
    }
    int64_t cluster = config.getCluster();
    item[0] = item[0] * cluster + random() % cluster;
  }

  const CheckedLaunches::Launch &getLaunch() const { return launch; }
  void chooseSubtile(int64_t number) { subtile = number; }
  /// Returns a value that the launch does not decide; nothing for unknown ops.
  std::optional<int64_t> valueOf(Value value) const;
  std::string describe() const;

private:
  static int64_t pickItem(int64_t count, std::minstd_rand &random);
  int64_t ownedRows(tile::OwnedRowsOp owned, unsigned result) const;
  std::optional<int64_t> elementOf(tile::GatherOp gather) const;

  ConfigAttr config;
  const CheckedLaunches::Launch &launch;
  std::array<int64_t, 3> item = {}; // row block of the CTA, head, batch
  int64_t subtile = 0;
  int64_t parts, part;
  bool isPart, withCare;
  int64_t replica;  // modulo the number of the role's replicas
  uint64_t element; // for elements of captures
};

} // namespace

/// Picks the first item, the last, or any.
int64_t Sample::pickItem(int64_t count, std::minstd_rand &random) {
  switch (random() % 4) {
  case 0:
    return 0;
  case 1:
    return count - 1;
  default:
    return random() % count;
  }
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

/// Returns a number that the capture may hold: near a length, or any.
std::optional<int64_t> Sample::elementOf(tile::GatherOp gather) const {
  auto type = dyn_cast<IntegerType>(gather.getType());
  if (!type) {
    return std::nullopt;
  }
  bool isSmall = element % 4 != 0;
  int64_t number = isSmall ? static_cast<int64_t>(element % 4096) - 16
                           : static_cast<int64_t>(element * 0x9E3779B97F4A7C15);
  return type.getWidth() == 1 ? number & 1
                              : llvm::SignExtend64(number, type.getWidth());
}

std::optional<int64_t> Sample::valueOf(Value value) const {
  using Result = std::optional<int64_t>;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto role = dyn_cast<ws::RoleOp>(argument.getOwner()->getParentOp());
    return role ? Result(replica % role.getReplicas()) : Result();
  }
  unsigned result = cast<OpResult>(value).getResultNumber();
  return llvm::TypeSwitch<Operation *, Result>(value.getDefiningOp())
      .Case([&](tile::WorkCoordsOp) { return item[result]; })
      .Case([&](tile::OwnedRowsOp owned) { return ownedRows(owned, result); })
      .Case([&](tile::CutOp) { return result == 1 ? parts : 0; })
      .Case([&](tile::PartOfOp) {
        return result == 0 ? part : result == 1 ? int64_t(isPart) : 0;
      })
      .Case([&](tile::WithCareOp) { return int64_t(withCare); })
      .Case([&](tile::GatherOp gather) { return elementOf(gather); })
      .Default([](Operation *) { return Result(); });
}

std::string Sample::describe() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "row block " << item[0] << ", head " << item[1] << ", batch "
         << item[2];
  if (isPart) {
    stream << ", part " << part << " of " << parts;
  }
  return text;
}

namespace {

/// Evaluates the bounds of one loop for one sample after the other.
class LoopTrial {
public:
  LoopTrial(const CheckedLaunches &launches, ws::ForOp loop)
      : launches(launches), loop(loop) {}

  LogicalResult run(ws::KernelOp kernel);

private:
  /// The arithmetic, and for each of its inputs the index of the number of the
  /// launch that it is, if any.
  struct Program {
    ScalarProgram program;
    SmallVector<std::optional<unsigned>> numbers;
  };

  void readNumbers(Program &program);
  FailureOr<SmallVector<int64_t>> inputsOf(const Program &program,
                                           const Sample &sample);
  InFlightDiagnostic refuseInput(Value input);
  LogicalResult tryOne(Sample &sample);
  LogicalResult check(ArrayRef<int64_t> values, const Sample &sample);

  const CheckedLaunches &launches;
  ws::ForOp loop;
  Program choice, bounds;
  SmallVector<unsigned> subtile, results;
};

} // namespace

void LoopTrial::readNumbers(Program &program) {
  for (Value input : program.program.getInputs()) {
    program.numbers.push_back(launches.getNumbers().find(input));
  }
}

InFlightDiagnostic LoopTrial::refuseInput(Value input) {
  InFlightDiagnostic error = loop.emitOpError(
      "attn-verify-ranges: expected bounds that are integer arithmetic on "
      "sizes, arguments, elements of captures and work items, got ");
  if (Operation *op = input.getDefiningOp()) {
    error << "a '" << op->getName() << "'";
    error.attachNote(op->getLoc()) << "the op";
  } else {
    error << "a block argument of type " << input.getType();
  }
  return error;
}

FailureOr<SmallVector<int64_t>> LoopTrial::inputsOf(const Program &program,
                                                    const Sample &sample) {
  SmallVector<int64_t> inputs;
  for (auto [input, number] :
       llvm::zip(program.program.getInputs(), program.numbers)) {
    std::optional<int64_t> value =
        number ? sample.getLaunch().values[*number] : sample.valueOf(input);
    if (!value) {
      return refuseInput(input);
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
            << begin << " before " << end << " for range " << number;
    } else {
      error << "expected the blocks of range " << number << " to be at most "
            << *range.getAtMost() << ", got " << blocks;
    }
    error.attachNote() << "with " << launches.describe(sample.getLaunch())
                       << ", " << sample.describe();
    return error;
  }
  return success();
}

/// A launch whose arithmetic divides by zero is invalid.
LogicalResult LoopTrial::tryOne(Sample &sample) {
  SmallVector<int64_t> values;
  auto inputs = inputsOf(choice, sample);
  if (failed(inputs)) {
    return failure();
  }
  if (!choice.program.run(*inputs, values)) {
    return success();
  }
  if (!subtile.empty()) {
    sample.chooseSubtile(values[subtile.front()]);
  }
  inputs = inputsOf(bounds, sample);
  if (failed(inputs)) {
    return failure();
  }
  return bounds.program.run(*inputs, values) ? check(values, sample)
                                             : success();
}

LogicalResult LoopTrial::run(ws::KernelOp kernel) {
  for (Value bound : loop.getBounds()) {
    results.push_back(bounds.program.add(bound));
    auto source = bound.getDefiningOp<tile::BoundsOp>();
    if (source && source.getSubtile()) {
      subtile.assign({choice.program.add(source.getSubtile())});
    }
  }
  readNumbers(choice);
  readNumbers(bounds);
  std::minstd_rand random;
  for (const CheckedLaunches::Launch &launch : launches.get()) {
    Sample sample(kernel, launch, random);
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
      if (failed(verify(kernel))) {
        return signalPassFailure();
      }
    }
  }

private:
  static LogicalResult verify(ws::KernelOp kernel) {
    constexpr unsigned samples = 96;
    SmallVector<ws::ForOp> loops;
    kernel.walk([&](ws::ForOp loop) { loops.push_back(loop); });
    CheckedLaunches launches(kernel);
    if (loops.empty()) {
      return success();
    }
    if (failed(launches.make(samples))) {
      return failure();
    }
    return success(llvm::all_of(loops, [&](ws::ForOp loop) {
      return succeeded(LoopTrial(launches, loop).run(kernel));
    }));
  }
};

} // namespace
