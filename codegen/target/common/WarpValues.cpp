// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WarpValues.h"
#include "attn/dialect/ItemMemory.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr StringLiteral passName = "attn-verify-channels: ";

WarpValues::WarpValues(ws::KernelOp kernel, const RoleSlice &slice, WarpId warp)
    : kernel(kernel), slice(slice), warp(warp), values(slice.all().size()) {
  for (auto [value, number] : slice.all()) {
    IntegerAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      values[number] = uniform(constant.getValue().getSExtValue());
    }
  }
}

WarpValues::Lanes WarpValues::uniform(int64_t value) {
  Lanes lanes;
  lanes.values.fill(int32_t(value));
  lanes.isKnown = lanes.isUniform = true;
  return lanes;
}

const WarpValues::Lanes &WarpValues::get(Value value) const {
  static const Lanes unknown;
  std::optional<unsigned> number = slice.numberOf(value);
  return number ? values[*number] : unknown;
}

void WarpValues::set(Value value, const Lanes &lanes, uint32_t mask) {
  std::optional<unsigned> number = slice.numberOf(value);
  if (!number) {
    return;
  }
  Lanes &to = values[*number];
  if (mask == ~0u || !lanes.isKnown) {
    to = lanes;
    return;
  }
  for (unsigned i = 0; i < warpThreads; ++i) {
    to.values[i] = mask >> i & 1 ? lanes.values[i] : to.values[i];
  }
  to.isKnown = true;
  to.isUniform = false;
}

const WarpValues::Lanes *WarpValues::known(Value value, Operation *user) const {
  const Lanes &lanes = get(value);
  if (lanes.isKnown) {
    return &lanes;
  }
  user->emitOpError(passName)
      << "expected a value that follows from counters, threads and bounds "
         "of the item, got one that depends on data";
  return nullptr;
}

