// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelLaunch.h"
#include "LaunchParams.h"
#include "LaunchSizes.h"
#include "OverflowChecks.h"
#include "attn/codegen/launch/StampLayout.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr int64_t counterBytes = 4;

/// Checks that conditions that select a kernel have sizes to compare: those of
/// the query and the key.
static LogicalResult verifySizes(ws::KernelOp kernel) {
  bool needsSizes = kernel.getVariant() && kernel.getVariant()->getWhen();
  if (!needsSizes || LaunchSizes::of(kernel)) {
    return success();
  }
  return kernel.emitOpError("attn-lower-to-nvvm: expected arguments of roles "
                            "'query' and 'key' beside a condition on their "
                            "sizes, got none");
}

FailureOr<KernelLaunch> KernelLaunch::of(const PlannedKernel &planned) {
  if (failed(verifySizes(planned.kernel))) {
    return failure();
  }
  FailureOr<LaunchItems> items = LaunchItems::of(planned.kernel);
  if (failed(items)) {
    return failure();
  }
  return KernelLaunch(planned, std::move(*items));
}

Attribute KernelLaunch::gridSize() const {
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

/// A copy of a row vector reads all of its elements, of which the tensor has
/// full blocks.
void KernelLaunch::addChecksOfRows(SmallVectorImpl<LaunchCheck> &checks) const {
  kernel.walk([&](ws::CopyOp copy) {
    if (copy.getMap()) {
      return;
    }
    unsigned argument = cast<BlockArgument>(copy.getSource()).getArgNumber();
    int64_t block = copy.getSlot().getType().getTile().getDimSize(0);
    StringRef name = kernel.getArgs()[argument].getName().getValue();
    auto message = StringAttr::get(context(), "expected '" + name +
                                                  "' to have full blocks of " +
                                                  Twine(block) + " elements");
    LaunchCheck check{
        make.apply(LaunchOp::Mod,
                   {sizesOf(kernel, argument).back(), make.number(block)}),
        0, message};
    if (!llvm::is_contained(checks, check)) {
      checks.push_back(check);
    }
  });
}

/// Items are counted in 32 bits, independently of the kernel.
FailureOr<SmallVector<LaunchCheck>> KernelLaunch::checks() const {
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
    auto message = StringAttr::get(context(), "expected fewer than " +
                                                  Twine(most) + " work items");
    checks->push_back({isFewer, 1, message});
  }
  addChecksOfRows(*checks);
  addOverflowChecks(kernel, items, *checks);
  return checks;
}

void KernelLaunch::createKernel(OpBuilder &builder, bool isOnly) const {
  bool isDependent = kernel.getSchedule().getLaunch() == Launch::Dependent;
  launch::KernelOp::create(
      builder, kernel.getLoc(), FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      gridSize(), builder.getI64IntegerAttr(threads),
      builder.getI64IntegerAttr(cluster()), kernel.getSmemBytesAttr(),
      isDependent ? builder.getUnitAttr() : UnitAttr(),
      launchParams(kernel, copyBox, params), report(),
      isOnly ? ScheduleAttr() : kernel.getScheduleAttr());
}

/// The machine resources that each role uses.
launch::ReportAttr KernelLaunch::report() const {
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
launch::StampsAttr KernelLaunch::stamps() const {
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

launch::NumericsAttr KernelLaunch::numerics() const {
  if (kernel.getProblem().getKind() != KernelKind::Fwd) {
    return {};
  }
  return Numerics::of(Precision::of(kernel)).toAttr(context());
}

std::optional<GradientNumerics> KernelLaunch::gradientNumerics() const {
  if (!kernel.getArgs().find(ArgumentRole::OutputGradient)) {
    return std::nullopt;
  }
  return GradientNumerics::of(Precision::of(kernel));
}

Attribute KernelLaunch::sizeOf(LaunchSize launchSize) const {
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

Attribute KernelLaunch::condition() const {
  SmallVector<Attribute> all;
  for (BoundAttr bound : kernel.getVariant()->getWhen().getBounds()) {
    bool isAtMost = bound.getSide() == BoundSide::AtMost;
    all.push_back(
        make.apply(isAtMost ? LaunchOp::Ge : LaunchOp::Lt,
                   {make.number(bound.getValue()), sizeOf(bound.getSize())}));
  }
  return all.size() == 1 ? all.front() : make.apply(LaunchOp::Min, all);
}

Attribute KernelLaunch::workspace() const {
  if (isCut()) {
    return items.joinedEnd();
  }
  if (std::optional<StampLayout> layout = StampLayout::of(kernel)) {
    return make.number(layout->end());
  }
  return make.number(hasCounter(kernel) ? counterBytes : 0);
}

int64_t KernelLaunch::zeroed() const {
  if (JoinLayout::isIn(kernel)) {
    return JoinLayout::countsEnd;
  }
  return hasCounter(kernel) ? counterBytes : 0;
}
