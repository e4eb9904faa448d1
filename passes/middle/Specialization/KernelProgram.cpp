// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelProgram.h"
#include "attn/passes/schedule/DataTables.h"

using namespace mlir;
using namespace attn;

SmallVector<StringRef> KernelProgram::getResultNames(tile::StepOp step) {
  SmallVector<StringRef> result;
  if (ValuesAttr values = names.findStep(step.getName())) {
    for (StringAttr name : values.getNames()) {
      result.push_back(name.getValue());
    }
  }
  result.resize(step.getNumResults());
  return result;
}

LogicalResult KernelProgram::collect() {
  FailureOr<KernelValuesAttr> values = lookupKernelValues(
      kernel, [&] { return kernel.emitOpError("attn-warp-specialize: "); });
  if (failed(values)) {
    return failure();
  }
  names = *values;
  schedule = *kernel.getSchedule();
  work = *kernel.getBody().getOps<tile::WorkOp>().begin();
  auto loops = work.getBody().getOps<tile::ForOp>();
  if (!llvm::hasSingleElement(loops)) {
    return kernel.emitOpError("attn-warp-specialize: expected one streaming "
                              "loop, got ")
           << std::distance(loops.begin(), loops.end());
  }
  loop = *loops.begin();
  llvm::StringMap<Value> valueOf;
  kernel.walk([&](tile::StepOp step) {
    steps[step.getName()] = step;
    for (auto [name, result] :
         llvm::zip(getResultNames(step), step.getResults())) {
      valueOf[name] = result;
    }
  });
  for (PlaceAttr place : schedule.getPlaces()) {
    if (failed(collectPlace(place, valueOf))) {
      return failure();
    }
  }
  return checkSupported();
}

LogicalResult KernelProgram::setHome(Value value, PlaceAttr place,
                                     llvm::MapVector<Value, PlaceAttr> &homes) {
  auto [home, isNew] = homes.insert({value, place});
  if (!isNew) {
    return unsupported(place, "a value that is in '" +
                                  home->second.getName().getValue() +
                                  "' as well");
  }
  return success();
}

/// Is operand `number` of a step with a matrix instruction its A?
static bool isOperandA(tile::StepOp step, unsigned number) {
  auto products = step.getBody().getOps<tile::MmaOp>();
  if (products.empty()) {
    return false;
  }
  Value a = (*products.begin()).getA();
  if (auto convert = a.getDefiningOp<tile::ConvertLayoutOp>()) {
    a = convert.getSource();
  }
  return a == step.getBody().getArgument(number);
}

/// Registers become shared memory on the way to a store, or to be read as A.
static bool isHoldable(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto step = dyn_cast<tile::StepOp>(use.getOwner());
    return step && (!step.getBody().getOps<tile::StoreOp>().empty() ||
                    isOperandA(step, use.getOperandNumber()));
  });
}

LogicalResult KernelProgram::collectWorkChannel(PlaceAttr place) {
  if (!place.getChannel() || place.getCycles().size() != 1 || place.getOver()) {
    return unsupported(place, "work items in a hold, beside another value or "
                              "over another place");
  }
  if (place.getFullImplied() || place.getFreeImplied()) {
    return unsupported(place, "work items without barriers of their own");
  }
  if (place.getScope() != Scope::Cta) {
    return unsupported(place, "work items in a scope beyond the CTA");
  }
  workChannel = place;
  return success();
}

LogicalResult
KernelProgram::collectPlace(PlaceAttr place,
                            const llvm::StringMap<Value> &valueOf) {
  if (place.getSpace() == Space::Tmem) {
    return unsupported(place, "space tmem");
  }
  if (place.getParts().size() > 2 || place.getScope() == Scope::Pair) {
    return unsupported(place, "parts and for pairs of CTAs");
  }
  if (place.getOverCross() || !place.getOnly().empty()) {
    return unsupported(place, place.getOverCross() ? "'over' across sub-tiles"
                                                   : "'for' some steps");
  }
  bool channel = place.getChannel(), smem = place.getSpace() == Space::Smem;
  if (channel && !smem) {
    return unsupported(place, "a channel outside of smem");
  }
  if (!channel && smem &&
      (place.getDepth() > 1 || place.getCycles().size() > 1)) {
    return unsupported(place, "a hold of several values or depths");
  }
  for (ArrayAttr cycle : place.getCycles()) {
    if (cycle.size() != 1) {
      return unsupported(place, "several values a cycle");
    }
    auto name = cast<StringAttr>(cycle[0]).getValue();
    Value value = valueOf.lookup(name);
    tile::StepOp step = value ? producer(value) : tile::StepOp();
    if (value && place.getSpace() == Space::Reg) {
      inRegisters.insert(value);
    }
    if (smem && value && isa<tile::WorkType>(value.getType())) {
      return collectWorkChannel(place);
    }
    if (channel && (!step || step.getBody().getOps<tile::LoadOp>().empty())) {
      return unsupported(place,
                         "a channel of '" + name + "', which no load makes");
    }
    if (smem && (!value || !isa<RankedTensorType>(value.getType()))) {
      return unsupported(place,
                         "a hold of '" + name + "', which no step makes");
    }
    if (smem && !channel && !isHoldable(value)) {
      return unsupported(place, "'" + name +
                                    "' in smem, which is read other than by "
                                    "a store or as A of an MMA");
    }
    if (smem && failed(setHome(value, place, channel ? channelOf : holdOf))) {
      return failure();
    }
  }
  return success();
}

bool KernelProgram::loadsToRegisters(tile::StepOp step) const {
  bool loads = llvm::any_of(step.getBody().front(), [](Operation &op) {
    return isa<tile::LoadOp, tile::LoadRowOp>(op);
  });
  return loads && llvm::all_of(step.getResults(), [&](Value result) {
           return inRegisters.contains(result);
         });
}

LogicalResult KernelProgram::checkSupported() {
  auto error = [&](const Twine &what) {
    return kernel.emitOpError("attn-warp-specialize: no lowering for ") << what;
  };
  bool handsOut = !llvm::is_contained(
      schedule.getRemat(), StringAttr::get(kernel.getContext(), "next"));
  if (handsOut != (kernel.getConfig()->getWork() == WorkKind::Dynamic)) {
    return error("work '") << stringifyWorkKind(kernel.getConfig()->getWork())
                           << "' " << (handsOut ? "without" : "with")
                           << " 'remat next'";
  }
  if (handsOut != bool(workChannel)) {
    return error("work items that ") << (handsOut ? "no channel carries"
                                                  : "a channel carries, beside "
                                                    "'remat next'");
  }
  for (EdgeAttr edge : schedule.getEdges()) {
    if (edge.getSplit() || edge.getJoinsPlace()) {
      return error(edge.getSplit() ? "split" : "joined")
             << " edge '" << edge.getName().getValue() << "'";
    }
  }
  for (TurnAttr turn : schedule.getTurns()) {
    if (turn.getUnprimed()) {
      return error("unprimed turn '") << turn.getName().getValue() << "'";
    }
  }
  if (schedule.getPeel() == Peel::None) {
    return error("knob 'peel none': the first step is a copy of its own");
  }
  for (RoleAttr role : schedule.getRoles()) {
    if (role.getOnLeader()) {
      return error("role '") << role.getName().getValue() << "' on a leader";
    }
  }
  return success();
}
