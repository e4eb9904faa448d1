// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckedLaunches.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static int64_t below(std::minstd_rand &random, int64_t count) {
  return static_cast<int64_t>(random() % std::max<int64_t>(count, 1));
}

static unsigned one(std::minstd_rand &random, ArrayRef<unsigned> list) {
  return list[below(random, list.size())];
}

CheckedLaunches::CheckedLaunches(ws::KernelOp kernel)
    : kernel(kernel), config(kernel.getConfig()), numbers(kernel) {
  for (unsigned number = 0; number < numbers.size(); ++number) {
    if (!numbers[number].isFixed()) {
      open.push_back(number);
    }
  }
  readConditions();
}

/// The number of items has the index after all others.
void CheckedLaunches::readConditions() {
  auto checks = kernel->getAttrOfType<ArrayAttr>(kChecksAttr);
  for (Attribute check : checks ? checks.getValue() : ArrayRef<Attribute>()) {
    conditions.emplace_back(check, [&](StringRef name) {
      return name == kItems ? std::optional(numbers.size())
                            : numbers.find(name);
    });
  }
}

/// All work loops have the same extents.
LogicalResult CheckedLaunches::readExtents() {
  ws::WorkLoopOp loop;
  kernel.walk([&](ws::WorkLoopOp found) {
    loop = found;
    return WalkResult::interrupt();
  });
  for (Value extent : loop ? loop.getOperands() : OperandRange({nullptr, 0})) {
    extents.push_back(program.add(extent));
  }
  for (Value input : program.getInputs()) {
    std::optional<unsigned> number = numbers.find(input);
    if (!number) {
      return loop.emitOpError(
          "attn-verify-ranges: expected extents that are integer arithmetic on "
          "sizes and arguments, got others");
    }
    inputs.push_back(*number);
    if (!numbers[*number].isFixed()) {
      ofExtents.push_back(*number);
    }
  }
  given.resize(inputs.size());
  return success();
}

//===----------------------------------------------------------------------===//
// What a launch plan accepts.
//===----------------------------------------------------------------------===//

/// Counts the items; returns false for launches without items, which do not
/// run. Every plan limits the number of items, and refuses numbers that do not
/// fit 32 bits.
bool CheckedLaunches::countItems(Launch &launch) {
  for (auto [value, number] : llvm::zip(given, inputs)) {
    value = launch.values[number];
  }
  bool wraps = false;
  if (!program.run(given, computed, &wraps) || wraps) {
    return false;
  }
  int64_t items = 1;
  launch.extents.clear();
  for (unsigned extent : extents) {
    launch.extents.push_back(computed[extent]);
    if (computed[extent] < 1 ||
        llvm::MulOverflow(items, computed[extent], items)) {
      return false;
    }
  }
  launch.values.back() = items;
  return items < kItemLimit / config.getCluster();
}

