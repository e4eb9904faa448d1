// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-ranges: evaluates the bounds of each streaming loop for many
// launches and work items. The bounds must be in the order of the loop, and no
// range may have more blocks than its limit. An item must have one gap between
// two runs of blocks.
#include "CheckedLaunches.h"
#include "attn/dialect/Ws.h"
#include "attn/passes/middle/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

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
  std::optional<int64_t> elementOf(IntegerType type) const;
  std::optional<int64_t> extremeOf(scf::ParallelOp rows, unsigned result) const;

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
std::optional<int64_t> Sample::elementOf(IntegerType type) const {
  if (!type) {
    return std::nullopt;
  }
  bool isSmall = element % 4 != 0;
  int64_t number = isSmall ? static_cast<int64_t>(element % 4096) - 16
                           : static_cast<int64_t>(element * 0x9E3779B97F4A7C15);
  return type.getWidth() == 1 ? number & 1
                              : llvm::SignExtend64(number, type.getWidth());
}

/// Invents the smallest or the largest number over some rows: the more rows,
/// the further it is from the number of one row.
std::optional<int64_t> Sample::extremeOf(scf::ParallelOp loop,
                                         unsigned result) const {
  auto type = dyn_cast<IntegerType>(loop.getType(result));
  std::optional<int64_t> number = elementOf(type);
  auto end = loop.getUpperBound().front().getDefiningOp<arith::IndexCastOp>();
  auto sum = end ? end.getIn().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  if (!number || !sum) {
    return std::nullopt;
  }
  APInt constant;
  std::optional<int64_t> rows =
      matchPattern(sum.getRhs(), m_ConstantInt(&constant))
          ? std::optional(constant.getSExtValue())
          : valueOf(sum.getRhs());
  Region &reduction = loop.getBody()->getTerminator()->getRegion(result);
  Operation &combine = reduction.front().front();
  int64_t apart = isa<arith::MinSIOp>(combine)   ? -1
                  : isa<arith::MaxSIOp>(combine) ? 1
                                                 : 0;
  if (!rows || apart == 0) {
    return std::nullopt;
  }
  int64_t own = *number + int64_t(result / 2 * (element / 4096 % 1024));
  return std::clamp<int64_t>(own + apart * *rows,
                             llvm::minIntN(type.getWidth()),
                             llvm::maxIntN(type.getWidth()));
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
      .Case([&](tile::GatherOp gather) {
        return elementOf(dyn_cast<IntegerType>(gather.getType()));
      })
      .Case([&](arith::FPToSIOp) { // of elements that a kernel has computed
        return elementOf(dyn_cast<IntegerType>(value.getType()));
      })
      .Case([&](scf::ParallelOp rows) { return extremeOf(rows, result); })
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

/// Integers that an op uses, evaluated for one sample after the other.
class Evaluation {
public:
  Evaluation(const CheckedLaunches &launches, Operation *user)
      : launches(launches), user(user) {}

  /// Returns the number of the value among those of a run.
  unsigned add(Value value) { return program.add(value); }
  /// Call it after the last add().
  void readNumbers();
  /// Returns false for a launch whose arithmetic divides by zero.
  FailureOr<bool> run(const Sample &sample, SmallVectorImpl<int64_t> &values);

private:
  InFlightDiagnostic refuseInput(Value input);

  const CheckedLaunches &launches;
  Operation *user;
  ScalarProgram program;
  /// For each input: the index of the number of the launch that it stands for,
  /// if any.
  SmallVector<std::optional<unsigned>> numbers;
};

} // namespace

void Evaluation::readNumbers() {
  for (Value input : program.getInputs()) {
    numbers.push_back(launches.getNumbers().find(input));
  }
}

