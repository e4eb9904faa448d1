// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a launch plan, with one function for each JSON object, in the order of
// the text.

#include "launch_plan.h"
#include "attn/runtime/internal/launch_limits.h"
#include "expr_reader.h"

using namespace attn::runtime;

namespace {

constexpr size_t kMaxArgs = 64;
/// The largest number of ops of a region, and of words of an op.
constexpr size_t kMaxProgram = 4096;
constexpr size_t kMaxWords = 16;
constexpr int64_t kMaxBox = 256;
constexpr int64_t kMaxZeroed = int64_t(1) << 30;

/// Reads one plan; the plan under construction resolves names.
class PlanReader {
public:
  explicit PlanReader(LaunchPlan &plan) : plan(plan) {}
  Status readPlan(const JsonReader &json);

private:
  Status readProblem(const JsonReader &json);
  Status readKeys(const JsonReader &json);
  Status readProgram(const JsonReader &json, const char *key,
                     RegionProgram &program);
  Status readArg(const JsonReader &json);
  Status readTensorArg(const JsonReader &json, const std::string &symbol,
                       PlanArg &arg);
  Status readBounds(const JsonReader &json, PlanArg &arg);
  Status readMessage(const JsonReader &json, std::vector<MessagePart> &parts);
  Status readCheck(const JsonReader &json);
  Status readValues(const JsonReader &json, std::vector<PlanValue> &values);
  Status readVariant(const JsonReader &json);
  Status readLaunch(const JsonReader &json, PlanLaunch &launch);
  Status readParam(const JsonReader &json, PlanParam &param);
  Status readTensorMap(const JsonReader &json, PlanParam &param);
  Status readTensorMapDim(const JsonReader &json, bool innermost,
                          TensorMapDim &dim);
  Status readTensorName(const JsonReader &json, int &arg);
  Status readTemporary(const JsonReader &json);
  Status readSizes(const JsonReader &json);
  Status readExpr(const JsonReader &json, Expr &out) {
    return attn::runtime::readExpr(json, plan.symbols, out);
  }

  LaunchPlan &plan;
  /// Symbols with smaller numbers belong to arguments.
  int firstValueSymbol = 0;
};

} // namespace

template <size_t count>
static std::vector<const char *> wordsOf(const PlanWord (&table)[count]) {
  std::vector<const char *> words;
  for (const PlanWord &each : table) {
    words.push_back(each.word);
  }
  return words;
}

/// Reads a word of a table.
template <typename Enum, size_t count>
static Status readWord(const JsonReader &json, const PlanWord (&table)[count],
                       Enum &out) {
  std::string text;
  RETURN_IF_FAILED(json.readOneOf(wordsOf(table), text));
  for (const PlanWord &each : table) {
    out = text == each.word ? Enum(each.number) : out;
  }
  return {};
}

static Status readRegionKind(const JsonReader &json, bool &hasRegion) {
  std::string text;
  RETURN_IF_FAILED(json.readOneOf({"none", "custom"}, text));
  hasRegion = text == "custom";
  return {};
}

Status PlanReader::readProblem(const JsonReader &json) {
  PlanProblem &problem = plan.problem;
  RETURN_IF_FAILED(json.expectObject(
      {"kind", "dtype", "head_dim", "head_dim_v", "layout", "mask", "keys",
       "score_region", "mask_region", "score_program", "mask_program"}));
  RETURN_IF_FAILED(
      readWord(json.get("kind"), plan_words::KindWordTable, problem.kind));
  std::string dtype;
  RETURN_IF_FAILED(json.get("dtype").readOneOf({"bf16", "f16"}, dtype));
  parseDataType(dtype, problem.dtype);
  RETURN_IF_FAILED(json.get("head_dim").read(problem.headDim, 1, 4096));
  RETURN_IF_FAILED(json.get("head_dim_v").read(problem.headDimV, 1, 4096));
  RETURN_IF_FAILED(readWord(json.get("layout"), plan_words::LayoutWordTable,
                            problem.layout));
  RETURN_IF_FAILED(json.get("mask").read(problem.mask));
  RETURN_IF_FAILED(
      readRegionKind(json.get("score_region"), problem.hasScoreRegion));
  RETURN_IF_FAILED(
      readRegionKind(json.get("mask_region"), problem.hasMaskRegion));
  RETURN_IF_FAILED(readProgram(json, "score_program", problem.scoreProgram));
  return readProgram(json, "mask_program", problem.maskProgram);
}

