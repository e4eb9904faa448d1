// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-split-launches: turns a function with several ops of attention into a
// function for each op, and the order of their launches.
#include "ArgumentNames.h"
#include "attn/dialect/Launch.h"
#include "attn/passes/kernels/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace attn {
#define GEN_PASS_DEF_SPLITLAUNCHES
#include "attn/passes/kernels/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The rows of a block of statistics, where no shares of dQ are transposed.
constexpr int64_t rowsOfBlock = 128;

constexpr StringLiteral pass = "attn-split-launches: ";

/// Whether a kernel computes the op.
static bool isOfKernel(Operation &op) {
  return isa<AttentionOp, DeltaOp, AttentionBwdOp, SumGradientOp, ClearSumsOp,
             ConvertSumsOp>(op);
}

static KernelKind kindOf(Operation *op) {
  return TypeSwitch<Operation *, KernelKind>(op)
      .Case<AttentionOp, DeltaOp, SumGradientOp, ClearSumsOp, ConvertSumsOp>(
          [](auto of) { return of.getProblem().getKind(); })
      .Default(KernelKind::Bwd);
}

namespace {

/// A value of the function, and what it is to the computation.
struct RoleOfValue {
  ArgumentRole role;
  Value value;
};

} // namespace

/// Returns `own` and the operands that attention and its gradients have both.
template <typename Op>
static SmallVector<RoleOfValue> withCommon(Op op, ArrayRef<RoleOfValue> own) {
  using Role = ArgumentRole;
  SmallVector<RoleOfValue> roles{{Role::Query, op.getQuery()},
                                 {Role::Key, op.getKey()},
                                 {Role::Value, op.getValue()},
                                 {Role::Scale, op.getScale()},
                                 {Role::DropoutRate, op.getDropoutRate()},
                                 {Role::DropoutState, op.getDropoutState()}};
  llvm::append_range(roles, own);
  return roles;
}

/// Returns the queries that may see groups of keys, which the op reads or
/// computes; null if there are none.
static Value seeingOf(AttentionBwdOp op) {
  return op.getGradients() == Gradients::Seeing ? Value(op.getResult(0))
                                                : op.getSeeing();
}

/// Returns the roles of operands and results, except for those that several
/// values may have.
static SmallVector<RoleOfValue> rolesOf(Operation *op) {
  using Role = ArgumentRole;
  return TypeSwitch<Operation *, SmallVector<RoleOfValue>>(op)
      .Case([](AttentionOp of) -> SmallVector<RoleOfValue> {
        return withCommon(of, {{Role::Sinks, of.getSinks()},
                               {Role::Output, of.getOut()},
                               {Role::Lse, of.getLse()}});
      })
      .Case([](DeltaOp of) -> SmallVector<RoleOfValue> {
        return {{Role::Output, of.getOut()},
                {Role::OutputGradient, of.getOutGradient()},
                {Role::Lse, of.getLse()},
                {Role::LseGradient, of.getLseGradient()},
                {Role::Delta, of.getDelta()},
                {Role::Lse2, of.getLse2()},
                {Role::QueryGradientSums, of.getSums()},
                {Role::Turns, of.getTurns()}};
      })
      .Case([](ClearSumsOp of) -> SmallVector<RoleOfValue> {
        return {{Role::QueryGradientSums, of.getSums()},
                {Role::Turns, of.getTurns()}};
      })
      .Case([](ConvertSumsOp of) -> SmallVector<RoleOfValue> {
        return {{Role::Scale, of.getScale()},
                {Role::Turns, of.getTurns()},
                {Role::QueryGradient, of.getGradient()}};
      })
      .Case([](AttentionBwdOp of) -> SmallVector<RoleOfValue> {
        return withCommon(of,
                          {{Role::Delta, of.getDelta()},
                           {Role::Lse2, of.getLse2()},
                           {Role::OutputGradient, of.getOutGradient()},
                           {Role::KeyGradient, of.getGradient(Gradients::DK)},
                           {Role::QueryGradientSums,
                            of.getNewSums() ? of.getSumsResult() : Value()},
                           {Role::Turns, of.getTurns()},
                           {Role::SeeingQueries, seeingOf(of)}});
      })
      .Case([](SumGradientOp of) -> SmallVector<RoleOfValue> {
        if (of.getSinks()) {
          return {{Role::Delta, of.getSums()},
                  {Role::Lse2, of.getLse2()},
                  {Role::Sinks, of.getSinks()}};
        }
        return {{Role::Scale, of.getDivisor()}};
      });
}

