// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "region.h"

#include "numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::run;
using runtime::LaunchPlan;

namespace {

enum Value : size_t { kScore, kBatch, kHead, kQuery, kKey, kPositions };
constexpr const char *kPositionNames[] = {"s", "b", "h", "i", "j"};

/// The number of keys that are computed together.
constexpr size_t kRun = 256;

} // namespace

ValueType run::valueTypeOf(const runtime::PlanArg &arg) {
  std::string name = arg.isTensor()                      ? nameOf(arg.dtype)
                     : arg.kind == runtime::ArgKind::F32 ? "f32"
                     : arg.kind == runtime::ArgKind::I32 ? "i32"
                                                         : "i64";
  ValueType type;
  parseValueType(name == "u8" ? "i8" : name == "bool" ? "i1" : name, type);
  return type;
}

/// Reads a program op by op.
struct Region::Reader {
  const LaunchPlan &plan;
  bool isScore;
  Region &region;
  std::string &err;
  size_t firstResult;

  bool readLine(const std::vector<std::string> &words, bool isLast);

private:
  bool fail(const std::string &message) {
    err = message;
    return false;
  }
  bool findArg(const std::string &word, bool isTensor, int &arg);
  bool findValue(const std::string &word, size_t &value);
  bool readOperands(const std::vector<std::string> &words, size_t first,
                    Op &op);
  bool readConstant(const std::string &word, Op &op);
  bool readExtract(const std::vector<std::string> &words, Op &op);
  bool readApply(const std::vector<std::string> &words, Op &op);
  bool checkTypes(const std::string &name, const Op &op);
};

/// A captured argument "@NAME".
bool Region::Reader::findArg(const std::string &word, bool isTensor, int &arg) {
  arg = word.compare(0, 1, "@") == 0 ? plan.findArg(word.substr(1)) : -1;
  if (arg < 0 || plan.args[size_t(arg)].isTensor() != isTensor) {
    return fail(std::string("expected a captured ") +
                (isTensor ? "tensor" : "scalar") + ", got '" + word + "'");
  }
  return true;
}

bool Region::Reader::findValue(const std::string &word, size_t &value) {
  for (size_t n = isScore ? kScore : kBatch; n < kPositions; ++n) {
    if (word == kPositionNames[n]) {
      value = n;
      return true;
    }
  }
  if (word.compare(0, 1, "%") == 0) {
    size_t number = std::strtoul(word.c_str() + 1, nullptr, 10);
    value = firstResult + number;
    return word == "%" + std::to_string(number) && number < region.ops.size()
               ? true
               : fail("expected the result of an earlier op, got '" + word +
                      "'");
  }
  int arg = -1;
  if (!findArg(word, /*isTensor=*/false, arg)) {
    return false;
  }
  auto found = std::find(region.scalars.begin(), region.scalars.end(), arg);
  value = kPositions + size_t(found - region.scalars.begin());
  return true;
}

bool Region::Reader::readOperands(const std::vector<std::string> &words,
                                  size_t first, Op &op) {
  for (size_t n = first; n < words.size(); ++n) {
    op.operands.emplace_back();
    if (!findValue(words[n], op.operands.back())) {
      return false;
    }
  }
  return true;
}

/// Reads an integer in decimal, or the bits of a float in hexadecimal.
bool Region::Reader::readConstant(const std::string &word, Op &op) {
  op.kind = Op::Constant;
  char *end = nullptr;
  if (!op.type.isFloat) {
    op.integer = std::strtoll(word.c_str(), &end, 10);
    op.integer = wrapTo(op.type.bits, op.integer);
  } else {
    uint64_t bits = std::strtoull(word.c_str(), &end, 16);
    auto single = uint32_t(bits);
    float value = 0;
    std::memcpy(&value, &single, sizeof(value));
    std::memcpy(&op.number, &bits, sizeof(op.number));
    op.number = op.type.bits == 64   ? op.number
                : op.type.bits == 32 ? double(value)
                : op.type.isBf16     ? bf16ToFloat(uint16_t(bits))
                                     : f16ToFloat(uint16_t(bits));
  }
  return (!word.empty() && *end == 0) ||
         fail("expected a constant, got '" + word + "'");
}

