// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and verifiers of the `launch` ops; the labels are those of their
// descriptions.
#include "attn/dialect/Launch.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

//===----------------------------------------------------------------------===//
// Text.
//===----------------------------------------------------------------------===//

namespace attn::launch {
static void printExpr(OpAsmPrinter &printer, Operation *, Attribute expr) {
  printExpr(printer, expr);
}
} // namespace attn::launch

static ParseResult parseAfter(OpAsmParser &parser, StringRef word,
                              Attribute &expr) {
  return succeeded(parser.parseOptionalKeyword(word))
             ? launch::parseExpr(parser, expr)
             : ParseResult(success());
}

static void printAfter(OpAsmPrinter &printer, StringRef word, Attribute expr) {
  if (expr) {
    printer << ' ' << word << ' ';
    launch::printExpr(printer, expr);
  }
}

static ParseResult parseFirstKey(OpAsmParser &parser, Attribute &expr) {
  return parseAfter(parser, "first_key", expr);
}
static void printFirstKey(OpAsmPrinter &printer, Operation *, Attribute expr) {
  printAfter(printer, "first_key", expr);
}

static ParseResult parseLastKey(OpAsmParser &parser, Attribute &expr) {
  return parseAfter(parser, "last_key", expr);
}
static void printLastKey(OpAsmPrinter &printer, Operation *, Attribute expr) {
  printAfter(printer, "last_key", expr);
}

static ParseResult parseWhen(OpAsmParser &parser, Attribute &expr) {
  return parseAfter(parser, "when", expr);
}
static void printWhen(OpAsmPrinter &printer, Operation *, Attribute expr) {
  printAfter(printer, "when", expr);
}

static ParseResult parseSizes(OpAsmParser &parser, ArrayAttr &sizes) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return launch::parseExpr(parser, list.emplace_back());
      })) {
    return failure();
  }
  sizes = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printSizes(OpAsmPrinter &printer, Operation *, ArrayAttr sizes) {
  printer << '[';
  llvm::interleaveComma(sizes, printer.getStream(), [&](Attribute size) {
    launch::printExpr(printer, size);
  });
  printer << ']';
}

static ParseResult parseParams(OpAsmParser &parser, ArrayAttr &params) {
  SmallVector<Attribute> list;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseAttribute(list.emplace_back());
      })) {
    return failure();
  }
  params = parser.getBuilder().getArrayAttr(list);
  return success();
}

/// Prints a line for each parameter.
static void printParams(OpAsmPrinter &printer, Operation *, ArrayAttr params) {
  printer << '[';
  printer.increaseIndent();
  llvm::interleave(
      params,
      [&](Attribute param) {
        printer.printNewline();
        printer << param;
      },
      [&] { printer << ','; });
  printer.decreaseIndent();
  printer << ']';
}

#define GET_OP_CLASSES
#include "attn/dialect/LaunchOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Access.
//===----------------------------------------------------------------------===//

SmallVector<VariantOp, 1> PlanOp::getVariants() {
  return llvm::to_vector<1>(getBody().getOps<VariantOp>());
}

SmallVector<Attribute> PlanOp::getSizes(unsigned argument) {
  return sizesOf(getArgs(), getBody().getArgumentTypes(), argument);
}

PlanOp PlanOp::of(Operation *binary) {
  StringAttr name = SymbolTable::getSymbolName(binary);
  for (auto plan : binary->getBlock()->getOps<PlanOp>()) {
    if (plan.getBinaryAttr().getAttr() == name) {
      return plan;
    }
  }
  return {};
}

SmallVector<KernelOp, 1> VariantOp::getKernels() {
  return llvm::to_vector<1>(getBody().getOps<KernelOp>());
}

