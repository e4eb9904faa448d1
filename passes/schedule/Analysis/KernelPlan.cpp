// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/KernelPlan.h"
#include "attn/passes/schedule/DataTables.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

FailureOr<std::unique_ptr<KernelPlan>> KernelPlan::build(
    tile::KernelOp kernel, ConfigAttr config, ScheduleAttr schedule,
    Tiles tiles, EmitError emitError,
    function_ref<LogicalResult(const BoundSchedule &)> beforeRoles) {
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), schedule.getMachine(), emitError);
  auto emitKernelError = [&] { return kernel.emitOpError(); };
  FailureOr<KernelValuesAttr> names =
      succeeded(machine) ? lookupKernelValues(kernel, emitKernelError)
                         : FailureOr<KernelValuesAttr>();
  if (failed(names)) {
    return failure();
  }
  FailureOr<KernelModel> model =
      KernelModel::build(kernel, config, *names, tiles, emitKernelError);
  if (failed(model)) {
    return failure();
  }
  auto plan = std::make_unique<KernelPlan>();
  plan->model = std::move(*model);
  FailureOr<BoundSchedule> bound = BoundSchedule::bind(
      plan->model, *machine, schedule, config.getCluster(), emitError);
  if (failed(bound)) {
    return failure();
  }
  plan->bound = std::move(*bound);
  if (failed(plan->bound.checkWork(emitError)) ||
      (beforeRoles && failed(beforeRoles(plan->bound))) ||
      failed(plan->bound.connect(emitError))) {
    return failure();
  }
  plan->bound.planRoles();
  if (failed(plan->bound.checkSkippedBlocks(emitError))) {
    return failure();
  }
  return plan;
}
