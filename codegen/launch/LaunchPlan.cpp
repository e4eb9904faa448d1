// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/LaunchPlan.h"
#include "LaunchExpressions.h"
#include "LaunchItems.h"
#include "LaunchParams.h"
#include "LaunchSizes.h"
#include "OverflowChecks.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/codegen/launch/Numerics.h"
#include "attn/codegen/launch/StampLayout.h"
#include "attn/dialect/RegionProgram.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

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

/// Builds the variant of one kernel.
class VariantBuilder {
public:
  VariantBuilder(const PlannedKernel &planned, LaunchItems items)
      : kernel(planned.kernel), copyBox(planned.copyBox),
        params(planned.params), threads(planned.threads),
        items(std::move(items)), make(kernel.getContext()) {}

  FailureOr<SmallVector<LaunchCheck>> checks();
  void createVariant(OpBuilder &builder, bool isLast);

private:
  Attribute gridSize();
  Attribute sizeOf(LaunchSize size);
  Attribute condition();
  Attribute workspace();
  int64_t zeroed();
  void createKernel(OpBuilder &builder);
  launch::ReportAttr report();
  launch::NumericsAttr numerics();
  launch::StampsAttr stamps();
  int64_t cluster() { return clusterOf(kernel); }
  MLIRContext *context() { return kernel.getContext(); }

  ws::KernelOp kernel;
  const CopyBoxOf &copyBox;
  ArrayRef<Param> params;
  int64_t threads;
  LaunchItems items;
  launch::Expressions make;
};

} // namespace

Attribute VariantBuilder::gridSize() {
  bool persistent = !isOneItemACta(kernel);
  Attribute ctas = make.name(kMultiprocessors);
  if (cluster() == 1) {
    return persistent ? make.apply(LaunchOp::Min, {items.handedOut(), ctas})
                      : items.count();
  }
  Attribute size = make.number(cluster());
  Attribute fitting = make.apply(
      LaunchOp::Max, {make.apply(LaunchOp::Div, {ctas, size}), make.number(1)});
  Attribute clusters = persistent
                           ? make.apply(LaunchOp::Min, {items.count(), fitting})
                           : items.count();
  return make.apply(LaunchOp::Mul, {clusters, size});
}

/// Preconditions that the runtime checks before each launch. Items are counted
/// in 32 bits, independently of the kernel.
FailureOr<SmallVector<LaunchCheck>> VariantBuilder::checks() {
  int64_t most = kItemLimit / cluster();
  auto checks = launchChecks(kernel, items.count());
  if (failed(checks)) {
    return failure();
  }
  Attribute isFewer =
      make.apply(LaunchOp::Lt, {items.count(), make.number(most)});
  bool isChecked = llvm::any_of(*checks, [&](const LaunchCheck &check) {
    return check.expr == isFewer && check.equals == 1;
  });
  if (!isChecked) {
    checks->push_back(
        {isFewer, 1,
         "expected fewer than " + std::to_string(most) + " work items"});
  }
  addOverflowChecks(kernel, items, *checks);
  return checks;
}

void VariantBuilder::createKernel(OpBuilder &builder) {
  bool isDependent = kernel.getSchedule().getLaunch() == Launch::Dependent;
  launch::KernelOp::create(
      builder, kernel.getLoc(), FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      gridSize(), builder.getI64IntegerAttr(threads),
      builder.getI64IntegerAttr(cluster()), kernel.getSmemBytesAttr(),
      isDependent ? builder.getUnitAttr() : UnitAttr(),
      launchParams(kernel, copyBox, params), report());
}

/// The machine resources that each role uses.
launch::ReportAttr VariantBuilder::report() {
  SmallVector<launch::RoleAttr> roles;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    roles.push_back(launch::RoleAttr::get(context(), role.getSymNameAttr(),
                                          role.getReplicas(), role.getWarps(),
                                          role.getRegs()));
  }
  int64_t barriers = 0;
  kernel.walk([&](NVVM::MBarrierInitOp) { ++barriers; });
  return launch::ReportAttr::get(context(), roles, barriers,
                                 kernel.getConfig().getRung(), stamps());
}

/// The description of the stamps in the workspace, or null.
launch::StampsAttr VariantBuilder::stamps() {
  std::optional<StampLayout> layout = StampLayout::of(kernel);
  if (!layout) {
    return {};
  }
  SmallVector<launch::StampAttr> names;
  for (auto [activity, object] : layout->names) {
    names.push_back(launch::StampAttr::get(context(), activity,
                                           StringAttr::get(context(), object)));
  }
  return launch::StampsAttr::get(context(), layout->offset, layout->events,
                                 layout->ctas, names);
}

/// The bounds on the error of the results, or null.
launch::NumericsAttr VariantBuilder::numerics() {
  if (kernel.getProblem().getKind() != KernelKind::Fwd) {
    return {};
  }
  Numerics bounds = Numerics::of(Precision::of(kernel));
  auto number = [&](double bound) {
    return FloatAttr::get(Float64Type::get(context()), bound);
  };
  return launch::NumericsAttr::get(
      context(), number(bounds.scoreRelative), number(bounds.oRelative),
      number(bounds.oPerKey), number(bounds.flush), number(bounds.lseRelative),
      number(bounds.lseAbsolute), number(bounds.lsePerRootKey));
}

Attribute VariantBuilder::sizeOf(LaunchSize launchSize) {
  LaunchSizes sizes = *LaunchSizes::of(kernel);
  switch (launchSize) {
  case LaunchSize::SeqlenQ:
    return sizes.queries;
  case LaunchSize::SeqlenK:
    return sizes.keys;
  case LaunchSize::Rows:
    break;
  }
  return make.apply(LaunchOp::Mul,
                    {sizes.queries, sizes.queryHeads, sizes.batches});
}

