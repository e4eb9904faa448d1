// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchPlan.h"
#include "JoinLayout.h"
#include "SizeExpressions.h"
#include "StampLayout.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/RegionProgram.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

namespace {

constexpr int64_t counterBytes = 4;

bool isExpression(Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  return isa<IntegerAttr, StringAttr>(attr) ||
         (list && !list.empty() && isa<StringAttr>(list[0]) &&
          llvm::all_of(list.getValue().drop_front(), isExpression));
}

/// What the kernel says of its launches has the form that LaunchChecks.h gives.
LogicalResult verifyLaunchAttributes(ws::KernelOp kernel) {
  auto isCheck = [](Attribute attr) {
    auto check = dyn_cast<ArrayAttr>(attr);
    return check && check.size() == 3 && isExpression(check[0]) &&
           isa<IntegerAttr>(check[1]) && isa<StringAttr>(check[2]);
  };
  Attribute checks = kernel->getAttr(kChecksAttr);
  if (checks && !(isa<ArrayAttr>(checks) &&
                  llvm::all_of(cast<ArrayAttr>(checks), isCheck))) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected '")
           << kChecksAttr
           << "' to be a list of [expression, integer, message], got "
           << checks;
  }
  Attribute sizes = kernel->getAttr(kSizesAttr);
  bool needsSizes = kernel.getVariant() && kernel.getVariant()->getWhen();
  if (!sizes && !needsSizes) {
    return success();
  }
  auto names = dyn_cast_or_null<DictionaryAttr>(sizes);
  for (StringRef word : {stringifyLaunchSize(LaunchSize::SeqlenQ),
                         stringifyLaunchSize(LaunchSize::SeqlenK),
                         StringRef(kHeads), StringRef(kBatches)}) {
    if (!names || !names.getAs<StringAttr>(word)) {
      return kernel.emitOpError("attn-lower-to-nvvm: expected '")
             << kSizesAttr << "' to name the size '" << word << "'";
    }
  }
  return success();
}

/// The sizes of a plan that are computed from the kernel's ops.
struct PlanSizes {
  json::Value items;
  /// The op that cuts the last items, and the length along which it does.
  tile::CutOp cut;
  json::Value cutLength = nullptr;

  static FailureOr<PlanSizes> of(ws::KernelOp kernel) {
    FailureOr<json::Value> items = countItems(kernel);
    if (failed(items)) {
      return failure();
    }
    PlanSizes sizes{std::move(*items)};
    for (auto cut : kernel.getBody().getOps<tile::CutOp>()) {
      FailureOr<json::Value> length = sizeExpression(kernel, cut.getLength());
      if (failed(length)) {
        return failure();
      }
      sizes.cut = cut;
      sizes.cutLength = std::move(*length);
    }
    return sizes;
  }
};

/// What a plan says of one kernel.
class PlanBuilder {
public:
  PlanBuilder(const PlannedKernel &planned, PlanSizes sizes)
      : kernel(planned.kernel), chip(planned.chip), params(planned.params),
        threads(planned.threads), sizes(std::move(sizes)) {}

