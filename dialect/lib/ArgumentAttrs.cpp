// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form of #attn.arguments, and checks of kernels against it.
#include "attn/dialect/Attn.h"
#include "attn/dialect/LaunchChecks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;

namespace {

/// Words between the name of an argument and its dimensions.
struct Words {
  std::optional<ArgumentRole> role;
  ArgumentAccess access = ArgumentAccess::Read;
  bool isBounded = false; // by `from`, with which no other word begins
};

/// A record of PlanWords.td.
struct Attn_RoleWord {
  unsigned number;
  const char *word;
  bool mayRepeat;
};
#define GET_RoleWordTable_IMPL
#include "attn/dialect/PlanWords.inc"

} // namespace

static ParseResult parseWords(AsmParser &parser, Words &words) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word))) {
    return success();
  }
  words.role = symbolizeArgumentRole(word);
  if (words.role) {
    loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&word))) {
      return success();
    }
  }
  words.isBounded = word == "from";
  if (words.isBounded) {
    return success();
  }
  std::optional<ArgumentAccess> access = symbolizeArgumentAccess(word);
  if (!access) {
    return parser.emitError(loc, "expected ")
           << (words.role ? "" : "a role, ")
           << "'read', 'write' or 'accumulate', got '" << word << "'";
  }
  words.access = *access;
  return success();
}

static ParseResult parseNumber(AsmParser &parser, FloatAttr &number) {
  auto type = Float32Type::get(parser.getContext());
  APFloat value(type.getFloatSemantics());
  if (parser.parseFloat(type.getFloatSemantics(), value)) {
    return failure();
  }
  number = FloatAttr::get(type, value);
  return success();
}

/// Parses `=` and a number, if they follow.
static ParseResult parseFixed(AsmParser &parser, IntegerAttr &fixed) {
  int64_t number;
  if (failed(parser.parseOptionalEqual())) {
    return success();
  }
  if (parser.parseInteger(number)) {
    return failure();
  }
  fixed = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

static ParseResult parseArgument(AsmParser &parser,
                                 SmallVectorImpl<ArgumentAttr> &list) {
  std::string text;
  Words words;
  FloatAttr least, most;
  IntegerAttr fixed;
  SmallVector<StringAttr> dims;
  auto parseDim = [&]() -> ParseResult {
    std::string dim;
    if (parser.parseString(&dim)) {
      return failure();
    }
    dims.push_back(StringAttr::get(parser.getContext(), dim));
    return success();
  };
  if (parser.parseString(&text)) {
    return failure();
  }
  std::string symbol = text;
  if ((succeeded(parser.parseOptionalKeyword("as")) &&
       parser.parseString(&symbol)) ||
      parseWords(parser, words) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen,
                                     parseDim)) {
    return failure();
  }
  if ((words.isBounded || succeeded(parser.parseOptionalKeyword("from"))) &&
      (parseNumber(parser, least) || parser.parseKeyword("to") ||
       parseNumber(parser, most))) {
    return failure();
  }
  if (parseFixed(parser, fixed)) {
    return failure();
  }
  MLIRContext *context = parser.getContext();
  list.push_back(ArgumentAttr::get(context, StringAttr::get(context, text),
                                   StringAttr::get(context, symbol), words.role,
                                   words.access, dims, least, most, fixed));
  return success();
}

Attribute ArgumentsAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<ArgumentAttr> list;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
        return parseArgument(parser, list);
      })) {
    return {};
  }
  return ArgumentsAttr::getChecked([&] { return parser.emitError(loc); },
                                   parser.getContext(),
                                   ArrayRef<ArgumentAttr>(list));
}

void ArgumentsAttr::print(AsmPrinter &printer) const {
  printer << '[';
  llvm::interleaveComma(
      getList(), printer.getStream(), [&](ArgumentAttr argument) {
        printer << argument.getName();
        if (argument.getSymbol() != argument.getName()) {
          printer << " as " << argument.getSymbol();
        }
        if (argument.getRole()) {
          printer << ' ' << stringifyArgumentRole(*argument.getRole());
        }
        if (argument.getAccess() != ArgumentAccess::Read) {
          printer << ' ' << stringifyArgumentAccess(argument.getAccess());
        }
        if (!argument.getDims().empty()) {
          printer << " (";
          llvm::interleaveComma(argument.getDims(), printer.getStream(),
                                [&](StringAttr dim) { printer << dim; });
          printer << ')';
        }
        if (argument.getLeast()) {
          printer << " from ";
          printer.printFloat(argument.getLeast().getValue());
          printer << " to ";
          printer.printFloat(argument.getMost().getValue());
        }
        if (argument.getFixed()) {
          printer << " = " << argument.getFixed().getInt();
        }
      });
  printer << ']';
}