bool Region::Reader::readExtract(const std::vector<std::string> &words,
                                 Op &op) {
  op.kind = Op::Extract;
  if (words.size() < 3) {
    return fail("expected 'extract' to have a tensor");
  }
  if (!findArg(words[2], /*isTensor=*/true, op.arg) ||
      !readOperands(words, 3, op)) {
    return false;
  }
  const runtime::PlanArg &arg = plan.args[size_t(op.arg)];
  bool good =
      op.operands.size() == arg.dims.size() && op.type == valueTypeOf(arg);
  for (size_t operand : op.operands) {
    good &= !region.types[operand].isFloat;
  }
  return good || fail("expected an element of '" + arg.name +
                      "' by an integer for each of its dims");
}

bool Region::Reader::checkTypes(const std::string &name, const Op &op) {
  auto type = [&](size_t n) { return region.types[op.operands[n]]; };
  ValueType flag;
  flag.bits = 1;
  bool isSame = true; // types of all operands
  for (size_t n = 0; n < op.operands.size(); ++n) {
    isSame &= type(n) == type(0);
  }
  bool isFloat = type(0).isFloat;
  bool good = false;
  switch (op.meaning->signature) {
  case Signature::Integers:
    good = isSame && !isFloat && type(0) == op.type;
    break;
  case Signature::Floats:
    good = isSame && isFloat && type(0) == op.type;
    break;
  case Signature::IntCompare:
    good = isSame && !isFloat && op.type == flag;
    break;
  case Signature::FloatCompare:
    good = isSame && isFloat && op.type == flag;
    break;
  case Signature::Select:
    good = type(0) == flag && type(1) == op.type && type(2) == op.type;
    break;
  case Signature::IntToInt:
    good = !isFloat && !op.type.isFloat;
    break;
  case Signature::IntToFloat:
    good = !isFloat && op.type.isFloat;
    break;
  case Signature::FloatToInt:
    good = isFloat && !op.type.isFloat;
    break;
  case Signature::FloatToFloat:
    good = isFloat && op.type.isFloat;
    break;
  }
  return good || fail("expected '" + name + "' of other types");
}

bool Region::Reader::readApply(const std::vector<std::string> &words, Op &op) {
  op.meaning = findRegionOp(words[1]);
  op.slopes = findSlopes(words[1]);
  if (!op.meaning) {
    return fail("unknown op '" + words[1] + "'");
  }
  if (!readOperands(words, 2, op)) {
    return false;
  }
  if (op.operands.size() != op.meaning->operands) {
    return fail("expected '" + words[1] + "' to have " +
                std::to_string(op.meaning->operands) + " operands, got " +
                std::to_string(op.operands.size()));
  }
  return checkTypes(words[1], op);
}

/// [type, name, operands...]; the last is a yield.
bool Region::Reader::readLine(const std::vector<std::string> &words,
                              bool isLast) {
  Op op;
  if (words.size() < 3 || !parseValueType(words[0], op.type)) {
    return fail("expected a type, an op and its operands, got '" +
                (words.empty() ? "" : words[0]) + "'");
  }
  if ((words[1] == "yield") != isLast) {
    return fail("expected one 'yield', at the end");
  }
  if (isLast) {
    ValueType wanted = {isScore, isScore ? 32u : 1u, false};
    return findValue(words[2], region.result) &&
           (region.types[region.result] == wanted ||
            fail("expected to yield " + nameOf(wanted) + ", got " +
                 nameOf(region.types[region.result])));
  }
  bool good = words[1] == "constant"  ? readConstant(words[2], op)
              : words[1] == "extract" ? readExtract(words, op)
                                      : readApply(words, op);
  if (good) {
    region.types.push_back(op.type);
    region.ops.push_back(std::move(op));
  }
  return good;
}