/// Comes after the arguments, whose names the expressions use.
Status PlanReader::readKeys(const JsonReader &json) {
  PlanKeys &keys = plan.problem.keys;
  RETURN_IF_FAILED(json.expectObject({"first", "last", "bounds"}));
  keys.querySymbol = plan.symbols.intern("i");
  for (auto [name, key] :
       {std::pair("first", &keys.first), std::pair("last", &keys.last)}) {
    if (json.has(name)) {
      RETURN_IF_FAILED(readExpr(json.get(name), key->emplace()));
    }
  }
  JsonReader bounds = json.get("bounds");
  RETURN_IF_FAILED(bounds.expectArray(0, kMaxList));
  for (size_t i = 0; i < bounds.size(); ++i) {
    JsonReader read = bounds.at(i);
    PlanBound bound;
    RETURN_IF_FAILED(read.expectObject({"name", "at_least"}));
    RETURN_IF_FAILED(read.get("name").read(bound.name));
    int arg = plan.findArg(bound.name);
    if (arg < 0 || plan.args[arg].kind != ArgKind::I32) {
      return read.get("name").fail(
          "expected the name of an i32 argument, got " + quote(bound.name));
    }
    RETURN_IF_FAILED(
        read.get("at_least").read(bound.least, INT32_MIN, INT32_MAX));
    keys.bounds.push_back(std::move(bound));
  }
  return {};
}

/// The evaluator of a program checks the meaning of its words.
Status PlanReader::readProgram(const JsonReader &json, const char *key,
                               RegionProgram &program) {
  if (!json.has(key)) {
    return {};
  }
  JsonReader lines = json.get(key);
  RETURN_IF_FAILED(lines.expectArray(1, kMaxProgram));
  program.resize(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    RETURN_IF_FAILED(lines.at(i).expectArray(1, kMaxWords));
    program[i].resize(lines.at(i).size());
    for (size_t n = 0; n < program[i].size(); ++n) {
      RETURN_IF_FAILED(lines.at(i).at(n).read(program[i][n]));
    }
  }
  return {};
}

static Status readRole(const JsonReader &json, const LaunchPlan &plan,
                       PlanArg &arg) {
  if (!json.has("role")) {
    return {};
  }
  JsonReader role = json.get("role");
  std::string word;
  RETURN_IF_FAILED(role.read(word));
  for (const RoleWord &known : plan_words::RoleWordTable) {
    if (word != known.word) {
      continue;
    }
    arg.role = Role(known.number);
    if (known.mayRepeat || plan.findArg(*arg.role) < 0) {
      return {};
    }
    return role.fail("expected one argument of role " + quote(word) + ", got " +
                     quote(arg.name) + " as another");
  }
  return role.fail("unknown role " + quote(word));
}

Status PlanReader::readTensorArg(const JsonReader &json,
                                 const std::string &symbol, PlanArg &arg) {
  RETURN_IF_FAILED(json.expectObject(
      {"name", "symbol", "role", "kind", "dtype", "access", "dims"}));
  std::string text;
  RETURN_IF_FAILED(json.get("dtype").read(text));
  if (!parseDataType(text, arg.dtype)) {
    return json.get("dtype").fail("unknown element type " + quote(text));
  }
  RETURN_IF_FAILED(
      json.get("access").readOneOf({"read", "write", "readwrite"}, text));
  arg.access = text == "read"    ? Access::Read
               : text == "write" ? Access::Write
                                 : Access::ReadWrite;
  JsonReader dims = json.get("dims");
  RETURN_IF_FAILED(dims.expectArray(1, kMaxTensorRank));
  for (size_t i = 0; i < dims.size(); ++i) {
    PlanDim dim;
    dim.isSymbol = dims.at(i).getKind() == JsonKind::String;
    if (dim.isSymbol) {
      RETURN_IF_FAILED(dims.at(i).read(text));
      dim.value = plan.symbols.intern(text);
    } else {
      RETURN_IF_FAILED(dims.at(i).read(dim.value, 1, INT32_MAX));
    }
    arg.dims.push_back(dim);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    int stride = plan.symbols.intern(symbol + ".stride." + std::to_string(i));
    if (i == 0) {
      arg.firstStrideSymbol = stride;
    }
  }
  return {};
}