bool attn::isReservedName(StringRef name) {
  return name.empty() || name == kItems || name == kMultiprocessors ||
         name.find_first_of(".{}") != StringRef::npos ||
         llvm::isDigit(name.front()) || name.front() == '-' ||
         !llvm::json::isUTF8(name);
}

static LogicalResult verifyNames(function_ref<InFlightDiagnostic()> emitError,
                                 ArgumentAttr argument) {
  StringRef own = argument.getName();
  if (own.empty() || own.contains('\0') || !llvm::json::isUTF8(own)) {
    return emitError() << "expected a name in UTF-8 without a zero byte, got "
                       << argument.getName();
  }
  SmallVector<StringAttr> names(argument.getDims());
  names.push_back(argument.getSymbol());
  for (StringAttr name : names) {
    if (isReservedName(name)) {
      return emitError() << "expected a name that launch plans do not use for "
                            "something else, got "
                         << name;
    }
  }
  return success();
}

/// Returns the roles of the results of kernels of a kind.
static ArrayRef<ArgumentRole> resultsOf(KernelKind kind) {
  using Role = ArgumentRole;
  static constexpr Role forward[] = {Role::Output, Role::Lse};
  static constexpr Role delta[] = {Role::Delta, Role::Lse2,
                                   Role::QueryGradientSums};
  static constexpr Role gradients[] = {Role::QueryGradient, Role::KeyGradient,
                                       Role::ValueGradient};
  static constexpr Role all[] = {Role::QueryGradientSums, Role::KeyGradient,
                                 Role::ValueGradient};
  static constexpr Role ofCaptures[] = {Role::PartialSums,
                                        Role::CaptureGradient};
  static constexpr Role seeing[] = {Role::SeeingQueries};
  switch (kind) {
  case KernelKind::BwdSeeing:
    return seeing;
  case KernelKind::Delta:
    return delta;
  case KernelKind::Bwd:
  case KernelKind::BwdOrdered:
    return all;
  case KernelKind::BwdDQDK:
    return ArrayRef(all).drop_back();
  case KernelKind::Clear:
    return ArrayRef(all).take_front();
  case KernelKind::BwdDQ:
  case KernelKind::Convert:
    return ArrayRef(gradients).take_front();
  case KernelKind::BwdDKDV:
    return ArrayRef(gradients).drop_front();
  case KernelKind::BwdDK:
    return ArrayRef(gradients).slice(1, 1);
  case KernelKind::BwdDV:
    return ArrayRef(gradients).take_back();
  case KernelKind::BwdRows:
  case KernelKind::BwdKeys:
    return ArrayRef(ofCaptures).take_front();
  case KernelKind::BwdPairs:
  case KernelKind::BwdElements:
  case KernelKind::Sum:
    return ArrayRef(ofCaptures).drop_front();
  default:
    return forward;
  }
}

/// Whether an argument of that role is a result in some kind of kernel.
static bool mayBeResult(ArgumentRole role) {
  return role == ArgumentRole::Turns ||
         llvm::any_of(std::array{KernelKind::Fwd, KernelKind::Delta,
                                 KernelKind::Bwd, KernelKind::BwdDQ,
                                 KernelKind::BwdRows, KernelKind::Sum,
                                 KernelKind::BwdSeeing},
                      [&](KernelKind kind) {
                        return llvm::is_contained(resultsOf(kind), role);
                      });
}

static bool mayRepeat(ArgumentRole role) {
  return RoleWordTable[unsigned(role)].mayRepeat;
}

