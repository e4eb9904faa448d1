// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attn;

/// Appends "with work items of 1 + 0, 1 + 0 (second run) blocks", by range.
InFlightDiagnostic attn::emitSyncError(Operation *op,
                                       ArrayRef<SyncItem> items) {
  InFlightDiagnostic error = op->emitOpError("attn-verify-sync: ");
  Diagnostic &note = error.attachNote() << "with work items of ";
  llvm::interleaveComma(items, note, [&](const SyncItem &item) {
    llvm::interleave(item.blocks, note, " + ");
    note << (item.isSecond() ? " (second run)" : item.isPart ? " (part)" : "");
  });
  note << " blocks";
  return error;
}

/// Returns the bound at which range `index` begins. The lowest block has number
/// 0. Each sub-tile skips one block more of the first range than the next
/// sub-tile, and one less of the last range if it uses that bound, as long as
/// there are any; in a loop that runs upward none skips blocks.
std::optional<int64_t> SyncNumbers::boundOf(tile::BoundsOp bounds,
                                            unsigned index) {
  SyncItem shape = run.current();
  if (bounds.getUp()) {
    return bounds.getSubtile()
               ? std::nullopt
               : std::optional(shape.from(0) - shape.from(index));
  }
  bool isLast = index + 1 == bounds.getNumResults() &&
                !bounds.getResult(index).use_empty();
  if ((index > 0 && !isLast) || !bounds.getSubtile() || shape.blocks.empty()) {
    return shape.from(index);
  }
  std::optional<int64_t> subtile = numberOf(bounds.getSubtile());
  if (!subtile) {
    return std::nullopt;
  }
  int64_t subtiles = bounds.getOf().value_or(1);
  int64_t skipped = std::min(shape.blocks.front(),
                             (run.of.later + 1) * subtiles - 1 - *subtile);
  if (!isLast) {
    return shape.from(0) - skipped;
  }
  int64_t left = shape.blocks.back() - (shape.blocks.size() == 1 ? skipped : 0);
  return std::min(left, run.of.cta * subtiles + *subtile);
}

/// Evaluates conversions, whose folders may change the op.
static std::optional<int64_t> convert(Operation *op, int64_t number) {
  auto widthOf = [](Value value) {
    return value.getType().isIndex() ? 64u
                                     : value.getType().getIntOrFloatBitWidth();
  };
  if (isa<arith::ExtUIOp>(op)) {
    return llvm::maskTrailingOnes<uint64_t>(widthOf(op->getOperand(0))) &
           uint64_t(number);
  }
  if (isa<arith::TruncIOp>(op)) {
    return llvm::SignExtend64(uint64_t(number), widthOf(op->getResult(0)));
  }
  bool keeps = isa<arith::ExtSIOp, arith::IndexCastOp>(op);
  return keeps ? std::optional(number) : std::nullopt;
}

/// Integers with more bits than any size are ignored.
static bool isNumber(Type type) {
  return type.isIndex() ||
         (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 64);
}

std::optional<int64_t> SyncNumbers::fold(Operation *op) {
  if (op->hasTrait<OpTrait::OneResult>() && isa<CastOpInterface>(op)) {
    std::optional<int64_t> number = isNumber(op->getOperand(0).getType())
                                        ? numberOf(op->getOperand(0))
                                        : std::nullopt;
    return number ? convert(op, *number) : std::nullopt;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number =
        isNumber(operand.getType()) ? numberOf(operand) : std::nullopt;
    if (!number) {
      return std::nullopt;
    }
    operands.push_back(IntegerAttr::get(operand.getType(), *number));
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1) {
    return std::nullopt;
  }
  if (auto value = dyn_cast<Value>(folded.front())) {
    return numberOf(value);
  }
  auto integer = dyn_cast<IntegerAttr>(cast<Attribute>(folded.front()));
  return integer ? std::optional(integer.getInt()) : std::nullopt;
}

/// The first block stays where it is.
std::optional<int64_t> SyncNumbers::blockOf(tile::SkipOp skip) {
  std::optional<int64_t> iteration = numberOf(skip.getIteration());
  return iteration && *iteration > 0 ? *iteration + skippedBlocks : iteration;
}

/// Each item has its own rows and heads, and no sequence is short.
std::optional<int64_t> SyncNumbers::makeUp(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isKernels = isa<ws::KernelOp>(argument.getOwner()->getParentOp());
    return isKernels ? std::optional<int64_t>(argument.getArgNumber() + 1)
                     : std::nullopt;
  }
  auto result = cast<OpResult>(value);
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(
             result.getOwner())
      .Case([&](tile::WorkCoordsOp coords) {
        int64_t later = result == coords.getBlock() ? this->later : 0;
        return (result.getResultNumber() + 1) * 100 + 10 * run.item +
               run.of.cta + later;
      })
      .Case([&](tensor::DimOp dim) {
        auto tensor = dyn_cast<BlockArgument>(dim.getSource());
        return (1 << 24) >> std::min(tensor ? tensor.getArgNumber() : 0u, 4u);
      })
      .Case([&](tile::CutOp) { return 1000 >> result.getResultNumber(); })
      .Case([&](tile::PartOfOp) { return 0; })
      .Case([&](tile::SkipOp skip) { return blockOf(skip); })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int64_t> SyncNumbers::numberOf(Value value) {
  if (auto number = numbers.find(value); number != numbers.end()) {
    return number->second;
  }
  ws::RoleOp role = run.of.role;
  if (value == role.getBody().getArgument(0)) {
    return run.of.replica;
  }
  APInt constant;
  if (isNumber(value.getType()) &&
      matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  Operation *op = value.getDefiningOp();
  if (auto bounds = dyn_cast_or_null<tile::BoundsOp>(op)) {
    return boundOf(bounds, cast<OpResult>(value).getResultNumber());
  }
  if (isa_and_nonnull<tile::WithCareOp>(op)) {
    return run.current().isWithCare();
  }
  if (op && isa<arith::ArithDialect>(op->getDialect())) {
    // Each value is evaluated once, although several ops may read it.
    auto found = known.find(value);
    return found != known.end() ? found->second : known[value] = fold(op);
  }
  return makesUp ? makeUp(value) : std::nullopt;
}

/// Evaluates numbers that decide trip counts, pieces and turns, for the current
/// item.
std::optional<int64_t> SyncNumbers::tryEvaluate(Value value) {
  known.clear();
  return numberOf(value);
}

FailureOr<int64_t> SyncNumbers::evaluate(Value value, Operation *user) {
  if (std::optional<int64_t> number = tryEvaluate(value)) {
    return *number;
  }
  Operation *op = value.getDefiningOp();
  run.error(user) << "expected a number computed from 'tile.bounds' and "
                     "constants, got "
                  << (op ? op->getName().getStringRef() : "a block argument");
  return failure();
}

FailureOr<int64_t> SyncNumbers::coordinate(Value value, Operation *user) {
  llvm::SaveAndRestore saved(makesUp, true);
  return evaluate(value, user);
}

FailureOr<int64_t> SyncNumbers::laterCoordinate(Value value, int64_t blocks,
                                                Operation *user) {
  llvm::SaveAndRestore saved(later, blocks);
  return coordinate(value, user);
}

FailureOr<int64_t> SyncNumbers::numberBelow(Value value, int64_t count,
                                            Operation *user) {
  FailureOr<int64_t> number = evaluate(value, user);
  if (failed(number)) {
    return failure();
  }
  if (*number < 0 || *number >= count) {
    return run.error(user) << "expected a number from 0 to " << count - 1
                           << ", got " << *number;
  }
  return number;
}