Status PlanReader::readBounds(const JsonReader &json, PlanArg &arg) {
  RETURN_IF_FAILED(json.expectObject(
      {"name", "symbol", "role", "kind", "at_least", "at_most"}));
  arg.isBounded = json.has("at_least") || json.has("at_most");
  if (!arg.isBounded) {
    return {};
  }
  double least = 0, most = 0;
  RETURN_IF_FAILED(json.get("at_least").read(least));
  RETURN_IF_FAILED(json.get("at_most").read(most));
  arg.least = float(least);
  arg.most = float(most);
  if (!(arg.least <= arg.most)) {
    return json.fail("expected 'at_least' not to be above 'at_most'");
  }
  return {};
}

Status PlanReader::readArg(const JsonReader &json) {
  PlanArg arg;
  RETURN_IF_FAILED(json.get("name").read(arg.name));
  if (arg.name.empty() || plan.findArg(arg.name) >= 0) {
    return json.get("name").fail("expected a new name, got " + quote(arg.name));
  }
  RETURN_IF_FAILED(readRole(json, plan, arg));
  std::string symbol = arg.name;
  if (json.has("symbol")) {
    RETURN_IF_FAILED(json.get("symbol").read(symbol));
  }
  std::string kind;
  RETURN_IF_FAILED(
      json.get("kind").readOneOf({"tensor", "f32", "i32", "i64"}, kind));
  if (kind == "tensor") {
    RETURN_IF_FAILED(readTensorArg(json, symbol, arg));
  } else {
    arg.kind = kind == "f32"   ? ArgKind::F32
               : kind == "i32" ? ArgKind::I32
                               : ArgKind::I64;
    if (arg.kind == ArgKind::F32) {
      RETURN_IF_FAILED(readBounds(json, arg));
    } else {
      RETURN_IF_FAILED(json.expectObject({"name", "symbol", "role", "kind"}));
      arg.symbol = plan.symbols.intern(symbol);
    }
  }
  plan.args.push_back(std::move(arg));
  return {};
}

/// Reads text with the names of symbols in braces.
Status PlanReader::readMessage(const JsonReader &json,
                               std::vector<MessagePart> &parts) {
  std::string text;
  RETURN_IF_FAILED(json.read(text));
  for (size_t at = 0; at < text.size();) {
    size_t open = text.find('{', at), close = text.find('}', open);
    if (close == std::string::npos) {
      parts.push_back({text.substr(at), -1});
      break;
    }
    parts.push_back({text.substr(at, open - at), -1});
    std::string name = text.substr(open + 1, close - open - 1);
    parts.push_back({"", plan.symbols.lookup(name)});
    if (parts.back().symbol < 0) {
      return json.fail("unknown symbol " + quote(name));
    }
    at = close + 1;
  }
  return {};
}

Status PlanReader::readCheck(const JsonReader &json) {
  PlanCheck check;
  RETURN_IF_FAILED(json.expectObject({"expr", "equals", "message"}));
  RETURN_IF_FAILED(readExpr(json.get("expr"), check.expr));
  RETURN_IF_FAILED(json.get("equals").read(check.equals, INT64_MIN, INT64_MAX));
  RETURN_IF_FAILED(readMessage(json.get("message"), check.message));
  plan.checks.push_back(std::move(check));
  return {};
}

/// Returns the index of the temporary after those of the arguments, or -1.
static int findTemporary(const LaunchPlan &plan, const std::string &name) {
  for (size_t i = 0; i < plan.temporaries.size(); ++i) {
    if (plan.temporaries[i].name == name) {
      return int(plan.args.size() + i);
    }
  }
  return -1;
}

Status PlanReader::readTensorName(const JsonReader &json, int &arg) {
  std::string name;
  RETURN_IF_FAILED(json.read(name));
  arg = findTemporary(plan, name);
  if (arg >= 0) {
    return {};
  }
  arg = plan.findArg(name);
  if (arg < 0 || !plan.args[arg].isTensor()) {
    return json.fail("expected the name of a tensor argument, got " +
                     quote(name));
  }
  return {};
}

/// Requires the rows of a tensor argument to begin at multiples of 16 bytes, as
/// those of temporaries do.
static void alignRows(LaunchPlan &plan, int tensor) {
  if (size_t(tensor) < plan.args.size()) {
    plan.args[tensor].alignedRows = true;
  }
}