static LogicalResult verifyRole(function_ref<InFlightDiagnostic()> emitError,
                                ArgumentAttr argument,
                                llvm::SmallDenseSet<int> &seen) {
  if (!argument.getRole()) {
    return success();
  }
  ArgumentRole role = *argument.getRole();
  if (!mayRepeat(role) && !seen.insert(int(role)).second) { // C4
    return emitError() << "expected one argument of role '"
                       << stringifyArgumentRole(role) << "', got "
                       << argument.getName() << " as another";
  }
  if (!mayBeResult(role) &&
      argument.getAccess() != ArgumentAccess::Read) { // C5
    return emitError() << "expected " << argument.getName() << ", of role '"
                       << stringifyArgumentRole(role)
                       << "', to be one to read, got one to "
                       << stringifyArgumentAccess(argument.getAccess());
  }
  return success();
}

LogicalResult
ArgumentsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<ArgumentAttr> list) {
  llvm::SmallDenseSet<Attribute> seen, symbols;
  llvm::SmallDenseSet<int> roles;
  for (ArgumentAttr argument : list) {
    if (!seen.insert(argument.getName()).second) { // C1
      return emitError() << "expected the names in 'args' to be different, got "
                         << argument.getName() << " twice";
    }
    if (!symbols.insert(argument.getSymbol()).second) {
      return emitError() << "expected the symbols in 'args' to be different, "
                            "got "
                         << argument.getSymbol() << " twice";
    }
    if (failed(verifyNames(emitError, argument)) || // C2
        failed(verifyRole(emitError, argument, roles))) {
      return failure();
    }
    FloatAttr least = argument.getLeast(), most = argument.getMost();
    if (least && !(least.getValue().isFinite() && most.getValue().isFinite() &&
                   least.getValue() <= most.getValue())) { // C3
      return emitError() << "expected the values of " << argument.getName()
                         << " to be finite, from the least to the most, got "
                         << least << " and " << most;
    }
    IntegerAttr fixed = argument.getFixed();
    if (fixed && !llvm::isInt<32>(fixed.getInt())) { // C8
      return emitError() << "expected the number of " << argument.getName()
                         << " to fit i32, got " << fixed.getInt();
    }
  }
  return success();
}

std::optional<unsigned> ArgumentsAttr::find(ArgumentRole role) const {
  for (auto [index, argument] : llvm::enumerate(getList())) {
    if (argument.getRole() == role) {
      return index;
    }
  }
  return std::nullopt;
}

SmallVector<ArgumentAttr> ArgumentsAttr::all(ArgumentRole role) const {
  SmallVector<ArgumentAttr> found;
  llvm::copy_if(
      getList(), std::back_inserter(found),
      [&](ArgumentAttr argument) { return argument.getRole() == role; });
  return found;
}

SmallVector<std::string> ArgumentsAttr::dimsOf(size_t index,
                                               int64_t rank) const {
  SmallVector<std::string> names;
  ArgumentAttr argument = (*this)[index];
  for (StringAttr dim : argument.getDims()) {
    names.push_back(dim.str());
  }
  for (int64_t dim = names.size(); dim < rank; ++dim) {
    names.push_back(
        (argument.getSymbol().getValue() + "_d" + Twine(dim)).str());
  }
  return names;
}

/// Returns the type that an argument with a role must have in `problem`, in
/// words; empty for any type.
static StringRef expectedType(ArgumentRole role, ProblemAttr problem,
                              Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto isTensor = [&](int64_t rank, Type element) {
    return tensor && tensor.getRank() == rank &&
           tensor.getElementType() == element;
  };
  auto hasColumns = [&](int64_t columns) {
    return isTensor(4, problem.getDtype()) && tensor.getDimSize(3) == columns;
  };
  switch (role) {
  case ArgumentRole::Query:
  case ArgumentRole::Key:
  case ArgumentRole::QueryGradient:
  case ArgumentRole::KeyGradient:
    return hasColumns(problem.getHeadDim())
               ? ""
               : "a tensor of rank 4 of the problem's type and head dim";
  case ArgumentRole::Value:
  case ArgumentRole::Output:
  case ArgumentRole::OutputGradient:
  case ArgumentRole::ValueGradient:
    return hasColumns(problem.getHeadDimV())
               ? ""
               : "a tensor of rank 4 of the problem's type and head dim of V";
  case ArgumentRole::Lse:
  case ArgumentRole::LseGradient:
  case ArgumentRole::Delta:
  case ArgumentRole::Lse2:
  case ArgumentRole::PartialSums:
  case ArgumentRole::SeeingQueries:
    return isTensor(3, Float32Type::get(type.getContext()))
               ? ""
               : "a tensor of rank 3 of f32";
  case ArgumentRole::Turns:
    return isTensor(3, IntegerType::get(type.getContext(), 32))
               ? ""
               : "a tensor of rank 3 of i32";
  case ArgumentRole::QueryGradientSums:
    return isTensor(4, Float32Type::get(type.getContext()))
               ? ""
               : "a tensor of rank 4 of f32";
  case ArgumentRole::Scale:
  case ArgumentRole::DropoutRate:
    return type.isF32() ? "" : "f32";
  case ArgumentRole::DropoutState: {
    auto wanted =
        RankedTensorType::get({2}, IntegerType::get(type.getContext(), 64));
    return type == wanted ? "" : "tensor<2xi64>";
  }
  case ArgumentRole::Sinks:
    return isTensor(1, Float32Type::get(type.getContext()))
               ? ""
               : "a tensor of rank 1 of f32";
  case ArgumentRole::Bound:
    return type.isInteger(32) ? "" : "i32";
  case ArgumentRole::Capture:
  case ArgumentRole::CaptureGradient:
    return "";
  }
  return "";
}