  json::Object problem();
  json::Array arguments();
  json::Array checks();
  json::Object variant(bool isLast);

private:
  std::string nameOf(unsigned argument) {
    return kernel.getArgs()[argument].getName().str();
  }
  static json::Value dim(StringRef name) {
    int64_t size;
    if (!name.getAsInteger(10, size)) {
      return size;
    }
    return name.str();
  }
  static std::string dtypeOf(Type type) {
    if (type.isInteger(1)) {
      return "bool";
    }
    if (type.isUnsignedInteger(8)) {
      return "u8";
    }
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  json::Object argument(unsigned index);
  json::Object tensorMap(const Param &param);
  json::Object parameter(const Param &param);
  json::Value size(StringRef name) { return dim(sizeNamed(kernel, name)); }
  int64_t cluster() { return kernel.getConfig().getCluster(); }
  json::Value items() { return sizes.items; }
  json::Value expression(Attribute attr);
  std::string message(StringRef text);
  json::Value handedOut();
  json::Array cutValues();
  json::Value gridSize();
  json::Value sizeOf(LaunchSize size);
  json::Value condition();
  json::Object launch();
  json::Object resources();
  json::Object stamps(const StampLayout &layout);

  ws::KernelOp kernel;
  const Target &chip;
  ArrayRef<Param> params;
  int64_t threads;
  PlanSizes sizes;
};

/// Lists of lists of words, as describeRegions() writes them.
json::Array wordsOf(ArrayAttr lines) {
  json::Array all;
  for (auto line : lines.getAsRange<ArrayAttr>()) {
    json::Array words;
    for (StringRef word : line.getAsValueRange<StringAttr>()) {
      words.push_back(word);
    }
    all.push_back(std::move(words));
  }
  return all;
}

json::Object PlanBuilder::problem() {
  ProblemAttr problem = kernel.getProblem();
  auto region = [](attn::RegionKind kind) {
    return kind == attn::RegionKind::Absent ? "none" : "custom";
  };
  json::Object object{{"kind", stringifyKernelKind(problem.getKind())},
                      {"dtype", dtypeOf(problem.getDtype())},
                      {"head_dim", problem.getHeadDim()},
                      {"head_dim_v", problem.getHeadDimV()},
                      {"layout", stringifyLayoutKind(problem.getLayout())},
                      {"mask", stringifyMaskKind(problem.getMask())},
                      {"score_region", region(problem.getScoreRegion())},
                      {"mask_region", region(problem.getMaskRegion())}};
  auto programs = kernel->getAttrOfType<DictionaryAttr>(kRegionProgramsAttr);
  for (NamedAttribute program :
       programs ? programs.getValue() : ArrayRef<NamedAttribute>()) {
    object[(program.getName().getValue() + "_program").str()] =
        wordsOf(cast<ArrayAttr>(program.getValue()));
  }
  return object;
}

json::Object PlanBuilder::argument(unsigned index) {
  Type type = kernel.getBody().getArgument(index).getType();
  std::string name = nameOf(index);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return json::Object{{"name", name}, {"kind", dtypeOf(type)}};
  }
  json::Array dims;
  for (const std::string &size : dimNames(kernel, index)) {
    dims.push_back(dim(size));
  }
  ArgumentAccess access = kernel.getArgs()[index].getAccess();
  // What is added to has to be there before the launch.
  StringRef word = access == ArgumentAccess::Read    ? "read"
                   : access == ArgumentAccess::Write ? "write"
                                                     : "readwrite";
  return json::Object{{"name", name},
                      {"kind", "tensor"},
                      {"dtype", dtypeOf(tensor.getElementType())},
                      {"access", word},
                      {"dims", std::move(dims)}};
}

/// Five dimensions: columns of a panel, positions, panels, heads, batches, so
/// that one copy brings a whole tile as panels. Where the tensor ends within a
/// panel, four: columns, positions, heads, batches. Packed heads come before
/// positions.
json::Object PlanBuilder::tensorMap(const Param &param) {
  SmallVector<std::string> sizes = dimNames(kernel, param.argument);
  std::string name = nameOf(param.argument);
  AccessMap access = *AccessMap::parse(param.map);
  int64_t packed = access.packedHeads;
  int64_t elementBytes = param.box.getElementTypeBitWidth() / 8;
  auto strided = [&](AccessMap::Coordinate coordinate, int64_t box) {
    unsigned d = access.dimOf(coordinate);
    return json::Object{
        {"size", dim(sizes[d])},
        {"stride", json::Array{"mul", name + ".stride." + std::to_string(d),
                               elementBytes}},
        {"box", box}};
  };
  int64_t columns = cast<RankedTensorType>(
                        kernel.getBody().getArgument(param.argument).getType())
                        .getDimSize(3);
  CopyBox box = chip.copyBox(param.box, columns, param.ctas);
  json::Array dims;
  dims.push_back(
      json::Object{{"size", box.endsWithPanel ? box.columns : columns},
                   {"box", box.columns}});
  if (packed > 1) {
    dims.push_back(strided(AccessMap::Head, packed));
  }
  dims.push_back(strided(AccessMap::Position, box.rows / packed));
  if (box.endsWithPanel) {
    dims.push_back(json::Object{{"size", columns / box.columns},
                                {"stride", box.columns * elementBytes},
                                {"box", box.panels}});
  }
  if (packed == 1) {
    dims.push_back(strided(AccessMap::Head, 1));
  }
  dims.push_back(strided(AccessMap::Batch, 1));
  return json::Object{{"kind", "tensor_map"},
                      {"tensor", name},
                      {"swizzle", box.span},
                      {"l2_promotion", 256},
                      {"dims", std::move(dims)}};
}