/// Returns the name of the argument of a kernel for a result that may be left
/// in the workspace.
static StringRef nameOf(ArgumentRole role) {
  switch (role) {
  case ArgumentRole::Output:
    return names::o;
  case ArgumentRole::Lse:
    return names::lse;
  case ArgumentRole::Delta:
    return names::delta;
  case ArgumentRole::Lse2:
    return names::lse2;
  case ArgumentRole::QueryGradientSums:
    return names::sums;
  case ArgumentRole::Turns:
    return names::turns;
  case ArgumentRole::SeeingQueries:
    return names::seeing;
  // If only the gradient of V is asked for, the kernel computes this one, too.
  case ArgumentRole::KeyGradient:
    return names::keyGradient;
  default:
    return "";
  }
}

namespace {

/// Splits one function.
class Splitter {
public:
  Splitter(func::FuncOp func, ArrayRef<Operation *> ops)
      : b(func->getContext()), func(func), ops(ops) {}

  LogicalResult run();

private:
  LogicalResult checkOps();
  LogicalResult checkResults();
  LogicalResult checkRoles();
  template <typename Get>
  LogicalResult checkShared(StringRef what, Get operandsOf);
  std::string takeName(Operation *op);
  func::FuncOp createFunction(Operation *op, StringRef name);
  FailureOr<std::string> nameOfSums(Operation *op);
  FailureOr<SmallVector<std::string>> listTemporaries();
  int64_t rowsOfStatistics();
  FailureOr<DictionaryAttr> sizesOf(ArrayRef<std::string> temporaries);
  ProblemAttr problemOfCall();
  bool isReturned(Value value) {
    return llvm::is_contained(end()->getOperands(), value);
  }
  Operation *end() { return func.getBody().front().getTerminator(); }

  OpBuilder b;
  func::FuncOp func;
  ArrayRef<Operation *> ops;
};

} // namespace

LogicalResult Splitter::checkOps() {
  if (!SymbolTable::symbolKnownUseEmpty(func, func->getParentOp())) {
    return func.emitOpError(pass) << "expected no uses of the function, whose "
                                     "ops become kernels";
  }
  for (Operation &op : func.getBody().getOps()) {
    if (!isOfKernel(op) && !isa<func::ReturnOp, arith::ConstantOp>(op)) {
      return op.emitOpError(pass)
             << "expected only ops of attention, 'func.return' and constants "
                "in a function with several ops of attention, got this op";
    }
  }
  for (BlockArgument argument : func.getArguments()) {
    if (argument.use_empty()) {
      return func.emitOpError(pass)
             << "expected an op to use argument #" << argument.getArgNumber()
             << " of the function";
    }
  }
  for (Operation *op : ops) {
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      if (operand.getDefiningOp<arith::ConstantOp>()) {
        return op->emitOpError(pass)
               << "expected operand #" << number
               << " to be an argument of the function or a result of an "
                  "earlier op, got a constant";
      }
    }
  }
  return success();
}

LogicalResult Splitter::checkResults() {
  llvm::SmallDenseSet<Value> seen;
  for (auto [number, value] : llvm::enumerate(end()->getOperands())) {
    Operation *op = value.getDefiningOp();
    if (!op || !isOfKernel(*op) || !seen.insert(value).second) {
      return end()->emitOpError(pass)
             << "expected operand #" << number
             << " to be a result of an op of attention that is returned once";
    }
  }
  return success();
}

/// Requires: kernels that share an argument share the value, and the reader of
/// a result has the writer's argument.
LogicalResult Splitter::checkRoles() {
  llvm::MapVector<ArgumentRole, Value> values;
  llvm::MapVector<Value, ArgumentRole> roles;
  for (Operation *op : ops) {
    for (auto [role, value] : rolesOf(op)) {
      if (!value) {
        continue; // an operand that the op does not have
      }
      if (values.insert({role, value}).first->second != value) {
        return op->emitOpError(pass)
               << "expected one value of role '" << stringifyArgumentRole(role)
               << "' in all ops of the function, got another one";
      }
      if (ArgumentRole known = roles.insert({value, role}).first->second;
          known != role && value.getDefiningOp()) {
        return op->emitOpError(pass)
               << "expected a result of an op to have one role in all ops of "
                  "the function, got '"
               << stringifyArgumentRole(known) << "' and '"
               << stringifyArgumentRole(role) << "'";
      }
    }
  }
  return success();
}

