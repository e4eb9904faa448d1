// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "captures.h"

#include "element_type.h"
#include "npy.h"
#include "problem.h"
#include "tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::run;
using runtime::DataType;
using runtime::LaunchPlan;
using runtime::PlanArg;
using runtime::Role;

namespace {

struct ContentName {
  TensorContent::Kind kind;
  const char *name;
};

constexpr ContentName kNames[] = {{TensorContent::Normal, "normal"},
                                  {TensorContent::Slopes, "slopes"},
                                  {TensorContent::Documents, "documents"}};
constexpr const char *kIntegers = "integers:";

/// "3x4x5".
bool parseExtents(const std::string &text, std::vector<int64_t> &shape) {
  shape.clear();
  const char *at = text.c_str();
  while (true) {
    char *end = nullptr;
    if (*at < '0' || *at > '9') {
      return false;
    }
    shape.push_back(std::strtoll(at, &end, 10));
    if (shape.back() > INT32_MAX || (*end != 0 && *end != 'x')) {
      return false;
    }
    if (*end == 0) {
      return true;
    }
    at = end + 1;
  }
}

std::string spellExtents(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() > end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool parseContent(const std::string &text, TensorContent &content) {
  for (const ContentName &known : kNames) {
    if (text == known.name) {
      content.kind = known.kind;
      return true;
    }
  }
  if (endsWith(text, ".npy")) {
    content.kind = TensorContent::File;
    content.path = text;
    return true;
  }
  content.kind = TensorContent::Integers;
  long long least = 0, most = 0;
  char rest = 0;
  bool good = text.rfind(kIntegers, 0) == 0 &&
              std::sscanf(text.c_str() + std::strlen(kIntegers), "%lld:%lld%c",
                          &least, &most, &rest) == 2 &&
              least <= most && least >= INT32_MIN && most <= UINT32_MAX;
  content.least = least;
  content.most = most;
  return good;
}

std::string spellContent(const TensorContent &content) {
  for (const ContentName &known : kNames) {
    if (content.kind == known.kind) {
      return known.name;
    }
  }
  return content.kind == TensorContent::File ? content.path
         : content.kind == TensorContent::Integers
             ? kIntegers + std::to_string(content.least) + ":" +
                   std::to_string(content.most)
             : "";
}

/// Splits "NAME=REST" at an equals sign.
bool splitName(const std::string &text, size_t equals, std::string &name,
               std::string &rest) {
  name = text.substr(0, equals);
  rest = equals == std::string::npos ? "" : text.substr(equals + 1);
  return !name.empty() && !rest.empty();
}

} // namespace

std::string GivenCaptures::spell() const {
  std::string text;
  for (const auto &[name, value] : scalars) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.17g", value);
    text += " --scalar=" + name + "=" + number;
  }
  for (const auto &[name, content] : tensors) {
    std::string extents = spellExtents(content.shape);
    std::string rest = spellContent(content);
    text += " --tensor=" + name + "=" + extents +
            (extents.empty() || rest.empty() ? "" : ":") + rest;
  }
  return text;
}

bool run::parseScalar(const std::string &text, GivenCaptures &given) {
  std::string name, rest;
  // A number has none, but a name may.
  if (!splitName(text, text.rfind('='), name, rest)) {
    return false;
  }
  char *end = nullptr;
  given.scalars[name] = std::strtod(rest.c_str(), &end);
  return *end == 0;
}

bool run::parseTensor(const std::string &text, GivenCaptures &given) {
  std::string name, rest;
  if (!splitName(text, text.find('='), name, rest)) {
    return false;
  }
  TensorContent &content = given.tensors[name];
  content = TensorContent();
  size_t colon = rest.find(':');
  if (parseExtents(rest.substr(0, colon), content.shape)) {
    return colon == std::string::npos ||
           parseContent(rest.substr(colon + 1), content);
  }
  content.shape.clear();
  return parseContent(rest, content);
}