/// Not zero if all bounds of the kernel's condition hold.
Attribute VariantBuilder::condition() {
  SmallVector<Attribute> all;
  for (BoundAttr bound : kernel.getVariant()->getWhen().getBounds()) {
    bool isAtMost = bound.getSide() == BoundSide::AtMost;
    all.push_back(
        make.apply(isAtMost ? LaunchOp::Ge : LaunchOp::Lt,
                   {make.number(bound.getValue()), sizeOf(bound.getSize())}));
  }
  return all.size() == 1 ? all.front() : make.apply(LaunchOp::Min, all);
}

Attribute VariantBuilder::workspace() {
  if (std::optional<JoinLayout> layout = JoinLayout::of(kernel)) {
    return make.apply(LaunchOp::Add, {items.partsBytes(layout->partBytes()),
                                      make.number(layout->values)});
  }
  if (std::optional<StampLayout> layout = StampLayout::of(kernel)) {
    return make.number(layout->end());
  }
  return make.number(handsOutItems(kernel) ? counterBytes : 0);
}

/// The counter of work items and the counts of joined parts are reset at the
/// end of a launch.
int64_t VariantBuilder::zeroed() {
  if (JoinLayout::isIn(kernel)) {
    return JoinLayout::countsEnd;
  }
  return handsOutItems(kernel) ? counterBytes : 0;
}

void VariantBuilder::createVariant(OpBuilder &builder, bool isLast) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = kernel.getLoc();
  ConditionAttr words =
      kernel.getVariant() ? kernel.getVariant()->getWhen() : ConditionAttr();
  auto variant = launch::VariantOp::create(
      builder, loc, isLast ? Attribute() : condition(), words, workspace(),
      zeroed() ? builder.getI64IntegerAttr(zeroed()) : IntegerAttr(),
      numerics(), kernel.getSchedule());
  builder.setInsertionPointToStart(&variant.getBody().emplaceBlock());
  if (JoinLayout::isIn(kernel)) {
    items.createCutValues(builder, loc);
  }
  createKernel(builder);
}

/// Creates the plan of kernels like `kernel`, without checks and variants. Its
/// problem is the one that the user gave.
/// Returns the problem that the user gave. The user's `row_keys` count as a
/// mask region: the plan does not say what they compute.
static ProblemAttr problemOfPlan(ws::KernelOp kernel) {
  if (auto users = kernel->getAttrOfType<ProblemAttr>(kUserProblemAttr)) {
    return users;
  }
  ProblemAttr p = kernel.getProblem();
  return p.getRowKeys() == RowKeys::None
             ? p
             : ProblemAttr::get(p.getContext(), p.getKind(), p.getDtype(),
                                p.getHeadDim(), p.getHeadDimV(), p.getLayout(),
                                p.getMask(), p.getScoreRegion(),
                                attn::RegionKind::Present, p.getBounds(),
                                RowKeys::None);
}

static launch::PlanOp createPlan(OpBuilder &builder, StringRef name,
                                 StringRef chip, ws::KernelOp kernel,
                                 const KeyRange &keys) {
  SmallVector<ArgumentAttr> given;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (auto [argument, description] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArgs().getList())) {
    if (!description.getFixed()) {
      given.push_back(description);
      types.push_back(argument.getType());
      locations.push_back(argument.getLoc());
    }
  }
  auto plan = launch::PlanOp::create(
      builder, kernel.getLoc(),
      FlatSymbolRefAttr::get(builder.getContext(), name),
      builder.getStringAttr(chip),
      ArgumentsAttr::get(builder.getContext(), given), problemOfPlan(kernel),
      keys.first, keys.last,
      kernel->getAttrOfType<DictionaryAttr>(kRegionProgramsAttr));
  plan.getBody().emplaceBlock().addArguments(types, locations);
  return plan;
}

LogicalResult codegen::buildLaunchPlan(OpBuilder &builder, StringRef name,
                                       StringRef chip,
                                       ArrayRef<PlannedKernel> kernels) {
  SmallVector<VariantBuilder> variants;
  SmallVector<LaunchCheck> checks;
  for (const PlannedKernel &planned : kernels) {
    if (failed(verifySizes(planned.kernel))) {
      return failure();
    }
    FailureOr<LaunchItems> items = LaunchItems::of(planned.kernel);
    if (failed(items)) {
      return failure();
    }
    auto demanded = variants.emplace_back(planned, std::move(*items)).checks();
    if (failed(demanded)) {
      return failure();
    }
    for (LaunchCheck &check : *demanded) {
      if (!llvm::is_contained(checks, check)) {
        checks.push_back(std::move(check));
      }
    }
  }
  ws::KernelOp first = kernels.front().kernel;
  FailureOr<KeyRange> keys = seenKeysOf(first);
  if (failed(keys)) {
    return failure();
  }
  OpBuilder::InsertionGuard guard(builder);
  launch::PlanOp plan = createPlan(builder, name, chip, first, *keys);
  builder.setInsertionPointToStart(&plan.getBody().front());
  for (const LaunchCheck &check : checks) {
    launch::CheckOp::create(builder, first.getLoc(), check.expr,
                            builder.getI64IntegerAttr(check.equals),
                            builder.getStringAttr(check.message));
  }
  for (VariantBuilder &variant : variants) {
    variant.createVariant(builder, &variant == &variants.back());
  }
  return success();
}