bool Region::read(const LaunchPlan &plan, const runtime::RegionProgram &program,
                  bool isScore, Region &out, std::string &err) {
  out = Region();
  out.types.assign(kPositions, ValueType());
  out.types[kScore].isFloat = true;
  for (size_t arg = 0; arg < plan.args.size(); ++arg) {
    if (!plan.args[arg].isTensor()) {
      out.scalars.push_back(int(arg));
      out.types.push_back(valueTypeOf(plan.args[arg]));
    }
  }
  Reader reader{plan, isScore, out, err, out.types.size()};
  for (size_t line = 0; line < program.size(); ++line) {
    if (!reader.readLine(program[line], line + 1 == program.size())) {
      err = std::string(isScore ? "score" : "mask") + "_program[" +
            std::to_string(line) + "]: " + err;
      return false;
    }
  }
  if (program.empty()) {
    err = std::string("the plan does not say what the ") +
          (isScore ? "score" : "mask") + " region computes";
  }
  return !program.empty();
}

bool Region::usesHead() const {
  for (const Op &op : ops) {
    if (std::count(op.operands.begin(), op.operands.end(), kHead)) {
      return true;
    }
  }
  return false;
}

Position Region::positionOf(size_t value) const {
  switch (value) {
  case kBatch:
    return Position::Batch;
  case kHead:
    return Position::Head;
  case kQuery:
    return Position::Query;
  case kKey:
    return Position::Key;
  default:
    break;
  }
  size_t firstResult = types.size() - ops.size();
  if (value < firstResult) {
    return Position::Other;
  }
  const Op &op = ops[value - firstResult];
  bool isCast =
      op.kind == Op::Apply && op.meaning->signature == Signature::IntToInt;
  return isCast ? positionOf(op.operands[0]) : Position::Other;
}

std::vector<Position> Region::indicesOf(int arg, size_t dim) const {
  std::vector<Position> positions;
  for (const Op &op : ops) {
    if (op.kind == Op::Extract && op.arg == arg) {
      positions.push_back(positionOf(op.operands[dim]));
    }
  }
  return positions;
}

static void fill(ValueType type, size_t count, int64_t integer, double number,
                 Column &column) {
  column.resize(type, count);
  std::fill(column.integers.begin(), column.integers.end(), integer);
  for (std::vector<double> &lane : column.lanes) {
    std::fill(lane.begin(), lane.end(), number);
  }
}

/// Returns the element that an op reads for key number `n`, or -1 if its index
/// is out of bounds.
int64_t Region::elementOf(const Op &op, const Capture &from,
                          const std::vector<Column> &values, size_t n) {
  int64_t at = 0;
  for (size_t dim = 0; dim < from.shape.size(); ++dim) {
    int64_t index = values[op.operands[dim]].integers[n];
    if (index < 0 || index >= from.shape[dim]) {
      return -1;
    }
    at = at * from.shape[dim] + index;
  }
  return at;
}

/// An index out of bounds reads zero, as in kernels.
void Region::extract(const Op &op, const Capture &from,
                     const std::vector<Column> &values, size_t count,
                     Column &result) const {
  for (size_t n = 0; n < count; ++n) {
    int64_t at = elementOf(op, from, values, n);
    bool isInside = at >= 0;
    if (!op.type.isFloat) {
      result.integers[n] = isInside ? from.integers[size_t(at)] : 0;
      continue;
    }
    for (std::vector<double> &lane : result.lanes) {
      lane[n] = isInside ? from.floats[size_t(at)] : 0;
    }
  }
}