std::string run::checkCaptures(const LaunchPlan &plan,
                               const GivenCaptures &given) {
  auto check = [&](const std::string &name, bool isTensor) -> std::string {
    std::string known;
    for (const PlanArg &arg : plan.args) {
      bool isGiven = arg.role == Role::Bound || arg.role == Role::Capture ||
                     arg.role == Role::DropoutRate;
      if (isGiven && arg.isTensor() == isTensor) {
        if (arg.name == name) {
          return "";
        }
        known += (known.empty() ? "" : ", ") + arg.name;
      }
    }
    const char *kind = isTensor ? "tensor" : "scalar";
    return std::string("option '--") + kind + "': expected a " +
           (isTensor ? "captured tensor" : "captured scalar or a bound") +
           " of the kernel (" + (known.empty() ? "it has none" : known) +
           "), got '" + name + "'";
  };
  for (const auto &[name, value] : given.scalars) {
    std::string problem = check(name, false);
    if (!problem.empty()) {
      return problem;
    }
    bool isBound = plan.args[size_t(plan.findArg(name))].role == Role::Bound;
    if (isBound && value != std::nearbyint(value)) {
      return "option '--scalar': expected an integer for the bound '" + name +
             "', got " + std::to_string(value);
    }
  }
  for (const auto &[name, content] : given.tensors) {
    std::string problem = check(name, true);
    if (!problem.empty()) {
      return problem;
    }
  }
  for (const PlanArg &arg : plan.args) {
    if (arg.role == Role::Capture && !arg.isTensor() &&
        !given.scalars.count(arg.name)) {
      return "expected option '--scalar=" + arg.name +
             "=VALUE': the kernel captures it";
    }
  }
  return "";
}

/// Returns the extent of symbol `symbol` from a dim of a known tensor.
static bool extentOf(const LaunchPlan &plan, const Problem &problem,
                     int64_t symbol, int64_t &extent) {
  for (const PlanArg &arg : plan.args) {
    std::vector<int64_t> shape;
    if (!arg.isTensor() || !knownShape(arg.role, problem, shape) ||
        shape.size() != arg.dims.size()) {
      continue;
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      if (arg.dims[i].isSymbol && arg.dims[i].value == symbol) {
        extent = shape[i];
        return true;
      }
    }
  }
  return false;
}

/// Returns the extent that the regions' indices of a dim need, or 0 if they do
/// not index it.
static int64_t indexedExtent(const Problem &p, int arg, size_t dim) {
  int64_t extent = 0;
  for (const Region *region : {p.score.get(), p.allow.get()}) {
    for (Position position :
         region ? region->indicesOf(arg, dim) : std::vector<Position>()) {
      int64_t needed = position == Position::Batch   ? p.batch
                       : position == Position::Head  ? p.headsQ
                       : position == Position::Query ? p.seqQ
                       : position == Position::Key   ? p.seqK
                                                     : std::max(p.seqQ, p.seqK);
      extent = std::max(extent, needed);
    }
  }
  return extent;
}

bool run::captureShape(const LaunchPlan &plan, int index,
                       const Problem &problem, std::vector<int64_t> &shape,
                       std::string &err) {
  const PlanArg &arg = plan.args[size_t(index)];
  auto given = problem.captures.tensors.find(arg.name);
  if (given != problem.captures.tensors.end() && !given->second.shape.empty()) {
    shape = given->second.shape;
    return shape.size() == arg.dims.size() ||
           (err = "option '--tensor': expected " +
                  std::to_string(arg.dims.size()) + " extents of '" + arg.name +
                  "', got " + std::to_string(shape.size()),
            false);
  }
  bool isKnown = problem.score || problem.allow;
  for (size_t dim = 0; dim < arg.dims.size(); ++dim) {
    int64_t extent = arg.dims[dim].value;
    if (arg.dims[dim].isSymbol &&
        !extentOf(plan, problem, arg.dims[dim].value, extent)) {
      if (!isKnown) {
        err = "cannot tell the extent of '" +
              plan.symbols.getName(int(arg.dims[dim].value)) + "', a dim of '" +
              arg.name + "'; see --tensor";
        return false;
      }
      // A gradient without elements is that of an empty problem.
      bool hasGradient = std::any_of(
          plan.args.begin(), plan.args.end(), [&](const PlanArg &other) {
            return other.role == Role::CaptureGradient &&
                   other.name.substr(1) == arg.name;
          });
      extent = std::max<int64_t>(hasGradient ? 0 : 1,
                                 indexedExtent(problem, index, dim));
    }
    shape.push_back(extent);
  }
  return true;
}