/// Requires: all ops with operands of this kind have the same operands.
template <typename Get>
LogicalResult Splitter::checkShared(StringRef what, Get operandsOf) {
  std::optional<OperandRange> first;
  for (Operation *op : ops) {
    auto operands = TypeSwitch<Operation *, std::optional<OperandRange>>(op)
                        .Case<AttentionOp, AttentionBwdOp>([&](auto of) {
                          return std::optional(operandsOf(of));
                        })
                        .Default(std::nullopt);
    if (!operands || operands->empty()) {
      continue;
    }
    if (first && !llvm::equal(*first, *operands)) {
      return op->emitOpError(pass)
             << "expected the " << what
             << " of the earlier ops of the function, got others";
    }
    first = operands;
  }
  return success();
}

/// Returns a new name for the function of an op.
std::string Splitter::takeName(Operation *op) {
  std::string wanted =
      (func.getName() + "_" + stringifyKernelKind(kindOf(op))).str();
  std::string name = wanted;
  for (int n = 1; SymbolTable::lookupSymbolIn(func->getParentOp(), name); ++n) {
    name = wanted + "_" + std::to_string(n);
  }
  return name;
}

func::FuncOp Splitter::createFunction(Operation *op, StringRef name) {
  llvm::SmallSetVector<Value, 8> inputs(op->operand_begin(), op->operand_end());
  b.setInsertionPoint(func);
  auto result = func::FuncOp::create(
      b, op->getLoc(), name,
      b.getFunctionType(ValueRange(inputs.getArrayRef()).getTypes(),
                        op->getResultTypes()));
  Block *entry = result.addEntryBlock();
  IRMapping map;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    map.map(input, entry->getArgument(unsigned(number)));
    auto argument = dyn_cast<BlockArgument>(input);
    if (DictionaryAttr attributes =
            argument ? func.getArgAttrDict(argument.getArgNumber())
                     : DictionaryAttr()) {
      result.setArgAttrs(unsigned(number), attributes);
    }
  }
  b.setInsertionPointToStart(entry);
  Operation *copy = b.clone(*op, map);
  func::ReturnOp::create(b, op->getLoc(), copy->getResults());
  return result;
}

/// Returns the name of the sums of derivatives by a capture, which an op
/// computes; empty if it computes other results.
FailureOr<std::string> Splitter::nameOfSums(Operation *op) {
  auto gradients = dyn_cast<AttentionBwdOp>(op);
  bool makesSums =
      gradients && (gradients.getGradients() == Gradients::RowSums ||
                    gradients.getGradients() == Gradients::KeySums);
  if (!makesSums) {
    return std::string();
  }
  FailureOr<ArgumentNames> all =
      ArgumentNames::of(func, gradients.getCaptures());
  if (failed(all)) {
    return failure();
  }
  return names::sumsOf(all->captureOf(gradients).name);
}

/// Whether the op computes the result by adding to an operand in memory.
static bool addsTo(OpResult result) {
  auto gradients = dyn_cast<AttentionBwdOp>(result.getOwner());
  return gradients && gradients.getSums() && result.getResultNumber() == 0;
}

FailureOr<SmallVector<std::string>> Splitter::listTemporaries() {
  SmallVector<std::string> temporaries;
  for (Operation *op : ops) {
    FailureOr<std::string> sums = nameOfSums(op);
    if (failed(sums)) {
      return failure();
    }
    SmallVector<RoleOfValue> roles = rolesOf(op);
    for (OpResult result : op->getResults()) {
      if (isReturned(result) || addsTo(result)) {
        continue;
      }
      auto *known = llvm::find_if(
          roles, [&](const RoleOfValue &each) { return each.value == result; });
      std::string name =
          known == roles.end() ? *sums : nameOf(known->role).str();
      if (name.empty()) {
        return op->emitOpError(pass)
               << "expected the function to return result #"
               << result.getResultNumber()
               << ", since the same kernel computes results that are returned";
      }
      temporaries.push_back(name);
    }
  }
  return temporaries;
}

/// Returns the rows of a full block of statistics, a multiple of the rows of a
/// tile in every kernel that reads them.
int64_t Splitter::rowsOfStatistics() {
  int64_t rows = 1;
  for (Operation *op : ops) {
    if (auto gradients = dyn_cast<AttentionBwdOp>(op)) {
      rows = std::lcm(rows, gradients.getTransposed().value_or(rowsOfBlock));
    }
  }
  return rows == 1 ? rowsOfBlock : rows;
}

