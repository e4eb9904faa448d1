// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelProgram.h"
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;

LogicalResult KernelProgram::findStructure() {
  work = *kernel.getBody().getOps<tile::WorkOp>().begin();
  auto loops = work.getBody().getOps<tile::ForOp>();
  if (!loops.empty()) {
    loop = *loops.begin();
  }
  work.walk(
      [&](tile::NextWorkOp op) { next = op->getParentOfType<tile::StepOp>(); });
  if (!next) {
    return work.emitOpError("attn-warp-specialize: expected a step that holds "
                            "'tile.next_work', got none");
  }
  return success();
}

LogicalResult KernelProgram::collect() {
  schedule = *kernel.getSchedule();
  auto emitError = [&] { return kernel.emitOpError("attn-warp-specialize: "); };
  auto built = sched::KernelPlan::build(kernel, *kernel.getConfig(), schedule,
                                        sched::Tiles::Cut, emitError);
  if (failed(built) ||
      failed(sched::checkLowering((*built)->bound, emitError)) ||
      failed(findStructure())) {
    return failure();
  }
  plan = std::move(*built);
  for (auto [index, entry] : llvm::enumerate(plan->model.values)) {
    indexOf[entry.ir] = index;
    if (entry.isWork && bound().channelOf(index)) {
      workChannel = bound().channelOf(index);
    }
  }
  return success();
}

const sched::Place *KernelProgram::channelOf(Value value) const {
  auto index = indexOf.find(value);
  return index == indexOf.end() ? nullptr : bound().channelOf(index->second);
}

bool KernelProgram::isWithAnother(Value value) const {
  int index = indexOf.lookup(value);
  const sched::Place &channel = *channelOf(value);
  return channel.cycles[channel.cycleOf(index)].front() != index;
}

StringRef KernelProgram::channelNameOf(Value value) const {
  return isWithAnother(value) ? this->value(indexOf.lookup(value)).name
                              : channelOf(value)->name;
}

const sched::Place *KernelProgram::holdOf(Value value) const {
  auto index = indexOf.find(value);
  return index == indexOf.end() ? nullptr : bound().holdOf(index->second);
}

bool KernelProgram::isInRegisters(Value value) const {
  auto index = indexOf.find(value);
  return index != indexOf.end() &&
         llvm::any_of(bound().places, [&](const sched::Place &place) {
           return place.space == Space::Reg && place.carries(index->second);
         });
}