/// Sets all values except the score, which the caller has set.
void Region::fold(const Captures &captures, const Row &row, const int64_t *keys,
                  size_t count, std::vector<Column> &values) const {
  values.resize(types.size());
  fill(types[kBatch], count, row.batch, 0, values[kBatch]);
  fill(types[kHead], count, row.head, 0, values[kHead]);
  fill(types[kQuery], count, row.i, 0, values[kQuery]);
  values[kKey].integers.assign(keys, keys + count);
  for (size_t n = 0; n < scalars.size(); ++n) {
    const Capture &capture = captures[size_t(scalars[n])];
    fill(types[kPositions + n], count,
         capture.integers.empty() ? 0 : capture.integers[0],
         capture.floats.empty() ? 0 : capture.floats[0],
         values[kPositions + n]);
  }
  size_t next = types.size() - ops.size();
  OpUse use;
  use.count = count;
  for (const Op &op : ops) {
    Column &column = values[next++];
    if (op.kind == Op::Constant) {
      fill(op.type, count, op.integer, op.number, column);
      continue;
    }
    column.resize(op.type, count);
    if (op.kind == Op::Extract) {
      extract(op, captures[size_t(op.arg)], values, count, column);
      continue;
    }
    use.type = op.type;
    use.result = &column;
    use.operands.clear();
    use.operandTypes.clear();
    for (size_t operand : op.operands) {
      use.operands.push_back(&values[operand]);
      use.operandTypes.push_back(types[operand]);
    }
    op.meaning->fold(use);
  }
}

/// Memory of each thread for values.
static std::vector<Column> &scratch() {
  static thread_local std::vector<Column> values;
  return values;
}

void Region::foldScores(const Captures &captures, const Row &row,
                        const std::vector<int64_t> &keys,
                        std::array<std::vector<double>, kLanes> &scores) const {
  std::vector<Column> &values = scratch();
  values.resize(types.size());
  for (size_t first = 0; first < keys.size(); first += kRun) {
    size_t count = std::min(kRun, keys.size() - first);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double *from = scores[lane].data() + first;
      values[kScore].lanes[lane].assign(from, from + count);
    }
    fold(captures, row, keys.data() + first, count, values);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const std::vector<double> &from = values[result].lanes[lane];
      std::copy_n(from.begin(), count, scores[lane].begin() + first);
    }
  }
}

/// Returns the derivative of op `op`, whose result is value `result`, for the
/// key `at` and the values of a lane; `slopes` are those of all values before.
double Region::slopeOf(const Op &op, size_t result, size_t at,
                       const std::vector<Column> &values, Lane lane,
                       const std::vector<double> &slopes) const {
  if (op.kind != Op::Apply || !op.type.isFloat) {
    return 0;
  }
  switch (op.meaning->signature) {
  case Signature::Select:
    return slopes[op.operands[values[op.operands[0]].integers[at] ? 1 : 2]];
  case Signature::FloatToFloat:
    return slopes[op.operands[0]];
  case Signature::Floats:
    break;
  default:
    return 0;
  }
  double numbers[3] = {}, slope = 0;
  for (size_t n = 0; n < op.operands.size(); ++n) {
    numbers[n] = values[op.operands[n]].lanes[lane][at];
  }
  for (size_t n = 0; n < op.operands.size(); ++n) {
    // An operand that does not depend on the score contributes nothing, even if
    // the derivative of the op is infinite.
    if (double outer = slopes[op.operands[n]]; outer != 0) {
      slope += outer * op.slopes->of[n](numbers[0], numbers[1], numbers[2],
                                        values[result].lanes[lane][at]);
    }
  }
  return slope;
}

/// Returns the derivative of the result by value `source`, for the key `at` of
/// a lane of `values`; `known` is memory for the derivatives of all values.
double Region::slopeBy(size_t source, size_t at,
                       const std::vector<Column> &values, Lane lane,
                       std::vector<double> &known) const {
  known.assign(types.size(), 0);
  known[source] = 1;
  size_t next = types.size() - ops.size();
  for (const Op &op : ops) {
    if (next != source) {
      known[next] = slopeOf(op, next, at, values, lane, known);
    }
    ++next;
  }
  return known[result];
}