FailureOr<int32_t> WarpValues::first(Value value, Operation *user,
                                     uint32_t lanes) const {
  const Lanes *all = known(value, user);
  if (!all) {
    return failure();
  }
  int32_t found = all->values[llvm::countr_zero(lanes)];
  for (unsigned i = 0; i < warpThreads; ++i) {
    if (lanes >> i & 1 && all->values[i] != found) {
      return user->emitOpError(passName)
             << "expected the same value in all lanes, got " << found << " and "
             << all->values[i];
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Scalars.
//===----------------------------------------------------------------------===//

/// Downward the bounds are [total, total - masked, 0]; further ranges share the
/// rest. Each sub-tile, and each CTA, has one masked block less than the next
/// at the right end, and one block more at the left. Upward they are counted
/// from the other end, and no sub-tile has fewer.
int64_t WarpValues::boundOf(OpResult result) const {
  auto bounds = cast<tile::BoundsOp>(result.getOwner());
  unsigned index = result.getResultNumber();
  if (bounds.getUp()) {
    return index == 0 ? 0
           : index + 1 == bounds->getNumResults()
               ? item.total
               : item.total - ((item.total - item.masked) >> (index - 1));
  }
  int64_t subtiles = bounds.getOf().value_or(1);
  auto beginOf = [&](unsigned range) {
    return (item.total - item.masked) >> (range - 1);
  };
  if (index == 0) {
    int64_t later = clusterOf(kernel) - 1 - warp.cta;
    int64_t skipped = (later + 1) * subtiles - 1 - warp.replica;
    return item.total -
           (bounds.getSubtile() ? std::min(item.masked, skipped) : 0);
  }
  if (index + 1 < bounds->getNumResults()) {
    return beginOf(index);
  }
  int64_t most = beginOf(std::max(index - 1, 1u));
  return bounds.getSubtile()
             ? std::min(most, warp.cta * subtiles + warp.replica)
             : 0;
}

/// Returns nothing for an unknown op.
static std::optional<int32_t> evaluateOp(Operation *op, int32_t a, int32_t b) {
  using Result = std::optional<int32_t>;
  uint32_t ua = a, ub = b;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return Result(ua + ub); })
      .Case([&](arith::SubIOp) { return Result(ua - ub); })
      .Case([&](arith::MulIOp) { return Result(ua * ub); })
      .Case([&](arith::AndIOp) { return Result(a & b); })
      .Case([&](arith::OrIOp) { return Result(a | b); })
      .Case([&](arith::XOrIOp) { return Result(a ^ b); })
      .Case(
          [&](arith::ShRUIOp) { return ub < 32 ? Result(ua >> ub) : Result(); })
      .Case([&](arith::DivUIOp) { return ub ? Result(ua / ub) : Result(); })
      .Case([&](arith::MinSIOp) { return Result(std::min(a, b)); })
      .Case([&](arith::MaxSIOp) { return Result(std::max(a, b)); })
      .Case([&](arith::ExtUIOp) { return Result(a & 1); })
      .Case([&](arith::CmpIOp op) {
        return Result(arith::applyCmpPredicate(op.getPredicate(), APInt(32, ua),
                                               APInt(32, ub)));
      })
      .Default(Result());
}

std::optional<int32_t> codegen::evaluateScalar(Operation *op,
                                               ArrayRef<int32_t> operands) {
  if (isa<arith::SelectOp>(op)) {
    return operands[operands[0] ? 1 : 2];
  }
  if (operands.empty() || operands.size() > 2) {
    return std::nullopt;
  }
  std::optional<int32_t> value =
      evaluateOp(op, operands.front(), operands.back());
  // A truth value is one bit, however it is stored.
  bool isTruth = op->getResult(0).getType().isInteger(1);
  return value && isTruth ? *value & 1 : value;
}

WarpValues::Lanes WarpValues::evaluateArith(Operation *op) const {
  SmallVector<const Lanes *, 3> operands;
  bool isUniform = true;
  for (Value operand : op->getOperands()) {
    operands.push_back(&get(operand));
    isUniform &= operands.back()->isUniform;
    if (!operands.back()->isKnown) {
      return {};
    }
  }
  Lanes result;
  for (unsigned i = 0; i < (isUniform ? 1 : warpThreads); ++i) {
    SmallVector<int32_t, 3> each;
    for (const Lanes *operand : operands) {
      each.push_back(operand->values[i]);
    }
    std::optional<int32_t> value = evaluateScalar(op, each);
    if (!value) {
      return {};
    }
    result.values[i] = *value;
  }
  result.isKnown = true;
  return isUniform ? uniform(result.values[0]) : result;
}

void WarpValues::evaluate(Operation *op) {
  auto setAll = [&](Value value, int64_t to) { set(value, uniform(to)); };
  TypeSwitch<Operation *>(op)
      .Case([&](NVVM::ThreadIdXOp op) {
        // Roles of whole groups of warps begin at a group.
        Lanes tid = uniform(warpThreads * warp.index);
        for (unsigned i = 0; i < warpThreads; ++i) {
          tid.values[i] += int32_t(i);
        }
        tid.isUniform = false;
        set(op, tid);
      })
      .Case([&](NVVM::ClusterId op) { setAll(op, warp.cta); })
      .Case([&](tile::BoundsOp op) {
        for (OpResult result : op->getResults()) {
          setAll(result, boundOf(result));
        }
      })
      .Case([&](tile::WithCareOp op) { setAll(op, item.isSecond()); })
      .Case([&](ws::VerdictSlotOp op) {
        setAll(op, iteration % ws::verdictRing);
      })
      .Case([&](ws::SmemOp op) {
        Lanes address = get(op.getOffset());
        for (int32_t &each : address.values) {
          each = addressIn(warp.cta, each);
        }
        set(op, address);
      })
      .Case([&](NVVM::MapaOp op) {
        Lanes address = get(op.getA()), rank = get(op.getB());
        for (unsigned i = 0; i < warpThreads; ++i) {
          address.values[i] =
              addressIn(rank.values[i], address.values[i] % ctaStride);
        }
        address.isKnown &= rank.isKnown;
        address.isUniform &= rank.isUniform;
        set(op, address);
      })
      .Case([&](ws::SlotAtOp op) { set(op, get(op.getOffset())); })
      .Case([&](LLVM::LoadOp op) { set(op, get(op.getAddr())); })
      .Case<LLVM::AllocaOp, arith::ConstantOp>([](Operation *) {}) // known
      .Default([&](Operation *op) {
        if (op->getNumResults() == 1) {
          set(op->getResult(0), evaluateArith(op));
        }
      });
}