/// Do threads move more than one element of the tensor at a time?
static bool isMovedInPairs(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    return isa<tile::LoadOp, tile::StoreRegOp>(user);
  });
}

json::Object PlanBuilder::parameter(const Param &param) {
  std::string name = nameOf(param.argument);
  switch (param.kind) {
  case Param::TensorMap:
    return tensorMap(param);
  case Param::Pointer: {
    json::Object pointer{{"kind", "pointer"}, {"tensor", name}};
    if (isMovedInPairs(kernel.getBody().getArgument(param.argument))) {
      pointer["aligned_rows"] = 1;
    }
    return pointer;
  }
  case Param::Workspace:
    return json::Object{{"kind", "workspace"}};
  case Param::Dim:
    return json::Object{
        {"kind", "i32"},
        {"expr", dim(dimNames(kernel, param.argument)[param.dim])}};
  case Param::Stride:
    return json::Object{
        {"kind", "i64"},
        {"expr", name + ".stride." + std::to_string(param.dim)}};
  case Param::Cut:
    return json::Object{{"kind", "i32"},
                        {"expr", param.dim == 0 ? wholeName : partsName}};
  case Param::Scalar: {
    Type type = kernel.getBody().getArgument(param.argument).getType();
    return json::Object{{"kind", dtypeOf(type)},
                        {type.isF32() ? "arg" : "expr", name}};
  }
  }
  return json::Object{};
}

/// Work items as the CTAs take them: each part of one counts.
json::Value PlanBuilder::handedOut() {
  if (!sizes.cut) {
    return items();
  }
  return json::Array{
      "add", wholeName,
      json::Array{"mul", json::Array{"sub", items(), wholeName}, partsName}};
}

/// In how many parts the items of the last wave are cut: in as many as make it
/// shortest, in half blocks of keys. A part takes an overhead beyond its
/// blocks, and the last one takes time to merge another.
json::Array PlanBuilder::cutValues() {
  constexpr int64_t overhead = 1, merging = 1;
  json::Array values;
  auto define = [&](std::string name, json::Value expr) {
    values.push_back(
        json::Object{{"name", std::move(name)}, {"expr", std::move(expr)}});
  };
  define("cut.tail", json::Array{"mod", items(), "sm_count"});
  json::Value parts = 1;
  json::Array before{"min"};
  int64_t most = sizes.cut.getMost();
  for (int64_t p = 1; p <= most; ++p) {
    json::Array waves{"ceildiv", json::Array{"mul", "cut.tail", p}, "sm_count"};
    json::Array blocks{"ceildiv", sizes.cutLength,
                       p * static_cast<int64_t>(sizes.cut.getBlock())};
    json::Array each{"add", json::Array{"mul", std::move(blocks), 2},
                     p == 1 ? 0 : overhead};
    std::string name = "cut.cost" + std::to_string(p);
    define(name,
           json::Array{"add",
                       json::Array{"mul", std::move(waves), std::move(each)},
                       (p - 1) * merging});
    if (p > 1) {
      json::Value best = p == 2 ? before[1] : json::Value(json::Array(before));
      parts = json::Array{"select", json::Array{"lt", name, std::move(best)}, p,
                          std::move(parts)};
    }
    before.push_back(name);
  }
  json::Array fits{"ge", JoinLayout::mostItems, "cut.tail"};
  define(partsName.str(),
         json::Array{"select", std::move(fits), std::move(parts), 1});
  json::Array cut{"select", json::Array{"eq", partsName, 1}, 0, "cut.tail"};
  define(wholeName.str(), json::Array{"sub", items(), std::move(cut)});
  return values;
}