/// Reads the elements of a file, which must have the tensor's shape and type.
static bool readElements(const std::string &path, HostTensor &tensor,
                         std::string &err) {
  std::string name = runtime::nameOf(tensor.dtype);
  std::string npy = "|b1";
  if (tensor.dtype != DataType::Bool) {
    // Signed integers are called s32 there.
    npy = findElementType(name[0] == 'i' ? "s" + name.substr(1) : name)->npy;
  }
  size_t width = size_t(runtime::sizeOf(tensor.dtype));
  std::vector<uint8_t> packed(size_t(tensor.elementCount()) * width);
  if (!readNpy(path, npy, tensor.shape, packed.data(), packed.size(), err)) {
    return false;
  }
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    std::memcpy(tensor.at(i), packed.data() + size_t(i) * width, width);
  }
  return true;
}

static float alibiSlope(int64_t head, int64_t heads) {
  return float(std::exp2(-8.0 * double(head + 1) / double(heads)));
}

/// Sorted ids from 0 on; a new id begins with equal probability anywhere.
static void fillDocuments(uint64_t seed, HostTensor &tensor) {
  int64_t length = tensor.shape.back();
  double change = 4.0 / double(std::max<int64_t>(length, 4));
  int64_t id = 0;
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    uint64_t stream = 2000 + uint64_t(i / length);
    int64_t at = i % length;
    bool isNext = Random(seed, stream).uniform(uint64_t(at)) < change;
    id = at == 0 ? 0 : id + isNext;
    tensor.set(i, double(id));
  }
}

bool run::fillCapture(const Problem &problem, uint64_t stream,
                      HostTensor &tensor, std::string &err) {
  auto given = problem.captures.tensors.find(tensor.name);
  TensorContent content;
  if (given != problem.captures.tensors.end()) {
    content = given->second;
  }
  if (content.kind == TensorContent::Default) {
    content.kind = runtime::isFloat(tensor.dtype)   ? TensorContent::Normal
                   : tensor.dtype == DataType::Bool ? TensorContent::Integers
                                                    : TensorContent::Documents;
    content.most = 1;
  }
  Random random(problem.seed, stream);
  switch (content.kind) {
  case TensorContent::File:
    return readElements(content.path, tensor, err);
  case TensorContent::Documents:
    fillDocuments(problem.seed, tensor);
    break;
  case TensorContent::Slopes: {
    int64_t heads = tensor.shape.back();
    tensor.fill([&](int64_t i) { return alibiSlope(i % heads, heads); });
    break;
  }
  case TensorContent::Integers:
    tensor.fill([&](int64_t i) {
      return double(random.integer(uint64_t(i), content.least, content.most));
    });
    break;
  default:
    tensor.fill([&](int64_t i) { return random.normal(uint64_t(i)); });
  }
  return true;
}

Captures run::readCaptures(const LaunchPlan &plan, const Problem &problem,
                           const std::vector<HostTensor> &tensors) {
  Captures captures(plan.args.size());
  for (size_t n = 0; n < plan.args.size(); ++n) {
    const PlanArg &arg = plan.args[n];
    Capture &capture = captures[n];
    if (arg.role != Role::Capture) {
      continue;
    }
    if (!arg.isTensor()) {
      double value = problem.captures.scalars.at(arg.name);
      if (arg.kind == runtime::ArgKind::F32) {
        capture.floats = {double(float(value))};
      } else {
        capture.integers = {int64_t(value)};
      }
      continue;
    }
    const HostTensor &tensor = *findTensor(tensors, arg.name);
    capture.shape = tensor.shape;
    for (int64_t i = 0; i < tensor.elementCount(); ++i) {
      if (runtime::isFloat(arg.dtype)) {
        capture.floats.push_back(tensor.get(i));
      } else {
        // A bool is true unless 0.
        int64_t value = tensor.getInteger(i);
        value = arg.dtype == DataType::Bool ? -int64_t(value != 0) : value;
        capture.integers.push_back(wrapTo(valueTypeOf(arg).bits, value));
      }
    }
  }
  return captures;
}