/// Estimates the error of the derivative in a kernel, whose functions and
/// scores have errors: the derivative of tanh, 1 - y^2, loses most of its
/// digits where tanh is near 1, and that of a maximum jumps where its operands
/// are equal.
double Region::slopeError(size_t source, size_t at,
                          const std::vector<Column> &values, double slope,
                          std::vector<double> &known) const {
  double largest = 0;
  for (Lane lane : {Shifted, Rounded}) {
    double error = std::fabs(slopeBy(source, at, values, lane, known) - slope);
    largest = std::isfinite(error) ? std::max(largest, error) : largest;
  }
  return largest;
}

/// Computes the values of all keys, some of them at a time, and calls
/// `visit(number of the key, its number in values, values)`. The scores of two
/// lanes are as far off as they may be, to either side.
template <typename Visit>
void Region::foldForSlopes(const Captures &captures, const Row &row,
                           const std::vector<int64_t> &keys,
                           const std::vector<double> &scores,
                           const std::vector<double> &scoreErrors,
                           const Visit &visit) const {
  std::vector<Column> &values = scratch();
  values.resize(types.size());
  for (size_t first = 0; first < keys.size(); first += kRun) {
    size_t count = std::min(kRun, keys.size() - first);
    for (std::vector<double> &lane : values[kScore].lanes) {
      lane.assign(scores.begin() + first, scores.begin() + first + count);
    }
    for (size_t at = 0; at < count; ++at) {
      values[kScore].lanes[Shifted][at] += scoreErrors[first + at];
      values[kScore].lanes[Rounded][at] -= scoreErrors[first + at];
    }
    fold(captures, row, keys.data() + first, count, values);
    for (size_t at = 0; at < count; ++at) {
      visit(first + at, at, values);
    }
  }
}

void Region::foldSlopes(const Captures &captures, const Row &row,
                        const std::vector<int64_t> &keys,
                        const std::vector<double> &scores,
                        const std::vector<double> &scoreErrors,
                        std::vector<double> &slopes,
                        std::vector<double> &errors) const {
  std::vector<double> known;
  slopes.resize(keys.size());
  errors.resize(keys.size());
  auto visit = [&](size_t key, size_t at, const std::vector<Column> &values) {
    slopes[key] = slopeBy(kScore, at, values, Exact, known);
    errors[key] = slopeError(kScore, at, values, slopes[key], known);
  };
  foldForSlopes(captures, row, keys, scores, scoreErrors, visit);
}

void Region::foldCaptureSlopes(
    const Captures &captures, const Row &row, const std::vector<int64_t> &keys,
    const std::vector<double> &scores, const std::vector<double> &scoreErrors,
    std::vector<std::vector<CaptureSlope>> &slopes) const {
  std::vector<double> known;
  slopes.assign(keys.size(), {});
  auto visit = [&](size_t key, size_t at, const std::vector<Column> &values) {
    auto add = [&](size_t source, int arg, int64_t element) {
      double slope =
          element < 0 ? 0 : slopeBy(source, at, values, Exact, known);
      if (slope != 0) {
        double error = slopeError(source, at, values, slope, known);
        slopes[key].push_back({size_t(arg), element, slope, error});
      }
    };
    for (size_t n = 0; n < scalars.size(); ++n) {
      if (types[kPositions + n].isFloat) {
        add(kPositions + n, scalars[n], 0);
      }
    }
    size_t next = types.size() - ops.size();
    for (const Op &op : ops) {
      if (op.kind == Op::Extract && op.type.isFloat) {
        add(next, op.arg, elementOf(op, captures[size_t(op.arg)], values, at));
      }
      ++next;
    }
  };
  foldForSlopes(captures, row, keys, scores, scoreErrors, visit);
}

void Region::foldMask(const Captures &captures, const Row &row, int64_t first,
                      size_t count, bool *allowed) const {
  int64_t keys[kRun];
  for (size_t done = 0; done < count; done += kRun) {
    size_t some = std::min(kRun, count - done);
    for (size_t n = 0; n < some; ++n) {
      keys[n] = first + int64_t(done + n);
    }
    fold(captures, row, keys, some, scratch());
    for (size_t n = 0; n < some; ++n) {
      allowed[done + n] = scratch()[result].integers[n] != 0;
    }
  }
}
