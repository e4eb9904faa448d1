// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/emit/PlanWriter.h"
#include "attn/dialect/Knobs.h"
#include "attn/dialect/Masks.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Attributes.
//===----------------------------------------------------------------------===//

static json::Value write(Attribute expr) {
  if (auto number = dyn_cast<IntegerAttr>(expr)) {
    return number.getInt();
  }
  if (auto name = dyn_cast<StringAttr>(expr)) {
    return name.getValue();
  }
  auto apply = cast<launch::ApplyAttr>(expr);
  json::Array words{stringifyLaunchOp(apply.getOp())};
  for (Attribute operand : apply.getOperands()) {
    words.push_back(write(operand));
  }
  return words;
}

/// Returns the word for the type of a scalar or an element.
static std::string wordOf(Type type) {
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

static json::Object write(launch::TensorMapAttr map) {
  json::Array dims;
  for (launch::MapDimAttr dim : map.getDims()) {
    json::Object object{{"size", write(dim.getSize())}, {"box", dim.getBox()}};
    if (dim.getStride()) {
      object["stride"] = write(dim.getStride());
    }
    dims.push_back(std::move(object));
  }
  return json::Object{
      {"kind", "tensor_map"},
      {"tensor", map.getArgument().getValue()},
      {"swizzle", static_cast<int64_t>(map.getSpan())},
      {"l2_promotion", static_cast<int64_t>(map.getPromotion())},
      {"dims", std::move(dims)}};
}

static json::Object write(launch::PointerAttr pointer) {
  json::Object object{{"kind", "pointer"},
                      {"tensor", pointer.getArgument().getValue()}};
  if (pointer.getAlignedRows()) {
    object["aligned_rows"] = 1;
  }
  return object;
}

static json::Object writeParam(Attribute param) {
  return llvm::TypeSwitch<Attribute, json::Object>(param)
      .Case([](launch::TensorMapAttr map) { return write(map); })
      .Case([](launch::PointerAttr pointer) { return write(pointer); })
      .Case([](launch::WorkspaceAttr) {
        return json::Object{{"kind", "workspace"}};
      })
      .Case([](launch::NumberAttr number) {
        return json::Object{{"kind", wordOf(number.getType())},
                            {"expr", write(number.getExpr())}};
      })
      .Case([](launch::ScalarAttr scalar) {
        return json::Object{{"kind", "f32"},
                            {"arg", scalar.getArgument().getValue()}};
      });
}

/// Writes a contract.
template <typename Contract>
static json::Object writeBounds(Contract contract) {
  json::Object object;
  for (auto [word, bound] :
       llvm::zip_equal(Contract::kWords, contract.getBounds())) {
    object[word] = bound.getValueAsDouble();
  }
  return object;
}

static json::Object write(launch::StampsAttr stamps) {
  json::Array names;
  for (launch::StampAttr stamp : stamps.getNames()) {
    names.push_back(json::Array{ws::stringifyActivity(stamp.getActivity()),
                                stamp.getObject().getValue()});
  }
  return json::Object{{"offset", stamps.getOffset()},
                      {"events", stamps.getEvents()},
                      {"ctas", stamps.getCtas()},
                      {"names", std::move(names)}};
}

//===----------------------------------------------------------------------===//
// Ops.
//===----------------------------------------------------------------------===//

static std::string writeSchedule(ScheduleAttr schedule) {
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  return text;
}

static json::Object writeKernel(launch::KernelOp kernel) {
  json::Array params;
  for (Attribute param : kernel.getParams()) {
    params.push_back(writeParam(param));
  }
  auto alongX = [](json::Value size) {
    return json::Array{std::move(size), 1, 1};
  };
  json::Object object{
      {"kernel", kernel.getKernel()},
      {"grid", alongX(write(kernel.getGrid()))},
      {"block", alongX(static_cast<int64_t>(kernel.getBlock()))},
      {"cluster", alongX(static_cast<int64_t>(kernel.getCluster()))},
      {"smem", static_cast<int64_t>(kernel.getShared())},
      {"params", std::move(params)}};
  if (kernel.getDependent()) {
    object["dependent"] = 1;
  }
  if (kernel.getSchedule()) {
    object["schedule"] = writeSchedule(*kernel.getSchedule());
  }
  return object;
}

/// Writes the values of the schedule's knobs, as requests about schedules have
/// them.
static json::Object writeKnobs(ScheduleAttr schedule) {
  json::Object object;
  StatementsAttr statements = schedule.getStatements();
  for (auto [knob, value] :
       llvm::zip(StatementsAttr::getKnobs(), statements.getValues())) {
    object[infoOf(knob).name] = infoOf(knob).spell(value);
  }
  return object;
}

/// Returns the report on a kernel, with the assembler's numbers if there are
/// any.
static json::Object writeReport(launch::KernelOp kernel,
                                std::optional<ScheduleAttr> schedule,
                                AssemblyOf assemblyOf) {
  launch::ReportAttr report = *kernel.getReport();
  json::Array roles;
  for (launch::RoleAttr role : report.getRoles()) {
    roles.push_back(json::Object{{"name", role.getName().getValue()},
                                 {"replicas", role.getReplicas()},
                                 {"warps", role.getWarps()},
                                 {"registers", role.getRegisters()}});
  }
  json::Object object{
      {"roles", std::move(roles)},
      {"threads", static_cast<int64_t>(kernel.getBlock())},
      {"shared_memory", static_cast<int64_t>(kernel.getShared())},
      {"mbarriers", report.getMbarriers()},
      {"rung", report.getRung()}};
  if (schedule) {
    object["schedule"] = schedule->getName().getValue();
    object["knobs"] = writeKnobs(*schedule);
  }
  if (report.getStamps()) {
    object["stamps"] = write(report.getStamps());
  }
  if (DictionaryAttr numbers = assemblyOf(kernel.getKernel())) {
    json::Object assembler;
    for (NamedAttribute entry : numbers) {
      if (auto integer = dyn_cast<IntegerAttr>(entry.getValue())) {
        assembler[entry.getName().str()] = integer.getInt();
      }
    }
    object["assembler"] = std::move(assembler);
  }
  return object;
}

/// Writes the values in the body of a plan or a variant, if there are any.
static void writeValues(Region &body, json::Object &object) {
  json::Array values;
  for (auto value : body.getOps<launch::ValueOp>()) {
    values.push_back(json::Object{{"name", value.getName()},
                                  {"expr", write(value.getExpr())}});
  }
  if (!values.empty()) {
    object["values"] = std::move(values);
  }
}

static json::Object writeTemporary(launch::TemporaryOp temporary) {
  json::Array dims;
  for (Attribute size : temporary.getSizes()) {
    dims.push_back(write(size));
  }
  Type element = cast<RankedTensorType>(temporary.getType()).getElementType();
  return json::Object{{"name", temporary.getName()},
                      {"dtype", wordOf(element)},
                      {"dims", std::move(dims)}};
}

static json::Object writeVariant(launch::VariantOp variant,
                                 AssemblyOf assemblyOf) {
  json::Object object{{"workspace", write(variant.getWorkspace())}};
  Attribute when = variant.getWhenAttr();
  object["when"] = when ? write(when) : json::Value(1);
  writeValues(variant.getBody(), object);
  // The report on a single kernel is that of the variant.
  bool isOnly = llvm::hasSingleElement(variant.getKernels());
  json::Array launches;
  for (launch::KernelOp kernel : variant.getKernels()) {
    json::Object launch = writeKernel(kernel);
    if (kernel.getReport()) {
      json::Object report = writeReport(
          kernel, isOnly ? variant.getSchedule() : kernel.getSchedule(),
          assemblyOf);
      if (variant.getCondition()) {
        report["when"] = variant.getCondition()->getText();
      }
      (isOnly ? object : launch)["report"] = std::move(report);
    }
    launches.push_back(std::move(launch));
  }
  object["launches"] = std::move(launches);
  if (variant.getZeroed()) {
    object["zeroed"] = static_cast<int64_t>(*variant.getZeroed());
  }
  if (variant.getNumerics()) {
    object["numerics"] = writeBounds(*variant.getNumerics());
  }
  if (variant.getGradientNumerics()) {
    object["gradient_numerics"] = writeBounds(*variant.getGradientNumerics());
  }
  if (variant.getSchedule()) {
    object["schedule"] = writeSchedule(*variant.getSchedule());
  }
  return object;
}

static json::Object writeArgument(launch::PlanOp plan, BlockArgument argument) {
  Type type = argument.getType();
  ArgumentAttr description = plan.getArgs()[argument.getArgNumber()];
  json::Object object{{"name", description.getName().getValue()}};
  if (description.getSymbol() != description.getName()) {
    object["symbol"] = description.getSymbol().getValue();
  }
  if (description.getRole()) {
    object["role"] = stringifyArgumentRole(*description.getRole());
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    object["kind"] = wordOf(type);
    if (FloatAttr least = description.getLeast()) {
      object["at_least"] = least.getValueAsDouble();
      object["at_most"] = description.getMost().getValueAsDouble();
    }
    return object;
  }
  json::Array dims;
  for (Attribute size : plan.getSizes(argument.getArgNumber())) {
    dims.push_back(write(size));
  }
  ArgumentAccess access = description.getAccess();
  object["kind"] = "tensor";
  object["dtype"] = wordOf(tensor.getElementType());
  // A tensor that is added to must be initialized before the launch.
  object["access"] = access == ArgumentAccess::Read    ? "read"
                     : access == ArgumentAccess::Write ? "write"
                                                       : "readwrite";
  object["dims"] = std::move(dims);
  return object;
}

/// Returns the expressions for the first and the last key of a query, and the
/// bounds that a launch gives.
static json::Object writeKeys(launch::PlanOp plan) {
  json::Object keys;
  if (Attribute first = plan.getFirstKeyAttr()) {
    keys["first"] = write(first);
  }
  if (Attribute last = plan.getLastKeyAttr()) {
    keys["last"] = write(last);
  }
  json::Array bounds;
  for (auto [bound, argument] :
       llvm::zip(maskBounds(plan.getProblem().getBounds()),
                 plan.getArgs().all(ArgumentRole::Bound))) {
    bounds.push_back(json::Object{{"name", argument.getName().getValue()},
                                  {"at_least", int64_t(bound.least)}});
  }
  keys["bounds"] = std::move(bounds);
  return keys;
}

/// Converts lists of lists of words, as describeRegions() writes them.
static json::Array writeProgram(ArrayAttr lines) {
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

static json::Object writeProblem(launch::PlanOp plan) {
  ProblemAttr problem = plan.getProblem();
  auto region = [](attn::RegionKind kind) {
    return kind == attn::RegionKind::Absent ? "none" : "custom";
  };
  json::Object object{{"kind", stringifyKernelKind(problem.getKind())},
                      {"dtype", wordOf(problem.getDtype())},
                      {"head_dim", problem.getHeadDim()},
                      {"head_dim_v", problem.getHeadDimV()},
                      {"layout", stringifyLayoutKind(problem.getLayout())},
                      {"mask", stringifyMaskKind(problem.getMask())},
                      {"score_region", region(problem.getScoreRegion())},
                      {"mask_region", region(problem.getMaskRegion())},
                      {"keys", writeKeys(plan)}};
  DictionaryAttr programs = plan.getProgramsAttr();
  for (NamedAttribute program :
       programs ? programs.getValue() : ArrayRef<NamedAttribute>()) {
    object[(program.getName().getValue() + "_program").str()] =
        writeProgram(cast<ArrayAttr>(program.getValue()));
  }
  return object;
}

std::string codegen::writePlan(launch::PlanOp plan, AssemblyOf assemblyOf) {
  json::Array arguments, temporaries, checks, variants;
  for (BlockArgument argument : plan.getBody().getArguments()) {
    arguments.push_back(writeArgument(plan, argument));
  }
  for (auto temporary : plan.getBody().getOps<launch::TemporaryOp>()) {
    temporaries.push_back(writeTemporary(temporary));
  }
  for (auto check : plan.getBody().getOps<launch::CheckOp>()) {
    checks.push_back(
        json::Object{{"expr", write(check.getExpr())},
                     {"equals", static_cast<int64_t>(check.getEquals())},
                     {"message", check.getMessage()}});
  }
  for (launch::VariantOp variant : plan.getVariants()) {
    variants.push_back(writeVariant(variant, assemblyOf));
  }
  constexpr int64_t version = 1;
  json::Object object{{"version", version},
                      {"name", plan.getBinary()},
                      {"target", plan.getTarget()},
                      {"problem", writeProblem(plan)},
                      {"args", std::move(arguments)},
                      {"checks", std::move(checks)},
                      {"variants", std::move(variants)}};
  writeValues(plan.getBody(), object);
  if (!temporaries.empty()) {
    object["temporaries"] = std::move(temporaries);
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(object));
  return text;
}
