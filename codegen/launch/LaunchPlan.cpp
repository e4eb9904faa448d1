// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/LaunchPlan.h"
#include "KernelLaunch.h"
#include "PlanArguments.h"
#include "attn/dialect/RegionProgram.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// The launches of a call: for each, the kernels from which one is chosen.
using KernelLaunches = SmallVector<SmallVector<KernelLaunch, 0>>;
/// A kernel for each launch of a call.
using Choice = SmallVector<const KernelLaunch *>;

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
                                RowKeys::None, p.getDropout());
}

/// Returns all choices of a kernel for each launch. The later a launch, the
/// faster its kernels change, so that each call runs the first choice whose
/// conditions hold.
static SmallVector<Choice> listChoices(const KernelLaunches &launches) {
  SmallVector<Choice> choices(1);
  for (const auto &kernels : launches) {
    SmallVector<Choice> longer;
    for (const Choice &choice : choices) {
      for (const KernelLaunch &kernel : kernels) {
        longer.push_back(choice);
        longer.back().push_back(&kernel);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

/// Requires: the kernels of one call can share its workspace.
static LogicalResult checkWorkspaces(const KernelLaunches &launches) {
  const KernelLaunch *cut = nullptr;
  ws::KernelOp stamped;
  for (const auto &kernels : launches) {
    auto *recording = llvm::find_if(
        kernels, [](const KernelLaunch &kernel) { return kernel.hasStamps(); });
    if (recording != kernels.end()) {
      ws::KernelOp op = recording->getKernel();
      if (stamped) {
        return op.emitOpError("attn-lower-to-nvvm: expected stamps in one "
                              "launch of a call, got '@")
               << stamped.getSymName() << "' before it";
      }
      stamped = op;
    }
    auto *own = llvm::find_if(
        kernels, [](const KernelLaunch &kernel) { return kernel.isCut(); });
    if (own != kernels.end() && cut) {
      ws::KernelOp op = own->getKernel();
      return op.emitOpError("attn-lower-to-nvvm: expected one launch of a call "
                            "to cut its last wave, got '@")
             << cut->getKernel().getSymName() << "' before it";
    }
    cut = own != kernels.end() ? own : cut;
  }
  return success();
}

namespace {

/// Builds the variant of a plan in which each launch has one kernel.
class VariantBuilder {
public:
  VariantBuilder(const Choice &choice, const KernelLaunches &launches)
      : choice(choice), launches(launches),
        make(choice.front()->getKernel()->getContext()) {}

  void create(OpBuilder &builder);

private:
  Attribute when();
  Attribute workspace();
  int64_t zeroed();
  launch::GradientNumericsAttr gradientNumerics();
  bool isOnly() { return choice.size() == 1; }

  const Choice &choice;
  const KernelLaunches &launches;
  launch::Expressions make;
};

} // namespace

/// Returns the conditions of all kernels that are not the last of their launch,
/// or null if there is none.
Attribute VariantBuilder::when() {
  SmallVector<Attribute> all;
  for (auto [kernel, kernels] : llvm::zip(choice, launches)) {
    if (kernel != &kernels.back()) {
      all.push_back(kernel->condition());
    }
  }
  return all.size() > 1    ? make.apply(LaunchOp::Min, all)
         : all.size() == 1 ? all.front()
                           : Attribute();
}

/// Returns the largest workspace of a kernel: a launch resets the bytes that
/// the next one needs to be zero, and reads no others before it writes them.
Attribute VariantBuilder::workspace() {
  SmallVector<Attribute> all;
  for (const KernelLaunch *kernel : choice) {
    Attribute own = kernel->workspace();
    if (own != make.number(0) && !llvm::is_contained(all, own)) {
      all.push_back(own);
    }
  }
  return all.empty()       ? make.number(0)
         : all.size() == 1 ? all.front()
                           : make.apply(LaunchOp::Max, all);
}

int64_t VariantBuilder::zeroed() {
  int64_t most = 0;
  for (const KernelLaunch *kernel : choice) {
    most = std::max(most, kernel->zeroed());
  }
  return most;
}

/// Returns the contract that allows what each kernel of gradients and of
/// statistics needs, or null if there is no such kernel.
launch::GradientNumericsAttr VariantBuilder::gradientNumerics() {
  std::optional<GradientNumerics> all;
  for (const KernelLaunch *kernel : choice) {
    std::optional<GradientNumerics> own = kernel->gradientNumerics();
    if (own && all) {
      all->allow(*own);
    } else if (own) {
      all = own;
    }
  }
  MLIRContext *context = choice.front()->getKernel()->getContext();
  return all ? all->toAttr(context) : launch::GradientNumericsAttr();
}

void VariantBuilder::create(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  ws::KernelOp last = choice.back()->getKernel();
  Location loc = last.getLoc();
  bool saysCondition = isOnly() && last.getVariant();
  auto variant = launch::VariantOp::create(
      builder, loc, when(),
      saysCondition ? last.getVariant()->getWhen() : ConditionAttr(),
      workspace(),
      zeroed() ? builder.getI64IntegerAttr(zeroed()) : IntegerAttr(),
      choice.back()->numerics(), gradientNumerics(),
      isOnly() ? last.getScheduleAttr() : ScheduleAttr());
  builder.setInsertionPointToStart(&variant.getBody().emplaceBlock());
  for (const KernelLaunch *kernel : choice) {
    if (kernel->isCut()) {
      kernel->createCutValues(builder);
    }
  }
  for (const KernelLaunch *kernel : choice) {
    kernel->createKernel(builder, isOnly());
  }
}

/// Returns the first kernel that describes the keys that a query sees, or the
/// last kernel.
static ws::KernelOp kernelOfKeys(const KernelLaunches &launches) {
  for (const auto &kernels : launches) {
    if (ws::KernelOp kernel = kernels.front().getKernel();
        kernel->hasAttr(kKeysAttr)) {
      return kernel;
    }
  }
  return launches.back().front().getKernel();
}

/// Collects the launches, and the checks of all of their kernels.
static FailureOr<KernelLaunches>
collectLaunches(ArrayRef<PlannedLaunch> planned,
                SmallVectorImpl<LaunchCheck> &checks) {
  KernelLaunches launches;
  for (const PlannedLaunch &kernels : planned) {
    launches.emplace_back();
    for (const PlannedKernel &kernel : kernels) {
      FailureOr<KernelLaunch> launch = KernelLaunch::of(kernel);
      if (failed(launch)) {
        return failure();
      }
      auto demanded = launch->checks();
      if (failed(demanded)) {
        return failure();
      }
      for (const LaunchCheck &check : *demanded) {
        if (!llvm::is_contained(checks, check)) {
          checks.push_back(check);
        }
      }
      launches.back().push_back(std::move(*launch));
    }
  }
  return launches;
}

/// Creates the plan with its arguments and problem.
static FailureOr<launch::PlanOp> createPlan(OpBuilder &builder, StringRef name,
                                            StringRef chip,
                                            const PlanArguments &arguments,
                                            const KernelLaunches &launches,
                                            launch::SequenceOp sequence) {
  ws::KernelOp last = launches.back().front().getKernel();
  FailureOr<KeyRange> keys = seenKeysOf(kernelOfKeys(launches));
  if (failed(keys)) {
    return failure();
  }
  bool isGiven = sequence && sequence.getProblem();
  launch::PlanOp plan = arguments.createPlan(builder, last.getLoc(), name, chip,
                                             isGiven ? *sequence.getProblem()
                                                     : problemOfPlan(last));
  plan.setFirstKeyAttr(keys->first);
  plan.setLastKeyAttr(keys->last);
  for (const auto &kernels : llvm::reverse(launches)) {
    ws::KernelOp kernel = kernels.front().getKernel();
    if (auto programs =
            kernel->getAttrOfType<DictionaryAttr>(kRegionProgramsAttr)) {
      plan.setProgramsAttr(programs);
      break;
    }
  }
  return plan;
}

LogicalResult codegen::buildLaunchPlan(OpBuilder &builder, StringRef name,
                                       StringRef chip,
                                       ArrayRef<PlannedLaunch> planned,
                                       launch::SequenceOp sequence) {
  SmallVector<LaunchCheck> checks;
  FailureOr<KernelLaunches> launches = collectLaunches(planned, checks);
  if (failed(launches) || (sequence && failed(checkWorkspaces(*launches)))) {
    return failure();
  }
  auto arguments = PlanArguments::of(planned, sequence);
  if (failed(arguments)) {
    return failure();
  }
  OpBuilder::InsertionGuard guard(builder);
  auto plan = createPlan(builder, name, chip, *arguments, *launches, sequence);
  if (failed(plan)) {
    return failure();
  }
  builder.setInsertionPointToStart(&plan->getBody().front());
  if (sequence) {
    arguments->createTemporaries(builder, sequence);
  }
  for (const LaunchCheck &check : checks) {
    launch::CheckOp::create(builder, plan->getLoc(), check.expr,
                            builder.getI64IntegerAttr(check.equals),
                            check.message);
  }
  for (const Choice &choice : listChoices(*launches)) {
    VariantBuilder(choice, *launches).create(builder);
  }
  return success();
}