Status PlanReader::readTensorMapDim(const JsonReader &json, bool innermost,
                                    TensorMapDim &dim) {
  if (innermost) {
    // TMA has no stride for dimension 0: its elements are contiguous.
    RETURN_IF_FAILED(json.expectObject({"size", "box"}));
  } else {
    RETURN_IF_FAILED(json.expectObject({"size", "stride", "box"}));
    RETURN_IF_FAILED(readExpr(json.get("stride"), dim.stride));
  }
  RETURN_IF_FAILED(readExpr(json.get("size"), dim.size));
  return json.get("box").read(dim.box, 1, kMaxBox);
}

Status PlanReader::readTensorMap(const JsonReader &json, PlanParam &param) {
  RETURN_IF_FAILED(
      json.expectObject({"kind", "tensor", "swizzle", "l2_promotion", "dims"}));
  RETURN_IF_FAILED(readTensorName(json.get("tensor"), param.arg));
  alignRows(plan, param.arg);
  int64_t number = 0;
  RETURN_IF_FAILED(json.get("swizzle").readOneOf({0, 32, 64, 128}, number));
  param.swizzle = int(number);
  RETURN_IF_FAILED(
      json.get("l2_promotion").readOneOf({0, 64, 128, 256}, number));
  param.l2Promotion = int(number);
  JsonReader dims = json.get("dims");
  RETURN_IF_FAILED(dims.expectArray(1, kMaxTensorMapRank));
  param.dims.resize(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    RETURN_IF_FAILED(readTensorMapDim(dims.at(i), i == 0, param.dims[i]));
  }
  int64_t rowBytes = param.dims[0].box * sizeOf(plan.typeOf(param.arg));
  if (rowBytes % 16 != 0) {
    return dims.at(0).get("box").fail("expected a multiple of 16 bytes, got " +
                                      std::to_string(rowBytes));
  }
  if (param.swizzle != 0 && rowBytes > param.swizzle) {
    return dims.at(0).get("box").fail(
        "expected at most the swizzle's " + std::to_string(param.swizzle) +
        " bytes, got " + std::to_string(rowBytes));
  }
  return {};
}

Status PlanReader::readParam(const JsonReader &json, PlanParam &param) {
  std::string kind;
  RETURN_IF_FAILED(json.get("kind").readOneOf(
      {"tensor_map", "pointer", "workspace", "i32", "i64", "f32"}, kind));
  if (kind == "tensor_map") {
    param.kind = ParamKind::TensorMap;
    return readTensorMap(json, param);
  }
  if (kind == "pointer") {
    param.kind = ParamKind::Pointer;
    RETURN_IF_FAILED(json.expectObject({"kind", "tensor", "aligned_rows"}));
    RETURN_IF_FAILED(readTensorName(json.get("tensor"), param.arg));
    if (json.has("aligned_rows")) {
      int64_t aligned = 0;
      RETURN_IF_FAILED(json.get("aligned_rows").readOneOf({0, 1}, aligned));
      if (aligned != 0) {
        alignRows(plan, param.arg);
      }
    }
    return {};
  }
  if (kind == "workspace") {
    param.kind = ParamKind::Workspace;
    return json.expectObject({"kind"});
  }
  if (kind == "f32") {
    param.kind = ParamKind::F32;
    RETURN_IF_FAILED(json.expectObject({"kind", "arg"}));
    std::string name;
    RETURN_IF_FAILED(json.get("arg").read(name));
    param.arg = plan.findArg(name);
    if (param.arg < 0 || plan.args[param.arg].kind != ArgKind::F32) {
      return json.get("arg").fail("expected the name of an f32 argument, got " +
                                  quote(name));
    }
    return {};
  }
  param.kind = kind == "i32" ? ParamKind::I32 : ParamKind::I64;
  RETURN_IF_FAILED(json.expectObject({"kind", "expr"}));
  return readExpr(json.get("expr"), param.expr);
}

static Status readTriple(const JsonReader &json, int64_t mostProduct,
                         std::array<unsigned, 3> &out) {
  RETURN_IF_FAILED(json.expectArray(3, 3));
  int64_t product = 1;
  for (size_t i = 0; i < 3; ++i) {
    int64_t value = 0;
    RETURN_IF_FAILED(json.at(i).read(value, 1, mostProduct));
    out[i] = unsigned(value);
    product *= value;
  }
  if (product > mostProduct) {
    return json.fail("expected a product of at most " +
                     std::to_string(mostProduct) + ", got " +
                     std::to_string(product));
  }
  return {};
}