json::Value PlanBuilder::gridSize() {
  bool persistent = kernel.getConfig().getWork() != WorkKind::Grid;
  if (cluster() == 1) {
    return persistent ? json::Array{"min", handedOut(), "sm_count"} : items();
  }
  json::Array fitting{"max", json::Array{"div", "sm_count", cluster()}, 1};
  return json::Array{
      "mul",
      persistent ? json::Array{"min", items(), std::move(fitting)} : items(),
      cluster()};
}

/// A list of an operator and operands, whose names are replaced by sizes.
json::Value PlanBuilder::expression(Attribute attr) {
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    return number.getInt();
  }
  if (auto name = dyn_cast<StringAttr>(attr)) {
    return name == kItems ? items() : size(name);
  }
  json::Array list;
  auto operands = cast<ArrayAttr>(attr).getValue();
  list.push_back(cast<StringAttr>(operands.front()).getValue());
  for (Attribute operand : operands.drop_front()) {
    list.push_back(expression(operand));
  }
  return list;
}

/// The text with static sizes for their names in braces; the runtime replaces
/// those that remain.
std::string PlanBuilder::message(StringRef text) {
  std::string result;
  while (!text.empty()) {
    auto [before, rest] = text.split('{');
    auto [name, after] = rest.split('}');
    result += before.str();
    if (!name.empty()) {
      std::string size = sizeNamed(kernel, name);
      result += size == name ? "{" + size + "}" : size;
    }
    text = after;
  }
  return result;
}

/// Preconditions that the runtime checks before each launch. A kernel that has
/// none still counts its items in 32 bits.
json::Array PlanBuilder::checks() {
  auto all = kernel->getAttrOfType<ArrayAttr>(kChecksAttr);
  if (!all) {
    constexpr int64_t limit = (int64_t(1) << 31) - (1 << 16);
    return json::Array{json::Object{
        {"expr", json::Array{"lt", items(), limit / cluster()}},
        {"equals", 1},
        {"message", "expected fewer than " + std::to_string(limit / cluster()) +
                        " work items"}}};
  }
  json::Array checks;
  for (Attribute attr : all.getValue()) {
    auto check = cast<ArrayAttr>(attr);
    checks.push_back(json::Object{
        {"expr", expression(check[0])},
        {"equals", cast<IntegerAttr>(check[1]).getInt()},
        {"message", message(cast<StringAttr>(check[2]).getValue())}});
  }
  return checks;
}

json::Object PlanBuilder::launch() {
  json::Array parameters;
  for (const Param &param : params) {
    parameters.push_back(parameter(param));
  }
  json::Object launch{{"kernel", kernel.getSymName()},
                      {"grid", json::Array{gridSize(), 1, 1}},
                      {"block", json::Array{threads, 1, 1}},
                      {"cluster", json::Array{cluster(), 1, 1}},
                      {"smem", static_cast<int64_t>(*kernel.getSmemBytes())},
                      {"params", std::move(parameters)}};
  if (kernel.getSchedule().getLaunch() == Launch::Dependent) {
    launch["dependent"] = 1;
  }
  return launch;
}

/// What the kernel takes of the machine, role by role.
json::Object PlanBuilder::resources() {
  json::Array roles;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    roles.push_back(
        json::Object{{"name", role.getSymName()},
                     {"replicas", static_cast<int64_t>(role.getReplicas())},
                     {"warps", static_cast<int64_t>(role.getWarps())},
                     {"registers", static_cast<int64_t>(role.getRegs())}});
  }
  int64_t barriers = 0;
  kernel.walk([&](NVVM::MBarrierInitOp) { ++barriers; });
  json::Object report{
      {"roles", std::move(roles)},
      {"threads", threads},
      {"shared_memory", static_cast<int64_t>(*kernel.getSmemBytes())},
      {"mbarriers", barriers},
      {"rung", kernel.getConfig().getRung()}};
  if (kernel.getVariant() && kernel.getVariant()->getWhen()) {
    report["when"] = kernel.getVariant()->getWhen().getText();
  }
  if (std::optional<StampLayout> layout = StampLayout::of(kernel)) {
    report["stamps"] = stamps(*layout);
  }
  return report;
}