ReportAttr VariantOp::getReport() {
  for (KernelOp kernel : getKernels()) {
    if (kernel.getReport()) {
      return *kernel.getReport();
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Verifiers.
//===----------------------------------------------------------------------===//

LogicalResult VariantOp::verifyRegions() {
  bool hasKernel = false, isOnly = llvm::hasSingleElement(getKernels());
  for (Operation &op : getBody().front()) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel && (!isa<ValueOp>(op) || hasKernel)) { // C1
      return op.emitOpError("expected values and then kernels in a "
                            "'launch.variant', got this op")
             << (hasKernel ? " after a kernel" : "");
    }
    hasKernel |= bool(kernel);
    if (isOnly && kernel && kernel.getSchedule()) { // C2
      return op.emitOpError("expected the only kernel of a variant to have no "
                            "'schedule', got one");
    }
  }
  if (!isOnly && hasKernel && getSchedule()) { // C2
    return emitOpError("expected several kernels to have their schedules "
                       "themselves, got the 'schedule' of the variant");
  }
  if (!hasKernel) { // C1
    return emitOpError("expected at least one kernel, got none");
  }
  return success();
}

LogicalResult TemporaryOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (static_cast<int64_t>(getSizes().size()) != type.getRank() ||
      !llvm::all_of(getSizes(), isExpression)) { // C1
    return emitOpError("expected an expression for each dimension of ")
           << type << ", got " << getSizes();
  }
  return success();
}

/// Returns whether a list of texts has none twice.
static bool areDifferent(ArrayAttr texts) {
  llvm::StringSet<> seen;
  return llvm::all_of(texts.getAsValueRange<StringAttr>(),
                      [&](StringRef text) { return seen.insert(text).second; });
}

LogicalResult SequenceOp::verify() {
  if (getLaunches().size() < 2 || !areDifferent(getLaunches())) { // C1
    return emitOpError("expected at least two launches with different names, "
                       "got ")
           << getLaunches();
  }
  if (!areDifferent(getTemporaries())) { // C2
    return emitOpError("expected temporaries with different names, got ")
           << getTemporaries();
  }
  for (NamedAttribute size : getSizes()) { // C2
    if (!isExpression(size.getValue())) {
      return emitOpError("expected size '")
             << size.getName().getValue() << "' to be an expression, got "
             << size.getValue();
    }
  }
  return success();
}

namespace {

/// Verifies the names and expressions of a plan.
class PlanVerifier {
public:
  explicit PlanVerifier(PlanOp plan);
  LogicalResult run();

private:
  LogicalResult verifyKeys();
  LogicalResult verifyValue(ValueOp value);
  LogicalResult verifyTemporary(TemporaryOp temporary);
  LogicalResult verifyCheck(CheckOp check);
  LogicalResult verifyVariant(VariantOp variant);
  LogicalResult verifyKernel(KernelOp kernel);
  LogicalResult verifyParam(KernelOp kernel, Attribute param);
  LogicalResult verifyArgument(KernelOp kernel, StringAttr name, bool isTensor);
  LogicalResult verifyName(Operation *op, StringRef name);
  LogicalResult verifyExpr(Operation *op, Attribute expr);

  PlanOp plan;
  /// The names that expressions may have.
  llvm::StringSet<> names;
  llvm::StringSet<> temporaries;
};

} // namespace

PlanVerifier::PlanVerifier(PlanOp plan) : plan(plan) {
  names.insert(kMultiprocessors);
  for (BlockArgument argument : plan.getBody().getArguments()) {
    unsigned index = argument.getArgNumber();
    StringRef symbol = plan.getArgs()[index].getSymbol().getValue();
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (argument.getType().isInteger()) {
      names.insert(symbol);
    }
    for (int64_t dim = 0; tensor && dim < tensor.getRank(); ++dim) {
      names.insert((symbol + ".stride." + Twine(dim)).str());
      if (auto size = dyn_cast<StringAttr>(plan.getSizes(index)[dim])) {
        names.insert(size.getValue());
      }
    }
  }
}

