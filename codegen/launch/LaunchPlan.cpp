// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/LaunchPlan.h"
#include "LaunchExpressions.h"
#include "LaunchItems.h"
#include "LaunchParams.h"
#include "LaunchSizes.h"
#include "OverflowChecks.h"
#include "SizeExpressions.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/codegen/launch/Numerics.h"
#include "attn/codegen/launch/StampLayout.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/RegionProgram.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

namespace {

constexpr int64_t counterBytes = 4;

/// Checks that conditions that select a kernel have sizes to compare: those of
/// the query and the key.
LogicalResult verifySizes(ws::KernelOp kernel) {
  bool needsSizes = kernel.getVariant() && kernel.getVariant()->getWhen();
  if (!needsSizes || LaunchSizes::of(kernel)) {
    return success();
  }
  return kernel.emitOpError("attn-lower-to-nvvm: expected arguments of roles "
                            "'query' and 'key' beside a condition on their "
                            "sizes, got no such ones");
}

/// The description of one kernel in a plan.
class PlanBuilder {
public:
  PlanBuilder(const PlannedKernel &planned, LaunchItems items)
      : kernel(planned.kernel), copyBox(planned.copyBox),
        params(planned.params), threads(planned.threads),
        items(std::move(items)) {}

  json::Object problem();
  json::Array arguments();
  FailureOr<json::Array> checks();
  json::Object variant(bool isLast);

private:
  json::Object argument(unsigned index);
  json::Value gridSize();
  json::Value sizeOf(LaunchSize size);
  json::Value condition();
  json::Object launch();
  json::Object resources();
  json::Object numerics();
  json::Object stamps(const StampLayout &layout);
  int64_t cluster() { return clusterOf(kernel); }

  ws::KernelOp kernel;
  const CopyBoxOf &copyBox;
  ArrayRef<Param> params;
  int64_t threads;
  LaunchItems items;
};

/// Converts lists of lists of words, as describeRegions() writes them.
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
                      {"dtype", plannedType(problem.getDtype())},
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
  ArgumentAttr description = kernel.getArgs()[index];
  auto tensor = dyn_cast<RankedTensorType>(type);
  json::Object object{{"name", description.getName().getValue()}};
  if (description.getSymbol() != description.getName()) {
    object["symbol"] = description.getSymbol().getValue();
  }
  if (description.getRole()) {
    object["role"] = stringifyArgumentRole(*description.getRole());
  }
  if (!tensor) {
    object["kind"] = plannedType(type);
    if (FloatAttr least = description.getLeast()) {
      object["at_least"] = least.getValueAsDouble();
      object["at_most"] = description.getMost().getValueAsDouble();
    }
    return object;
  }
  json::Array dims;
  for (const std::string &size : dimNames(kernel, index)) {
    dims.push_back(nameOrNumber(size));
  }
  ArgumentAccess access = description.getAccess();
  // A tensor that is added to must be initialized before the launch.
  StringRef word = access == ArgumentAccess::Read    ? "read"
                   : access == ArgumentAccess::Write ? "write"
                                                     : "readwrite";
  object["kind"] = "tensor";
  object["dtype"] = plannedType(tensor.getElementType());
  object["access"] = word;
  object["dims"] = std::move(dims);
  return object;
}

json::Value PlanBuilder::gridSize() {
  bool persistent = !isOneItemACta(kernel);
  if (cluster() == 1) {
    return persistent ? json::Array{"min", items.handedOut(), kMultiprocessors}
                      : items.count();
  }
  json::Array fitting{"max", json::Array{"div", kMultiprocessors, cluster()},
                      1};
  return json::Array{"mul",
                     persistent
                         ? json::Array{"min", items.count(), std::move(fitting)}
                         : items.count(),
                     cluster()};
}

/// Preconditions that the runtime checks before each launch. Items are counted
/// in 32 bits, independently of the kernel.
FailureOr<json::Array> PlanBuilder::checks() {
  int64_t most = kItemLimit / cluster();
  FailureOr<json::Array> checks = launchChecks(kernel, items.count());
  if (failed(checks)) {
    return failure();
  }
  json::Value isFewer = json::Array{"lt", items.count(), most};
  bool isChecked = llvm::any_of(*checks, [&](const json::Value &check) {
    const json::Object &object = *check.getAsObject();
    return *object.get("expr") == isFewer && *object.get("equals") == 1;
  });
  if (!isChecked) {
    checks->push_back(
        json::Object{{"expr", std::move(isFewer)},
                     {"equals", 1},
                     {"message", "expected fewer than " + std::to_string(most) +
                                     " work items"}});
  }
  addOverflowChecks(kernel, items, *checks);
  return checks;
}