/// How to read the stamps in the workspace.
json::Object PlanBuilder::stamps(const StampLayout &layout) {
  json::Array names;
  for (auto [activity, object] : layout.names) {
    names.push_back(json::Array{ws::stringifyActivity(activity), object});
  }
  return json::Object{{"offset", layout.offset},
                      {"events", layout.events},
                      {"ctas", layout.ctas},
                      {"names", std::move(names)}};
}

json::Array PlanBuilder::arguments() {
  json::Array all;
  for (unsigned i = 0; i < kernel.getBody().getNumArguments(); ++i) {
    all.push_back(argument(i));
  }
  return all;
}

json::Value PlanBuilder::sizeOf(LaunchSize launchSize) {
  auto sizes = kernel->getAttrOfType<DictionaryAttr>(kSizesAttr);
  auto named = [&](StringRef word) {
    return size(cast<StringAttr>(sizes.get(word)).getValue());
  };
  if (launchSize != LaunchSize::Rows) {
    return named(stringifyLaunchSize(launchSize));
  }
  return json::Array{"mul", named(stringifyLaunchSize(LaunchSize::SeqlenQ)),
                     named(kHeads), named(kBatches)};
}

/// Not zero where all bounds of the kernel's condition hold.
json::Value PlanBuilder::condition() {
  json::Array all{"min"};
  for (BoundAttr bound : kernel.getVariant()->getWhen().getBounds()) {
    json::Value size = sizeOf(bound.getSize());
    int64_t value = bound.getValue();
    all.push_back(bound.getSide() == BoundSide::AtMost
                      ? json::Array{"ge", value, std::move(size)}
                      : json::Array{"lt", value, std::move(size)});
  }
  constexpr size_t oneBound = 2;
  if (all.size() == oneBound) {
    return std::move(all.back());
  }
  return all;
}

json::Object PlanBuilder::variant(bool isLast) {
  std::string schedule;
  llvm::raw_string_ostream(schedule) << kernel.getSchedule();
  json::Object variant{{"when", isLast ? json::Value(1) : condition()},
                       {"workspace", 0},
                       {"launches", json::Array{launch()}},
                       {"schedule", std::move(schedule)},
                       {"report", resources()}};
  if (kernel.getConfig().getWork() == WorkKind::Dynamic) {
    // The counter of work items, which a launch leaves as it found it.
    variant["workspace"] = counterBytes;
    variant["zeroed"] = counterBytes;
  }
  if (std::optional<StampLayout> layout = StampLayout::of(kernel)) {
    variant["workspace"] = layout->end();
  }
  if (std::optional<JoinLayout> layout = JoinLayout::of(kernel)) {
    variant["values"] = cutValues();
    variant["zeroed"] = JoinLayout::countsEnd;
    json::Array others{"mul", json::Array{"sub", items(), wholeName},
                       json::Array{"sub", partsName, 1}, layout->partBytes()};
    variant["workspace"] =
        json::Array{"add", std::move(others), layout->values};
  }
  return variant;
}

} // namespace

FailureOr<std::string>
codegen::buildLaunchPlan(StringRef name, ArrayRef<PlannedKernel> kernels) {
  json::Array checks, variants;
  json::Object problem;
  json::Array arguments;
  for (const PlannedKernel &planned : kernels) {
    FailureOr<PlanSizes> sizes = PlanSizes::of(planned.kernel);
    if (failed(verifyLaunchAttributes(planned.kernel)) || failed(sizes)) {
      return failure();
    }
    PlanBuilder builder(planned, std::move(*sizes));
    if (&planned == &kernels.front()) {
      problem = builder.problem();
      arguments = builder.arguments();
    }
    variants.push_back(builder.variant(&planned == &kernels.back()));
    for (json::Value &check : builder.checks()) {
      if (!llvm::is_contained(checks, check)) {
        checks.push_back(std::move(check));
      }
    }
  }
  ws::KernelOp first = kernels.front().kernel;
  std::string text;
  llvm::raw_string_ostream(text)
      << json::Value(json::Object{{"version", 1},
                                  {"name", name},
                                  {"target", first.getMachine()},
                                  {"problem", std::move(problem)},
                                  {"args", std::move(arguments)},
                                  {"checks", std::move(checks)},
                                  {"variants", std::move(variants)}});
  return text;
}