LogicalResult PlanVerifier::verifyName(Operation *op, StringRef name) {
  if (names.contains(name)) {
    return success();
  }
  return op->emitOpError("expected the name of a size, a stride, an integer "
                         "argument or a value before it, got '")
         << name << "'";
}

LogicalResult PlanVerifier::verifyExpr(Operation *op, Attribute expr) {
  if (int depth = depthOf(expr); depth > mostDepth) { // C4
    return op->emitOpError("expected an expression that is at most ")
           << mostDepth << " deep, got " << depth;
  }
  LogicalResult result = success();
  forEachName(expr, [&](StringRef name) { // C3
    if (succeeded(result)) {
      result = verifyName(op, name);
    }
  });
  return result;
}

LogicalResult PlanVerifier::verifyKeys() {
  bool isNew = names.insert(kQueryPosition).second;
  for (Attribute key : {plan.getFirstKeyAttr(), plan.getLastKeyAttr()}) {
    if (key && failed(verifyExpr(plan, key))) {
      return failure();
    }
  }
  if (isNew) {
    names.erase(kQueryPosition);
  }
  return success();
}

LogicalResult PlanVerifier::verifyCheck(CheckOp check) {
  if (!llvm::json::isUTF8(check.getMessage())) { // C5
    return check.emitOpError("expected a message in UTF-8");
  }
  for (StringRef name : namesIn(check.getMessage())) { // C5
    if (failed(verifyName(check, name))) {
      return failure();
    }
  }
  return verifyExpr(check, check.getExpr());
}

LogicalResult PlanVerifier::verifyArgument(KernelOp kernel, StringAttr name,
                                           bool isTensor) {
  for (BlockArgument argument : plan.getBody().getArguments()) {
    Type type = argument.getType();
    if (plan.getArgs()[argument.getArgNumber()].getName() == name &&
        (isTensor ? isa<RankedTensorType>(type) : type.isF32())) {
      return success();
    }
  }
  if (isTensor && temporaries.contains(name.getValue())) {
    return success();
  }
  return kernel.emitOpError("expected a parameter of ")
         << (isTensor ? "a tensor" : "an f32") << " argument, got " << name;
}

LogicalResult PlanVerifier::verifyParam(KernelOp kernel, Attribute param) {
  if (auto map = dyn_cast<TensorMapAttr>(param)) {
    for (MapDimAttr dim : map.getDims()) {
      if (failed(verifyExpr(kernel, dim.getSize())) ||
          (dim.getStride() && failed(verifyExpr(kernel, dim.getStride())))) {
        return failure();
      }
    }
    return verifyArgument(kernel, map.getArgument(), /*isTensor=*/true);
  }
  if (auto pointer = dyn_cast<PointerAttr>(param)) {
    return verifyArgument(kernel, pointer.getArgument(), /*isTensor=*/true);
  }
  if (auto scalar = dyn_cast<ScalarAttr>(param)) {
    return verifyArgument(kernel, scalar.getArgument(), /*isTensor=*/false);
  }
  auto number = dyn_cast<NumberAttr>(param);
  return number ? verifyExpr(kernel, number.getExpr()) : success();
}

LogicalResult PlanVerifier::verifyKernel(KernelOp kernel) {
  if (failed(verifyExpr(kernel, kernel.getGrid()))) {
    return failure();
  }
  for (Attribute param : kernel.getParams()) { // C7
    if (failed(verifyParam(kernel, param))) {
      return failure();
    }
  }
  return success();
}

LogicalResult PlanVerifier::verifyValue(ValueOp value) {
  if (failed(verifyExpr(value, value.getExpr()))) {
    return failure();
  }
  StringRef name = value.getName();
  if (name.empty() || !llvm::json::isUTF8(name) ||
      !names.insert(name).second) { // C6
    return value.emitOpError("expected a new name in UTF-8, got ")
           << value.getNameAttr();
  }
  return success();
}