Status PlanReader::readLaunch(const JsonReader &json, PlanLaunch &launch) {
  launch.path = json.getPath();
  RETURN_IF_FAILED(
      json.expectObject({"kernel", "grid", "block", "cluster", "smem",
                         "dependent", "params", "schedule", "report"}));
  RETURN_IF_FAILED(json.get("kernel").read(launch.kernel));
  if (launch.kernel.empty()) {
    return json.get("kernel").fail("expected a name, got \"\"");
  }
  JsonReader grid = json.get("grid");
  RETURN_IF_FAILED(grid.expectArray(3, 3));
  for (size_t i = 0; i < 3; ++i) {
    RETURN_IF_FAILED(readExpr(grid.at(i), launch.grid[i]));
  }
  RETURN_IF_FAILED(readTriple(json.get("block"), kMostThreads, launch.block));
  RETURN_IF_FAILED(
      readTriple(json.get("cluster"), kMostCluster, launch.cluster));
  int64_t smem = 0;
  RETURN_IF_FAILED(json.get("smem").read(smem, 0, kMostSharedMemory));
  launch.smem = unsigned(smem);
  if (json.has("dependent")) {
    int64_t dependent = 0;
    RETURN_IF_FAILED(json.get("dependent").readOneOf({0, 1}, dependent));
    launch.dependent = dependent != 0;
  }
  JsonReader params = json.get("params");
  RETURN_IF_FAILED(params.expectArray(0, kMaxKernelParams));
  launch.params.resize(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    RETURN_IF_FAILED(readParam(params.at(i), launch.params[i]));
  }
  return {};
}

/// Reads the values of the plan or of a variant. Different variants may give a
/// name different values.
Status PlanReader::readValues(const JsonReader &json,
                              std::vector<PlanValue> &values) {
  RETURN_IF_FAILED(json.expectArray(1, kMaxList));
  for (size_t i = 0; i < json.size(); ++i) {
    JsonReader entry = json.at(i);
    RETURN_IF_FAILED(entry.expectObject({"name", "expr"}));
    PlanValue value;
    RETURN_IF_FAILED(readExpr(entry.get("expr"), value.expr));
    std::string name;
    RETURN_IF_FAILED(entry.get("name").read(name));
    value.symbol = plan.symbols.intern(name);
    bool isTaken = value.symbol < firstValueSymbol;
    for (const PlanValue &before : values) {
      isTaken |= before.symbol == value.symbol;
    }
    if (name.empty() || isTaken) {
      return entry.get("name").fail("expected a new name, got " + quote(name));
    }
    values.push_back(std::move(value));
  }
  return {};
}

/// Reads a tensor in the workspace.
Status PlanReader::readTemporary(const JsonReader &json) {
  PlanTemporary temporary;
  RETURN_IF_FAILED(json.expectObject({"name", "dtype", "dims"}));
  RETURN_IF_FAILED(json.get("name").read(temporary.name));
  if (temporary.name.empty() || plan.findArg(temporary.name) >= 0 ||
      findTemporary(plan, temporary.name) >= 0) {
    return json.get("name").fail("expected a new name, got " +
                                 quote(temporary.name));
  }
  std::string dtype;
  RETURN_IF_FAILED(json.get("dtype").read(dtype));
  if (!parseDataType(dtype, temporary.dtype)) {
    return json.get("dtype").fail("unknown element type " + quote(dtype));
  }
  JsonReader dims = json.get("dims");
  RETURN_IF_FAILED(dims.expectArray(1, kMaxTensorRank));
  temporary.dims.resize(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    RETURN_IF_FAILED(readExpr(dims.at(i), temporary.dims[i]));
  }
  temporary.firstStrideSymbol = plan.symbols.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    std::string stride = temporary.name + ".stride." + std::to_string(i);
    if (plan.symbols.lookup(stride) >= 0) {
      return json.get("name").fail("expected " + quote(stride) +
                                   " to be no other symbol");
    }
    plan.symbols.intern(stride);
  }
  plan.temporaries.push_back(std::move(temporary));
  return {};
}

/// Reads what follows from the arguments: values, and tensors in the workspace.
Status PlanReader::readSizes(const JsonReader &json) {
  firstValueSymbol = plan.symbols.size();
  if (json.has("values")) {
    RETURN_IF_FAILED(readValues(json.get("values"), plan.values));
  }
  if (!json.has("temporaries")) {
    return {};
  }
  JsonReader temporaries = json.get("temporaries");
  RETURN_IF_FAILED(temporaries.expectArray(1, kMaxArgs));
  for (size_t i = 0; i < temporaries.size(); ++i) {
    RETURN_IF_FAILED(readTemporary(temporaries.at(i)));
  }
  return {};
}