/// Checks that a kernel of the kind writes its results, and reads all else. The
/// results of a custom kernel may be any.
static LogicalResult verifyAccess(Operation *kernel, ArgumentAttr argument,
                                  KernelKind kind) {
  ArgumentRole role = *argument.getRole();
  if (kind == KernelKind::Custom && mayBeResult(role)) {
    return success();
  }
  // All others with turns wait for them or write their zeros.
  bool keepsTurns = role == ArgumentRole::Turns && kind != KernelKind::Convert;
  bool isResult = llvm::is_contained(resultsOf(kind), role) || keepsTurns;
  if (isResult == (argument.getAccess() != ArgumentAccess::Read)) {
    return success();
  }
  return kernel->emitOpError("expected ")
         << argument.getName() << ", of role '" << stringifyArgumentRole(role)
         << "', to be one to " << (isResult ? "write or accumulate" : "read")
         << ", got one to " << stringifyArgumentAccess(argument.getAccess());
}

/// Returns the roles of the inputs that a kernel of a kind with these arguments
/// must have. That of the gradient of sinks is known by its sinks.
static ArrayRef<ArgumentRole> neededInputs(KernelKind kind,
                                           ArgumentsAttr args) {
  using Role = ArgumentRole;
  static constexpr Role forward[] = {Role::Query, Role::Key, Role::Value,
                                     Role::Scale};
  static constexpr Role delta[] = {Role::Output, Role::OutputGradient,
                                   Role::Lse, Role::LseGradient};
  static constexpr Role sums[] = {Role::PartialSums};
  static constexpr Role sumsOfSinks[] = {Role::Delta, Role::Lse2};
  static constexpr Role backward[] = {
      Role::Query,          Role::Key,   Role::Value, Role::Scale,
      Role::OutputGradient, Role::Delta, Role::Lse2};
  static constexpr Role convert[] = {Role::QueryGradientSums, Role::Scale};
  static constexpr Role seeing[] = {Role::Query, Role::Key};
  switch (kind) {
  case KernelKind::Fwd:
    return forward;
  case KernelKind::Delta:
    return delta;
  case KernelKind::Bwd:
  case KernelKind::BwdOrdered:
  case KernelKind::BwdDQ:
  case KernelKind::BwdDKDV:
  case KernelKind::BwdDK:
  case KernelKind::BwdDV:
  case KernelKind::BwdRows:
  case KernelKind::BwdKeys:
  case KernelKind::BwdPairs:
  case KernelKind::BwdElements:
  case KernelKind::BwdDQDK:
    return backward;
  case KernelKind::Sum:
    return args.find(Role::Sinks) ? ArrayRef(sumsOfSinks) : sums;
  case KernelKind::Convert:
    return convert;
  case KernelKind::BwdSeeing:
    return seeing;
  default:
    return {};
  }
}

/// Whether a kernel of a kind need not make one of its results: row statistics
/// may come without zeros for sums.
static bool mayLack(KernelKind kind, ArgumentRole result) {
  return kind == KernelKind::Delta && result == ArgumentRole::QueryGradientSums;
}