LogicalResult PlanVerifier::verifyTemporary(TemporaryOp temporary) {
  StringRef name = temporary.getName();
  bool isTaken = llvm::any_of(plan.getArgs().getList(), [&](ArgumentAttr arg) {
    return arg.getName() == temporary.getNameAttr();
  });
  if (name.empty() || !llvm::json::isUTF8(name) || isTaken ||
      !temporaries.insert(name).second) { // C6
    return temporary.emitOpError("expected a new name in UTF-8, got ")
           << temporary.getNameAttr();
  }
  for (auto [dim, size] : llvm::enumerate(temporary.getSizes())) {
    if (failed(verifyExpr(temporary, size))) {
      return failure();
    }
    names.insert((name + ".stride." + Twine(dim)).str());
  }
  return success();
}

LogicalResult PlanVerifier::verifyVariant(VariantOp variant) {
  if (Attribute when = variant.getWhenAttr();
      when && failed(verifyExpr(variant, when))) {
    return failure();
  }
  SmallVector<StringRef> values;
  for (auto value : variant.getBody().getOps<ValueOp>()) {
    if (failed(verifyValue(value))) {
      return failure();
    }
    values.push_back(value.getName());
  }
  if (failed(verifyExpr(variant, variant.getWorkspace()))) {
    return failure();
  }
  for (KernelOp kernel : variant.getKernels()) {
    if (failed(verifyKernel(kernel))) {
      return failure();
    }
  }
  for (StringRef value : values) {
    names.erase(value);
  }
  return success();
}

LogicalResult PlanVerifier::run() {
  if (failed(verifyKeys())) {
    return failure();
  }
  for (Operation &op : plan.getBody().front()) {
    LogicalResult verified =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](ValueOp value) { return verifyValue(value); })
            .Case([&](TemporaryOp tensor) { return verifyTemporary(tensor); })
            .Case([&](CheckOp check) { return verifyCheck(check); })
            .Case([&](VariantOp variant) { return verifyVariant(variant); });
    if (failed(verified)) {
      return failure();
    }
  }
  return success();
}

/// Returns where an op of a plan has to be among the others, or nothing for an
/// op that a plan does not have.
static std::optional<int> placeInPlan(Operation &op) {
  return TypeSwitch<Operation *, std::optional<int>>(&op)
      .Case([](ValueOp) { return 0; })
      .Case([](TemporaryOp) { return 1; })
      .Case([](CheckOp) { return 2; })
      .Case([](VariantOp) { return 3; })
      .Default(std::nullopt);
}

/// C2 and C10.
static LogicalResult verifyBody(PlanOp plan) {
  size_t checks = 0;
  VariantOp last;
  Operation *before = nullptr;
  for (Operation &op : plan.getBody().front()) {
    auto variant = dyn_cast<VariantOp>(op);
    std::optional<int> place = placeInPlan(op);
    if (!place || (before && *placeInPlan(*before) > *place)) {
      InFlightDiagnostic error = op.emitOpError(
          "expected values, temporaries, checks and then variants in a "
          "'launch.plan', got this op");
      return place ? error << " after a '" << before->getName() << "'" : error;
    }
    before = &op;
    if (last && !last.getWhenAttr()) {
      return last.emitOpError("expected 'when' in all variants but the last, "
                              "got none");
    }
    last = variant;
    checks += isa<CheckOp>(op) ? 1 : 0;
  }
  if (!last) {
    return plan.emitOpError("expected at least one variant, got none");
  }
  if (last.getWhenAttr()) {
    return last.emitOpError("expected no 'when' in the last variant, got one");
  }
  if (checks > mostList) {
    return plan.emitOpError("expected at most ")
           << mostList << " checks, got " << checks;
  }
  return success();
}

