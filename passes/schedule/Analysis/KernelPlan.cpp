// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/KernelPlan.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/passes/schedule/ScheduleRules.h"

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
  FailureOr<BoundSchedule> bound = bindSchedule(plan->model, *machine, schedule,
                                                config.getCluster(), emitError);
  if (failed(bound)) {
    return failure();
  }
  plan->bound = std::move(*bound);
  if (failed(checkWork(plan->bound, emitError)) ||
      (beforeRoles && failed(beforeRoles(plan->bound))) ||
      failed(connectSchedule(plan->bound, emitError))) {
    return failure();
  }
  planRoles(plan->bound);
  if (failed(checkSkippedBlocks(plan->bound, emitError)) ||
      failed(checkTurns(plan->bound, emitError))) {
    return failure();
  }
  return plan;
}