/// Returns the roles of the arguments that kernels of a kind must have.
static SmallVector<ArgumentRole> neededRoles(KernelKind kind,
                                             ArgumentsAttr args) {
  ArrayRef<ArgumentRole> inputs = neededInputs(kind, args);
  SmallVector<ArgumentRole> roles(inputs);
  if (!inputs.empty()) {
    llvm::copy_if(resultsOf(kind), std::back_inserter(roles),
                  [&](ArgumentRole role) { return !mayLack(kind, role); });
  }
  return roles;
}

/// C6 and C7 of tile.kernel: either no argument has a role, or all have.
static LogicalResult verifyRoles(Operation *kernel, ArgumentsAttr args,
                                 ProblemAttr problem, Block &body) {
  auto hasRole = [](ArgumentAttr argument) {
    return argument.getRole().has_value();
  };
  if (llvm::none_of(args.getList(), hasRole)) {
    return success();
  }
  for (auto [argument, description] :
       llvm::zip(body.getArguments(), args.getList())) {
    if (!hasRole(description)) {
      return kernel->emitOpError("expected each argument to have a role, as "
                                 "some have one, got none of ")
             << description.getName();
    }
    StringRef wanted =
        expectedType(*description.getRole(), problem, argument.getType());
    if (!wanted.empty()) {
      return kernel->emitOpError("expected ")
             << description.getName() << ", of role '"
             << stringifyArgumentRole(*description.getRole()) << "', to be "
             << wanted << ", got " << argument.getType();
    }
    if (failed(verifyAccess(kernel, description, problem.getKind()))) {
      return failure();
    }
  }
  for (ArgumentRole role : neededRoles(problem.getKind(), args)) {
    if (!args.find(role)) {
      return kernel->emitOpError("expected a kernel of kind '")
             << stringifyKernelKind(problem.getKind())
             << "' to have an argument of role '" << stringifyArgumentRole(role)
             << "', got none";
    }
  }
  size_t bounds = args.all(ArgumentRole::Bound).size();
  size_t wanted = llvm::popcount(static_cast<uint32_t>(problem.getBounds()));
  if (bounds != wanted) {
    return kernel->emitOpError("expected an argument of role 'bound' for each "
                               "bound of the problem, ")
           << wanted << ", got " << bounds;
  }
  bool hasRate = args.find(ArgumentRole::DropoutRate).has_value();
  if (problem.getKind() != KernelKind::Custom &&
      hasRate != problem.getDropout()) {
    return kernel->emitOpError("expected an argument of role 'dropout_rate' if "
                               "and only if the problem has dropout, got ")
           << (hasRate ? "one" : "none") << " and 'dropout' "
           << (problem.getDropout() ? "true" : "false");
  }
  return success();
}

LogicalResult attn::verifyArguments(Operation *kernel, ArgumentsAttr args,
                                    ProblemAttr problem, Block &body) {
  if (args.size() != body.getNumArguments()) {
    return kernel->emitOpError("expected ")
           << body.getNumArguments() << " 'args', got " << args.size();
  }
  for (auto [argument, description] :
       llvm::zip(body.getArguments(), args.getList())) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    size_t rank = tensor ? tensor.getRank() : 0;
    size_t dims = description.getDims().size();
    if (dims != 0 && dims != rank) {
      return kernel->emitOpError("expected ")
             << rank << " names for the dimensions of argument "
             << description.getName() << ", got " << dims;
    }
    if (description.getLeast() && !argument.getType().isF32()) {
      return kernel->emitOpError("expected 'from' and 'to' only of an f32 "
                                 "argument, got them of ")
             << description.getName() << ", " << argument.getType();
    }
    if (description.getFixed() && !argument.getType().isInteger(32)) {
      return kernel->emitOpError("expected a number after '=' only of an i32 "
                                 "argument, got one of ")
             << description.getName() << ", " << argument.getType();
    }
  }
  return verifyRoles(kernel, args, problem, body);
}

LogicalResult attn::verifyArgumentUse(Operation *op, Value tensor,
                                      ArgumentAccess access, ArgumentsAttr args,
                                      Block &body) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument || argument.getOwner() != &body) {
    return success();
  }
  ArgumentAttr description = args[argument.getArgNumber()];
  if (description.getAccess() == access) {
    return success();
  }
  return op->emitOpError("expected argument ")
         << description.getName() << " to be one to "
         << stringifyArgumentAccess(access) << ", got one to "
         << stringifyArgumentAccess(description.getAccess());
}