json::Object PlanBuilder::launch() {
  json::Object launch{{"kernel", kernel.getSymName()},
                      {"grid", json::Array{gridSize(), 1, 1}},
                      {"block", json::Array{threads, 1, 1}},
                      {"cluster", json::Array{cluster(), 1, 1}},
                      {"smem", static_cast<int64_t>(*kernel.getSmemBytes())},
                      {"params", launchParams(kernel, copyBox, params)}};
  if (kernel.getSchedule().getLaunch() == Launch::Dependent) {
    launch["dependent"] = 1;
  }
  return launch;
}

/// The machine resources that each role uses.
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

/// The bounds on the error of the results.
json::Object PlanBuilder::numerics() {
  Numerics bounds = Numerics::of(Precision::of(kernel));
  return json::Object{{"score_relative", bounds.scoreRelative},
                      {"o_relative", bounds.oRelative},
                      {"o_per_key", bounds.oPerKey},
                      {"flush", bounds.flush},
                      {"lse_relative", bounds.lseRelative},
                      {"lse_absolute", bounds.lseAbsolute},
                      {"lse_per_root_key", bounds.lsePerRootKey}};
}

/// The description of the stamps in the workspace.
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
  LaunchSizes sizes = *LaunchSizes::of(kernel);
  switch (launchSize) {
  case LaunchSize::SeqlenQ:
    return nameOrNumber(sizes.queries);
  case LaunchSize::SeqlenK:
    return nameOrNumber(sizes.keys);
  case LaunchSize::Rows:
    break;
  }
  return json::Array{"mul", nameOrNumber(sizes.queries),
                     nameOrNumber(sizes.queryHeads),
                     nameOrNumber(sizes.batches)};
}

/// Not zero if all bounds of the kernel's condition hold.
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
  if (kernel.getProblem().getKind() == KernelKind::Fwd) {
    variant["numerics"] = numerics();
  }
  if (handsOutItems(kernel)) {
    // The counter of work items, which is reset at the end of a launch.
    variant["workspace"] = counterBytes;
    variant["zeroed"] = counterBytes;
  }
  if (std::optional<StampLayout> layout = StampLayout::of(kernel)) {
    variant["workspace"] = layout->end();
  }
  if (std::optional<JoinLayout> layout = JoinLayout::of(kernel)) {
    variant["values"] = items.cutValues();
    variant["zeroed"] = JoinLayout::countsEnd;
    variant["workspace"] = json::Array{
        "add", items.partsBytes(layout->partBytes()), layout->values};
  }
  return variant;
}

/// Refuses plans that the runtime would not load. The depth of an expression is
/// only known here, where `items` in it is expanded.
LogicalResult checkLimits(ws::KernelOp kernel, const json::Array &checks,
                          const json::Value &variant) {
  if (checks.size() > mostLaunchList) {
    return kernel.emitOpError("attn-lower-to-nvvm: expected at most ")
           << mostLaunchList << " checks of a launch, got " << checks.size();
  }
  int depth = depthOf(variant);
  for (const json::Value &check : checks) {
    depth = std::max(depth, depthOf(check));
  }
  if (depth <= mostLaunchDepth) {
    return success();
  }
  return kernel.emitOpError("attn-lower-to-nvvm: expected the expressions of "
                            "its launch plan to be at most ")
         << mostLaunchDepth
         << " deep, with the number of work items written out, got " << depth;
}

} // namespace

FailureOr<std::string>
codegen::buildLaunchPlan(StringRef name, StringRef chip,
                         ArrayRef<PlannedKernel> kernels) {
  json::Array checks, variants;
  json::Object problem;
  json::Array arguments;
  for (const PlannedKernel &planned : kernels) {
    if (failed(verifySizes(planned.kernel))) {
      return failure();
    }
    FailureOr<LaunchItems> items = LaunchItems::of(planned.kernel);
    if (failed(items)) {
      return failure();
    }
    PlanBuilder builder(planned, std::move(*items));
    FailureOr<json::Array> demanded = builder.checks();
    if (failed(demanded)) {
      return failure();
    }
    if (&planned == &kernels.front()) {
      FailureOr<json::Object> keys = seenKeysOf(planned.kernel);
      if (failed(keys)) {
        return failure();
      }
      problem = builder.problem();
      problem["keys"] = std::move(*keys);
      arguments = builder.arguments();
    }
    variants.push_back(builder.variant(&planned == &kernels.back()));
    for (json::Value &check : *demanded) {
      if (!llvm::is_contained(checks, check)) {
        checks.push_back(std::move(check));
      }
    }
    if (failed(checkLimits(planned.kernel, checks, variants.back()))) {
      return failure();
    }
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << json::Value(json::Object{{"version", 1},
                                  {"name", name},
                                  {"target", chip},
                                  {"problem", std::move(problem)},
                                  {"args", std::move(arguments)},
                                  {"checks", std::move(checks)},
                                  {"variants", std::move(variants)}});
  return text;
}