InFlightDiagnostic Evaluation::refuseInput(Value input) {
  InFlightDiagnostic error = user->emitOpError(
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

FailureOr<bool> Evaluation::run(const Sample &sample,
                                SmallVectorImpl<int64_t> &values) {
  SmallVector<int64_t> inputs;
  for (auto [input, number] : llvm::zip(program.getInputs(), numbers)) {
    std::optional<int64_t> value =
        number ? sample.getLaunch().values[*number] : sample.valueOf(input);
    if (!value) {
      return refuseInput(input);
    }
    inputs.push_back(*value);
  }
  return program.run(inputs, values);
}

namespace {

/// Evaluates the bounds of one loop.
class LoopTrial {
public:
  LoopTrial(const CheckedLaunches &launches, ws::ForOp loop)
      : launches(launches), loop(loop), choice(launches, loop),
        bounds(launches, loop) {}

  LogicalResult run(ws::KernelOp kernel);

private:
  LogicalResult tryOne(Sample &sample);
  LogicalResult check(ArrayRef<int64_t> values, const Sample &sample);

  const CheckedLaunches &launches;
  ws::ForOp loop;
  Evaluation choice, bounds;
  SmallVector<unsigned> subtile, results;
};

/// Evaluates all `tile.skip` of a kernel: an item has one gap, which is the
/// same in all roles.
class GapTrial {
public:
  GapTrial(const CheckedLaunches &launches, ArrayRef<tile::SkipOp> skips)
      : launches(launches), skips(skips) {}

  LogicalResult run(ws::KernelOp kernel);

private:
  LogicalResult tryOne(const Sample &sample);
  InFlightDiagnostic error(tile::SkipOp skip, const Sample &sample,
                           const Twine &text);

  const CheckedLaunches &launches;
  ArrayRef<tile::SkipOp> skips;
  std::vector<Evaluation> evaluations;
  SmallVector<std::array<unsigned, 2>> results; // where it begins, and its size
};

} // namespace

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
  FailureOr<bool> isValid = choice.run(sample, values);
  if (failed(isValid) || !*isValid) {
    return isValid;
  }
  if (!subtile.empty()) {
    sample.chooseSubtile(values[subtile.front()]);
  }
  isValid = bounds.run(sample, values);
  return failed(isValid) || !*isValid ? LogicalResult(isValid)
                                      : check(values, sample);
}

LogicalResult LoopTrial::run(ws::KernelOp kernel) {
  for (Value bound : loop.getBounds()) {
    results.push_back(bounds.add(bound));
    auto source = bound.getDefiningOp<tile::BoundsOp>();
    if (source && source.getSubtile()) {
      subtile.assign({choice.add(source.getSubtile())});
    }
  }
  choice.readNumbers();
  bounds.readNumbers();
  std::minstd_rand random;
  for (const CheckedLaunches::Launch &launch : launches.get()) {
    Sample sample(kernel, launch, random);
    if (failed(tryOne(sample))) {
      return failure();
    }
  }
  return success();
}

InFlightDiagnostic GapTrial::error(tile::SkipOp skip, const Sample &sample,
                                   const Twine &text) {
  InFlightDiagnostic error = skip.emitOpError("attn-verify-ranges: ") << text;
  error.attachNote() << "with " << launches.describe(sample.getLaunch()) << ", "
                     << sample.describe();
  return error;
}

LogicalResult GapTrial::tryOne(const Sample &sample) {
  std::optional<std::array<int64_t, 2>> first;
  for (auto [skip, evaluation, result] :
       llvm::zip_equal(skips, evaluations, results)) {
    SmallVector<int64_t> values;
    FailureOr<bool> isValid = evaluation.run(sample, values);
    if (failed(isValid) || !*isValid) {
      return isValid;
    }
    std::array<int64_t, 2> gap{values[result[0]], values[result[1]]};
    if (gap[0] < 0 || gap[1] < 0) {
      return error(skip, sample,
                   "expected a gap of at least 0 blocks from a block on, got " +
                       Twine(gap[1]) + " from " + Twine(gap[0]));
    }
    first = first.value_or(gap);
    if (*first != gap) {
      return error(skip, sample,
                   "expected one gap in an item, got " + Twine((*first)[1]) +
                       " blocks from " + Twine((*first)[0]) + ", and " +
                       Twine(gap[1]) + " from " + Twine(gap[0]));
    }
  }
  return success();
}

LogicalResult GapTrial::run(ws::KernelOp kernel) {
  for (tile::SkipOp skip : skips) {
    Evaluation &evaluation = evaluations.emplace_back(launches, skip);
    results.push_back(
        {evaluation.add(skip.getFrom()), evaluation.add(skip.getGap())});
    evaluation.readNumbers();
  }
  std::minstd_rand random;
  return success(
      llvm::all_of(launches.get(), [&](const CheckedLaunches::Launch &launch) {
        return succeeded(tryOne(Sample(kernel, launch, random)));
      }));
}

namespace {

class VerifyRangesPass : public attn::impl::VerifyRangesBase<VerifyRangesPass> {
public:
  using VerifyRangesBase::VerifyRangesBase;

  void runOnOperation() override {
    markAllAnalysesPreserved(); // the IR, too, so MLIR verifies it once
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
    SmallVector<tile::SkipOp> skips;
    kernel.walk([&](tile::SkipOp skip) { skips.push_back(skip); });
    CheckedLaunches launches(kernel);
    if (loops.empty()) {
      return success();
    }
    if (failed(launches.make(samples))) {
      return failure();
    }
    bool areLoops = llvm::all_of(loops, [&](ws::ForOp loop) {
      return succeeded(LoopTrial(launches, loop).run(kernel));
    });
    return success(areLoops &&
                   succeeded(GapTrial(launches, skips).run(kernel)));
  }
};

} // namespace