/// Reads the numbers of a contract, whose words are those of a table.
template <typename Numerics, size_t count>
static Status readNumerics(const JsonReader &json,
                           const PlanWord (&words)[count], Numerics &numerics) {
  RETURN_IF_FAILED(json.expectObject(wordsOf(words)));
  for (auto [number, word] : words) {
    double &bound = numerics.at(number);
    RETURN_IF_FAILED(json.get(word).read(bound));
    if (!(bound >= 0 && bound < 1)) {
      return json.get(word).failExpected("a number from 0 to below 1");
    }
  }
  return {};
}

Status PlanReader::readVariant(const JsonReader &json) {
  PlanVariant variant;
  RETURN_IF_FAILED(json.expectObject(
      {"when", "values", "workspace", "zeroed", "launches", "numerics",
       "gradient_numerics", "schedule", "report"}));
  RETURN_IF_FAILED(readExpr(json.get("when"), variant.when));
  if (json.has("values")) {
    RETURN_IF_FAILED(readValues(json.get("values"), variant.values));
  }
  RETURN_IF_FAILED(readExpr(json.get("workspace"), variant.workspace));
  if (json.has("zeroed")) {
    RETURN_IF_FAILED(json.get("zeroed").read(variant.zeroed, 1, kMaxZeroed));
  }
  JsonReader launches = json.get("launches");
  RETURN_IF_FAILED(launches.expectArray(1, kMaxList));
  variant.launches.resize(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    RETURN_IF_FAILED(readLaunch(launches.at(i), variant.launches[i]));
  }
  if (json.has("numerics")) {
    RETURN_IF_FAILED(readNumerics(json.get("numerics"),
                                  plan_words::ErrorBoundTable,
                                  variant.numerics.emplace()));
  }
  if (json.has("gradient_numerics")) {
    RETURN_IF_FAILED(readNumerics(json.get("gradient_numerics"),
                                  plan_words::GradientErrorBoundTable,
                                  variant.gradientNumerics.emplace()));
  }
  if (json.has("schedule")) {
    RETURN_IF_FAILED(json.get("schedule").read(variant.schedule));
  }
  plan.variants.push_back(std::move(variant));
  return {};
}

Status PlanReader::readPlan(const JsonReader &json) {
  RETURN_IF_FAILED(
      json.expectObject({"version", "name", "target", "problem", "args",
                         "values", "temporaries", "checks", "variants"}));
  int64_t version = 0;
  RETURN_IF_FAILED(json.get("version").readOneOf({1}, version));
  RETURN_IF_FAILED(json.get("name").read(plan.name));
  RETURN_IF_FAILED(json.get("target").read(plan.target));
  RETURN_IF_FAILED(readProblem(json.get("problem")));

  int smCount = plan.symbols.intern("sm_count");
  JsonReader args = json.get("args");
  RETURN_IF_FAILED(args.expectArray(1, kMaxArgs));
  for (size_t i = 0; i < args.size(); ++i) {
    RETURN_IF_FAILED(readArg(args.at(i)));
  }
  RETURN_IF_FAILED(readKeys(json.get("problem").get("keys")));
  RETURN_IF_FAILED(readSizes(json));
  if (json.has("checks")) {
    JsonReader checks = json.get("checks");
    RETURN_IF_FAILED(checks.expectArray(0, kMaxList));
    for (size_t i = 0; i < checks.size(); ++i) {
      RETURN_IF_FAILED(readCheck(checks.at(i)));
    }
  }
  firstValueSymbol = plan.symbols.size();
  JsonReader variants = json.get("variants");
  RETURN_IF_FAILED(variants.expectArray(1, kMaxList));
  for (size_t i = 0; i < variants.size(); ++i) {
    RETURN_IF_FAILED(readVariant(variants.at(i)));
  }
  plan.smCountSymbol = plan.uses(smCount) ? smCount : -1;
  return {};
}

Status attn::runtime::parseLaunchPlan(const std::string &text,
                                      LaunchPlan &plan) {
  nlohmann::json json;
  RETURN_IF_FAILED(parseJson(text, "plan", json));
  LaunchPlan result;
  RETURN_IF_FAILED(PlanReader(result).readPlan(JsonReader(json, "")));
  plan = std::move(result);
  return {};
}
