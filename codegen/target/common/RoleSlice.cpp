// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleSlice.h"
#include "HoldPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// Returns the operands by which an op uses barriers or the memory of holds, or
/// nothing if it uses neither.
static std::optional<SmallVector<Value>> barrierOperands(Operation *op) {
  using Values = std::optional<SmallVector<Value>>;
  if (isa<NVVM::MBarrierInitOp, NVVM::MBarrierArriveOp,
          NVVM::MBarrierArriveExpectTxOp, nvx::MbarrierWaitOp, NVVM::BarrierOp,
          NVVM::BarrierArriveOp>(op)) {
    return Values(llvm::to_vector(op->getOperands()));
  }
  return TypeSwitch<Operation *, Values>(op)
      .Case([](ws::CopyOp op) { return SmallVector<Value>{op.getBarrier()}; })
      .Case<ws::PutOp, ws::StoreOp, ws::ReduceAddOp>(
          [](auto op) { return SmallVector<Value>{op.getPiece()}; })
      .Case([](ws::MmaOp op) {
        SmallVector<Value> slots;
        for (Value operand : {op.getA(), Value(op.getB())}) {
          if (isa<ws::SlotType>(operand.getType())) {
            slots.push_back(operand);
          }
        }
        return slots;
      })
      .Case([](ws::AwaitOp op) -> Values {
        auto mma = op.getToken().getDefiningOp<ws::MmaOp>();
        return mma && operandOfAllPieces(mma) ? Values(SmallVector<Value>())
                                              : std::nullopt;
      })
      .Case([](LLVM::StoreOp op) -> Values {
        if (op.getAddr().getDefiningOp<ws::SmemOp>()) {
          return SmallVector<Value>{op.getAddr()};
        }
        return std::nullopt;
      })
      .Case<NVVM::FenceProxyOp, NVVM::CpAsyncBulkWaitGroupOp, ws::ChooseItemOp>(
          [](Operation *) { return SmallVector<Value>(); })
      .Default(Values());
}

RoleSlice::RoleSlice(Operation *root) : root(root) {
  root->walk([&](Operation *op) {
    if (auto operands = barrierOperands(op)) {
      keep(op);
      llvm::for_each(*operands, [&](Value value) { need(value); });
    }
  });
  while (!worklist.empty()) {
    needSources(worklist.pop_back_val());
  }
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (kept.contains(op)) {
      ops[op->getBlock()].push_back(op);
    }
  });
}

/// Keeps an op and the ops that decide whether it runs.
void RoleSlice::keep(Operation *op) {
  for (; op != root && kept.insert(op).second; op = op->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      need(branch.getCondition());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      need(loop.getLowerBound());
      need(loop.getUpperBound());
      need(loop.getStep());
    }
  }
}

void RoleSlice::need(Value value) {
  if (numbers.try_emplace(value, numbers.size()).second) {
    worklist.push_back(value);
  }
}

void RoleSlice::needSources(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    if (root->isProperAncestor(result.getOwner())) {
      needResult(result);
    }
    return;
  }
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (loop && argument != loop.getInductionVar()) {
    need(loop.getTiedLoopInit(argument)->get());
    need(loop.getTiedLoopYieldedValue(argument)->get());
  }
}

void RoleSlice::needResult(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (isa<arith::ConstantOp>(op)) {
    return;
  }
  keep(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    need(loop.getRegionIterArg(number));
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    need(branch.thenYield()->getOperand(number));
    need(branch.elseYield()->getOperand(number));
  } else if (isa<LLVM::AllocaOp>(op)) {
    for (Operation *user : op->getUsers()) {
      if (auto store = dyn_cast<LLVM::StoreOp>(user)) {
        keep(store);
        need(store.getValue());
      }
    }
  } else if (op->getNumRegions() == 0) {
    for (Value operand : op->getOperands()) {
      if (!isa<tile::WorkType>(operand.getType())) {
        need(operand);
      }
    }
  }
}