/// Returns the sizes that no argument of the caller has: the number of rows of
/// statistics, those of sums of derivatives by a capture, and of the queries
/// that may see groups of keys.
FailureOr<DictionaryAttr> Splitter::sizesOf(ArrayRef<std::string> temporaries) {
  NamedAttrList sizes;
  launch::Expressions make(b.getContext());
  if (llvm::is_contained(temporaries, names::delta) &&
      llvm::is_contained(temporaries, names::lse2)) {
    Attribute block = make.number(rowsOfStatistics());
    Attribute blocks =
        make.apply(LaunchOp::CeilDiv, {make.name(names::queries), block});
    sizes.append(names::rows, make.apply(LaunchOp::Mul, {blocks, block}));
  }
  if (llvm::is_contained(temporaries, names::seeing)) {
    Attribute own[] = {make.name(names::batches), make.number(kSeeingNumbers),
                       make.apply(LaunchOp::CeilDiv, {make.name(names::keys),
                                                      make.number(kSeenKeys)})};
    for (auto [dim, size] : llvm::enumerate(own)) {
      sizes.append(sizeOf(names::seeing, int64_t(dim)), size);
    }
  }
  for (Operation *op : ops) {
    FailureOr<std::string> sums = nameOfSums(op);
    if (failed(sums)) {
      return failure();
    }
    if (sums->empty() || !llvm::is_contained(temporaries, *sums)) {
      continue;
    }
    bool ofRows = cast<AttentionBwdOp>(op).getGradients() == Gradients::RowSums;
    StringRef own[] = {names::batches,
                       ofRows ? names::queryHeads : names::keyHeads,
                       ofRows ? names::queries : names::keys};
    for (auto [dim, name] : llvm::enumerate(own)) {
      sizes.append(sizeOf(*sums, int64_t(dim)), make.name(name));
    }
  }
  return sizes.getDictionary(b.getContext());
}

/// Returns the problem of the call if the last launch is not an op of
/// attention: that of the last op of gradients. Returns null if the call has
/// the problem of its last launch.
ProblemAttr Splitter::problemOfCall() {
  if (!isa<SumGradientOp, ConvertSumsOp>(ops.back())) {
    return {};
  }
  bool isOfSums = isa<ConvertSumsOp>(ops.back());
  for (Operation *op : llvm::reverse(ops)) {
    auto gradients = dyn_cast<AttentionBwdOp>(op);
    if (gradients && (!isOfSums || gradients.makesSums())) {
      ProblemAttr own = gradients.getProblem(
          isOfSums ? Gradients::All : gradients.getGradients(),
          bool(gradients.getTurns()));
      ProblemAttr users = gradients.getUserProblem(own.getKind());
      return users ? users : own;
    }
  }
  return {};
}

LogicalResult Splitter::run() {
  if (failed(checkOps()) || failed(checkResults()) || failed(checkRoles()) ||
      failed(checkShared("bounds", [](auto op) { return op.getBounds(); })) ||
      failed(
          checkShared("captures", [](auto op) { return op.getCaptures(); }))) {
    return failure();
  }
  FailureOr<SmallVector<std::string>> temporaries = listTemporaries();
  if (failed(temporaries)) {
    return failure();
  }
  FailureOr<DictionaryAttr> sizes = sizesOf(*temporaries);
  if (failed(sizes)) {
    return failure();
  }
  ProblemAttr problem = problemOfCall();
  SmallVector<std::string> launches;
  for (Operation *op : ops) {
    launches.push_back(takeName(op));
    createFunction(op, launches.back());
  }
  b.setInsertionPoint(func);
  launch::SequenceOp::create(b, func.getLoc(), func.getName(),
                             b.getStrArrayAttr(SmallVector<StringRef>(
                                 launches.begin(), launches.end())),
                             b.getStrArrayAttr(SmallVector<StringRef>(
                                 temporaries->begin(), temporaries->end())),
                             *sizes, problem);
  func.erase();
  return success();
}

namespace {
struct SplitLaunchesPass
    : public attn::impl::SplitLaunchesBase<SplitLaunchesPass> {
  using SplitLaunchesBase::SplitLaunchesBase;

  void runOnOperation() override {
    auto all = getOperation().getOps<func::FuncOp>();
    for (func::FuncOp func : llvm::to_vector(all)) {
      SmallVector<Operation *> ops;
      for (Operation &op : func.getBody().getOps()) {
        if (isOfKernel(op)) {
          ops.push_back(&op);
        }
      }
      if (ops.size() > 1 && failed(Splitter(func, ops).run())) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
