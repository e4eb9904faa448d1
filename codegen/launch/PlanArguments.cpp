// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlanArguments.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static InFlightDiagnostic error(ws::KernelOp kernel) {
  return kernel.emitOpError("attn-lower-to-nvvm: ");
}

/// Whether two kernels mean the same argument: only what they do to it, and the
/// numbers that they can compute with, may differ.
static bool areSame(ArgumentAttr a, ArgumentAttr b) {
  return a.getSymbol() == b.getSymbol() && a.getRole() == b.getRole() &&
         a.getDims() == b.getDims() && a.getFixed() == b.getFixed();
}

/// Returns the stricter one of two limits, one of which may be missing.
static FloatAttr stricter(FloatAttr a, FloatAttr b, bool isLeast) {
  if (!a || !b) {
    return a ? a : b;
  }
  bool isFirst = (a.getValueAsDouble() > b.getValueAsDouble()) == isLeast;
  return isFirst ? a : b;
}

LogicalResult PlanArguments::merge(Argument &known, Argument next) {
  auto name = [&] { return known.description.getName(); };
  if (!areSame(known.description, next.description) ||
      known.value.getType() != next.value.getType()) {
    return error(next.user)
           << "expected argument " << name() << " to be that of '@"
           << known.user.getSymName()
           << "', which the same call launches: its symbol, role, sizes and "
              "type";
  }
  bool adds = known.writer &&
              next.description.getAccess() == ArgumentAccess::Accumulate;
  if (known.writer && next.writer && !adds) {
    return error(next.user)
           << "expected one launch of a call to write argument " << name()
           << ", got '@" << known.writer.getSymName() << "' before it";
  }
  if (next.writer && !adds) {
    return error(next.user)
           << "expected argument " << name()
           << " to be written before it is read, got '@"
           << known.user.getSymName() << "' before it, which reads it";
  }
  ArgumentAttr old = known.description, more = next.description;
  known.description = ArgumentAttr::get(
      old.getContext(), old.getName(), old.getSymbol(), old.getRole(),
      old.getAccess(), old.getDims(),
      stricter(old.getLeast(), more.getLeast(), /*isLeast=*/true),
      stricter(old.getMost(), more.getMost(), /*isLeast=*/false),
      old.getFixed());
  known.user = next.user;
  return success();
}

LogicalResult PlanArguments::add(ws::KernelOp kernel) {
  for (auto [value, description] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArgs().getList())) {
    bool isRead = description.getAccess() == ArgumentAccess::Read;
    Argument next{description, value, false, isRead ? ws::KernelOp() : kernel,
                  kernel};
    auto *known = llvm::find_if(
        list, [&, name = description.getName()](const Argument &other) {
          return other.description.getName() == name;
        });
    if (known == list.end()) {
      list.push_back(next);
    } else if (failed(merge(*known, next))) {
      return failure();
    }
  }
  return success();
}

/// Requires: temporaries are tensors that launches write and read.
LogicalResult PlanArguments::markTemporaries(launch::SequenceOp sequence) {
  for (auto name : sequence.getTemporaries().getAsRange<StringAttr>()) {
    auto *known = llvm::find_if(list, [&](const Argument &argument) {
      return argument.description.getName() == name;
    });
    if (known == list.end() || !isa<RankedTensorType>(known->value.getType())) {
      return sequence.emitOpError("attn-lower-to-nvvm: expected temporary ")
             << name << " to be a tensor argument of the kernels, got "
             << (known == list.end() ? "none" : "another argument");
    }
    if (!known->writer) {
      return sequence.emitOpError("attn-lower-to-nvvm: expected a launch to "
                                  "write temporary ")
             << name << ", got only '@" << known->user.getSymName()
             << "', which reads it";
    }
    if (known->description.getAccess() != ArgumentAccess::Write) {
      return sequence.emitOpError("attn-lower-to-nvvm: expected '@")
             << known->writer.getSymName() << "' to write temporary " << name
             << ", got one to "
             << stringifyArgumentAccess(known->description.getAccess());
    }
    if (known->description.getSymbol() != name) {
      return sequence.emitOpError("attn-lower-to-nvvm: expected the symbol of "
                                  "temporary ")
             << name << " to be its name, got "
             << known->description.getSymbol();
    }
    known->isTemporary = true;
  }
  return success();
}

FailureOr<PlanArguments> PlanArguments::of(ArrayRef<PlannedLaunch> launches,
                                           launch::SequenceOp sequence) {
  PlanArguments result;
  for (const PlannedLaunch &launch : launches) {
    if (failed(result.add(launch.front().kernel))) {
      return failure();
    }
  }
  if (!sequence) {
    return result;
  }
  SmallVector<Argument> written;
  llvm::copy_if(result.list, std::back_inserter(written),
                [](const Argument &argument) { return argument.writer; });
  llvm::erase_if(result.list,
                 [](const Argument &argument) { return argument.writer; });
  llvm::append_range(result.list, written);
  if (failed(result.markTemporaries(sequence))) {
    return failure();
  }
  return result;
}

ArgumentsAttr PlanArguments::allArguments() const {
  return ArgumentsAttr::get(list.front().description.getContext(),
                            llvm::map_to_vector(list, [](const Argument &of) {
                              return of.description;
                            }));
}

SmallVector<Type> PlanArguments::allTypes() const {
  return llvm::map_to_vector(
      list, [](const Argument &of) -> Type { return of.value.getType(); });
}

launch::PlanOp PlanArguments::createPlan(OpBuilder &builder, Location loc,
                                         StringRef name, StringRef chip,
                                         ProblemAttr problem) const {
  SmallVector<ArgumentAttr> given;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (const Argument &argument : list) {
    if (!argument.description.getFixed() && !argument.isTemporary) {
      given.push_back(argument.description);
      types.push_back(argument.value.getType());
      locations.push_back(argument.value.getLoc());
    }
  }
  auto plan = launch::PlanOp::create(
      builder, loc, FlatSymbolRefAttr::get(builder.getContext(), name),
      builder.getStringAttr(chip),
      ArgumentsAttr::get(builder.getContext(), given), problem, Attribute(),
      Attribute(), DictionaryAttr());
  plan.getBody().emplaceBlock().addArguments(types, locations);
  return plan;
}

/// Returns the expression with static sizes in place of their names.
Attribute PlanArguments::resolve(Attribute expr) const {
  if (auto name = dyn_cast<StringAttr>(expr)) {
    return launch::sizeNamed(allArguments(), allTypes(), name);
  }
  auto apply = dyn_cast<launch::ApplyAttr>(expr);
  return apply ? launch::ApplyAttr::get(
                     apply.getContext(), apply.getOp(),
                     llvm::map_to_vector(
                         apply.getOperands(),
                         [&](Attribute operand) { return resolve(operand); }))
               : expr;
}

void PlanArguments::createTemporaries(OpBuilder &builder,
                                      launch::SequenceOp sequence) const {
  Location loc = sequence.getLoc();
  for (NamedAttribute size : sequence.getSizes()) {
    launch::ValueOp::create(builder, loc, size.getName(),
                            resolve(size.getValue()));
  }
  for (auto [index, argument] : llvm::enumerate(list)) {
    if (argument.isTemporary) {
      launch::TemporaryOp::create(
          builder, loc, argument.description.getName(),
          TypeAttr::get(argument.value.getType()),
          builder.getArrayAttr(
              launch::sizesOf(allArguments(), allTypes(), unsigned(index))));
    }
  }
}