/// C9.
static LogicalResult verifyPrograms(PlanOp plan) {
  DictionaryAttr programs = plan.getProgramsAttr();
  auto isProgram = [](Attribute attr) {
    auto lines = dyn_cast<ArrayAttr>(attr);
    return lines && llvm::all_of(lines, [](Attribute line) {
             auto words = dyn_cast<ArrayAttr>(line);
             return words && llvm::all_of(words, llvm::IsaPred<StringAttr>);
           });
  };
  for (NamedAttribute program :
       programs ? programs.getValue() : ArrayRef<NamedAttribute>()) {
    StringRef name = program.getName().getValue();
    if ((name != "score" && name != "mask") || !isProgram(program.getValue())) {
      return plan.emitOpError("expected 'programs' to have lists of lists of "
                              "words for 'score' and 'mask', got '")
             << name << "' = " << program.getValue();
    }
  }
  return success();
}

/// Returns the problem that the arguments have to fit. The arguments of several
/// launches do not fit one kind of kernel: it is `custom`.
static ProblemAttr problemOfArguments(PlanOp plan) {
  ProblemAttr p = plan.getProblem();
  bool isOne = llvm::all_of(plan.getVariants(), [](VariantOp variant) {
    return llvm::hasSingleElement(variant.getKernels());
  });
  return isOne
             ? p
             : ProblemAttr::get(p.getContext(), KernelKind::Custom,
                                p.getDtype(), p.getHeadDim(), p.getHeadDimV(),
                                p.getLayout(), p.getMask(), p.getScoreRegion(),
                                p.getMaskRegion(), p.getBounds(),
                                p.getRowKeys(), p.getDropout());
}

LogicalResult PlanOp::verifyRegions() {
  if (failed(verifyArguments(*this, getArgs(), problemOfArguments(*this),
                             getBody().front()))) { // C1
    return failure();
  }
  size_t bounds = getArgs().all(ArgumentRole::Bound).size();
  size_t wanted =
      llvm::popcount(static_cast<uint32_t>(getProblem().getBounds()));
  if (bounds != wanted) { // C1
    return emitOpError("expected an argument of role 'bound' for each bound of "
                       "the problem, ")
           << wanted << ", got " << bounds;
  }
  if (failed(verifyBody(*this)) || failed(verifyPrograms(*this))) {
    return failure();
  }
  return PlanVerifier(*this).run();
}

/// Returns the targets of a module or binary; nothing for another op.
static std::optional<SmallVector<Attribute>> targetsOf(Operation *op) {
  SmallVector<Attribute> targets;
  if (auto module = dyn_cast_or_null<gpu::GPUModuleOp>(op)) {
    if (ArrayAttr given = module.getTargetsAttr()) {
      llvm::append_range(targets, given);
    }
    return targets;
  }
  if (auto binary = dyn_cast_or_null<gpu::BinaryOp>(op)) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
      targets.push_back(object.getTarget());
    }
    return targets;
  }
  return std::nullopt;
}

LogicalResult PlanOp::verifySymbolUses(SymbolTableCollection &symbols) { // C8
  Operation *binary = symbols.lookupNearestSymbolFrom(*this, getBinaryAttr());
  std::optional<SmallVector<Attribute>> targets = targetsOf(binary);
  if (!targets) {
    return emitOpError("expected the name of a 'gpu.module' or 'gpu.binary', "
                       "got '@")
           << getBinary() << "'";
  }
  if (PlanOp::of(binary) != *this) {
    return emitOpError("expected one launch plan of '@")
           << getBinary() << "', got another";
  }
  for (Attribute target : *targets) {
    auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target);
    if (!nvvm || nvvm.getChip() != getTarget()) {
      return emitOpError("expected the target of '@")
             << getBinary() << "' to be '" << getTarget() << "', got "
             << target;
    }
  }
  if (!isa<gpu::GPUModuleOp>(binary)) {
    return success();
  }
  WalkResult walked = walk([&](KernelOp kernel) {
    if (symbols.lookupSymbolIn(binary, kernel.getKernelAttr().getAttr())) {
      return WalkResult::advance();
    }
    kernel.emitOpError("expected a kernel of '@")
        << getBinary() << "', got '@" << kernel.getKernel() << "'";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