bool CheckedLaunches::accepts(Launch &launch,
                              const LaunchCondition *&refusing) {
  refusing = nullptr;
  if (!countItems(launch)) {
    return false;
  }
  for (const LaunchCondition &condition : conditions) {
    if (!condition.holds(launch.values)) {
      refusing = &condition;
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Making up numbers.
//===----------------------------------------------------------------------===//

/// Picks a number near the edges of blocks, a small one, or any up to 4095; for
/// arguments also negative ones.
int64_t CheckedLaunches::pick(unsigned number, Random &random) const {
  int64_t tile = below(random, 2) ? config.getTileM() : config.getTileN();
  int64_t picked = below(random, 6) * tile + below(random, 3) - 1;
  switch (below(random, 4)) {
  case 0:
    picked = below(random, 4096);
    break;
  case 1:
    picked = below(random, 4);
    break;
  default:
    break;
  }
  const auto &[name, least, most] = numbers[number];
  if (least < 0 && below(random, 3) == 0) {
    picked = -picked;
  }
  return std::clamp(picked, least, most);
}

/// Picks a number that the condition may require: a multiple or a fraction of
/// another of its numbers, or a literal of it.
int64_t CheckedLaunches::pickNear(const Launch &launch,
                                  const LaunchCondition &refusing,
                                  ArrayRef<unsigned> names,
                                  Random &random) const {
  ArrayRef<int64_t> literals = refusing.getLiterals();
  int64_t literal = literals[below(random, literals.size())];
  int64_t other = launch.values[one(random, names)];
  int64_t factor = below(random, 2) ? literal : 1 + below(random, 8);
  switch (below(random, 4)) {
  case 0:
    return literal;
  case 1:
    return llvm::MulOverflow(literal, 1 + below(random, 8), literal) ? 0
                                                                     : literal;
  case 2:
    return factor > 0 ? other / factor : other;
  default:
    return llvm::MulOverflow(other, factor, other) ? 0 : other;
  }
}

/// Returns the numbers that may be changed to satisfy `refusing`, or to change
/// the number of items.
SmallVector<unsigned>
CheckedLaunches::namesIn(const LaunchCondition *refusing) const {
  SmallVector<unsigned> names;
  unsigned items = numbers.size();
  for (unsigned number :
       refusing ? refusing->getNames() : ArrayRef<unsigned>(items)) {
    if (number == items) {
      llvm::append_range(names, ofExtents);
    } else if (!numbers[number].isFixed()) {
      names.push_back(number);
    }
  }
  return names;
}

/// Replaces numbers that are refused, up to a few dozen times.
bool CheckedLaunches::repair(Launch &launch, Random &random) {
  constexpr unsigned mostTries = 64;
  const LaunchCondition *refusing = nullptr;
  for (unsigned tries = 0; tries < mostTries; ++tries) {
    if (accepts(launch, refusing)) {
      return true;
    }
    SmallVector<unsigned> names = namesIn(refusing);
    if (names.empty()) {
      break;
    }
    unsigned number = one(random, names);
    const auto &[name, least, most] = numbers[number];
    launch.values[number] =
        refusing && below(random, 4)
            ? std::clamp(pickNear(launch, *refusing, names, random), least,
                         most)
            : pick(number, random);
  }
  ++refusals[refusing];
  return false;
}

/// Moves a number of an accepted launch towards `to` as far as the launch stays
/// accepted.
void CheckedLaunches::stretch(Launch &launch, unsigned number, int64_t to) {
  const LaunchCondition *refusing = nullptr;
  int64_t good = launch.values[number], bad = to;
  Launch trial = launch;
  auto isGood = [&](int64_t value) {
    trial.values[number] = value;
    if (!accepts(trial, refusing)) {
      return false;
    }
    launch = trial;
    return true;
  };
  if (isGood(to)) {
    return;
  }
  while (good + 1 < bad || bad + 1 < good) {
    int64_t middle = good + (bad - good) / 2;
    (isGood(middle) ? good : bad) = middle;
  }
}

/// Makes each of two numbers as large as some of the others allow.
void CheckedLaunches::stretch(Launch &launch, Random &random) {
  const LaunchCondition *refusing = nullptr;
  for (unsigned number : open) {
    Launch small = launch;
    const auto &[name, least, most] = numbers[number];
    small.values[number] = std::clamp<int64_t>(1, least, most);
    if (below(random, 2) && accepts(small, refusing)) {
      launch = small;
    }
  }
  for (int times = 0; times < 2 && !open.empty(); ++times) {
    unsigned number = one(random, open);
    const auto &[name, least, most] = numbers[number];
    bool isDown = least < 0 && below(random, 2);
    stretch(launch, number, isDown ? least : most);
  }
}

LogicalResult CheckedLaunches::make(unsigned count) {
  constexpr unsigned enough = 8, stretched = 3;
  if (failed(readExtents())) {
    return failure();
  }
  Random random(1);
  for (unsigned tried = 0; tried < count; ++tried) {
    Launch launch;
    for (unsigned number = 0; number < numbers.size(); ++number) {
      launch.values.push_back(pick(number, random));
    }
    launch.values.push_back(0);
    if (!repair(launch, random)) {
      continue;
    }
    if (tried % stretched == 0) {
      stretch(launch, random);
    }
    launches.push_back(std::move(launch));
  }
  return launches.size() < enough ? refuse(count) : success();
}

InFlightDiagnostic CheckedLaunches::refuse(unsigned count) {
  auto most = llvm::max_element(refusals, [](const auto &a, const auto &b) {
    return a.second < b.second;
  });
  InFlightDiagnostic error = kernel.emitOpError(
      "attn-verify-ranges: expected launches with work items that '");
  error << kChecksAttr << "' accepts, to compute bounds for, got "
        << launches.size() << " of " << count << " that were tried; ";
  if (most->first) {
    error << "most break " << most->first->getCheck();
  } else {
    error << "most have none, or too many";
  }
  return error;
}

std::string CheckedLaunches::describe(const Launch &launch) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(open, stream, [&](unsigned number) {
    stream << numbers[number].name << " = " << launch.values[number];
  });
  return text;
}
