// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "InstructionLowering.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

Value InstructionLowering::paramOf(Param::Kind kind, Value tensor,
                                   int64_t dim) {
  unsigned argument = cast<BlockArgument>(tensor).getArgNumber();
  const Param *param = llvm::find(params, Param{kind, argument, dim, {}, {}});
  return function.getArgument(param - params.begin());
}

/// A result of the kernel's `tile.cut`.
Value InstructionLowering::cutParam(int64_t result) {
  const Param *param = llvm::find(params, Param{Param::Cut, 0, result, {}, {}});
  return function.getArgument(param - params.begin());
}

Value InstructionLowering::tid() {
  return NVVM::ThreadIdXOp::create(*builder, loc, builder->getI32Type());
}

/// Of this CTA, which has a row block of each of its cluster's items.
Value InstructionLowering::rankInCluster() {
  return nvx::ClusterRankOp::create(*builder, loc, builder->getI32Type());
}

/// The number of this CTA's, or this cluster's, first work item.
Value InstructionLowering::firstItem() {
  Type i32 = builder->getI32Type();
  return clusterSize() > 1
             ? NVVM::ClusterIdXOp::create(*builder, loc, i32).getResult()
             : NVVM::BlockIdXOp::create(*builder, loc, i32).getResult();
}

/// How many work items the grid works on at a time.
Value InstructionLowering::itemsInFlight() {
  Type i32 = builder->getI32Type();
  return clusterSize() > 1
             ? NVVM::ClusterDimXOp::create(*builder, loc, i32).getResult()
             : NVVM::GridDimXOp::create(*builder, loc, i32).getResult();
}

Value InstructionLowering::smemAddress(Value offset) {
  if (smemBase) {
    return add(smemBase, offset);
  }
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext(), 3);
  Value base = LLVM::AddressOfOp::create(*builder, loc, ptr, smemName);
  Value address =
      LLVM::PtrToIntOp::create(*builder, loc, builder->getI32Type(), base);
  return add(address, offset);
}

Value InstructionLowering::sharedPointer(Value address) {
  auto ptr = LLVM::LLVMPointerType::get(builder->getContext(), 3);
  return LLVM::IntToPtrOp::create(*builder, loc, ptr, address);
}

/// Byte address of the tile in a slot.
Value InstructionLowering::slotAddress(Value slot) {
  auto at = slot.getDefiningOp<ws::SlotAtOp>();
  return smemAddress(values.lookupOrDefault(at.getOffset()));
}

Value InstructionLowering::descriptorLow(Value address, int64_t leadingBytes) {
  Value units = arith::ShRUIOp::create(*builder, loc, address, constant(4));
  Value low = arith::AndIOp::create(*builder, loc, units, constant(0x3FFF));
  return arith::OrIOp::create(*builder, loc, low,
                              constant(leadingBytes / 16 << 16));
}

LogicalResult InstructionLowering::lowerScalars(OpBuilder &at) {
  builder = &at;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (argument.getType().isIntOrFloat()) {
      Param wanted{Param::Scalar, argument.getArgNumber(), 0, {}, {}};
      if (llvm::is_contained(params, wanted)) {
        values.map(argument, paramOf(Param::Scalar, argument));
      }
    }
  }
  for (Operation &op : kernel.getBody().front()) {
    if (isa<ws::ChannelOp, ws::HoldOp, ws::StampsOp, ws::RoleOp, ws::SetupOp>(
            op)) {
      continue;
    }
    if (failed(lower(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult InstructionLowering::lowerBlock(Block &block, OpBuilder &at) {
  return lowerOps(llvm::make_range(block.begin(), block.end()), at);
}

LogicalResult
InstructionLowering::lowerOps(llvm::iterator_range<Block::iterator> ops,
                              OpBuilder &at) {
  OpBuilder *outer = builder;
  builder = &at;
  for (Operation &op : ops) {
    if (!isa<scf::YieldOp>(op) && failed(lower(&op))) {
      return failure();
    }
  }
  builder = outer ? outer : &at;
  return success();
}

LogicalResult InstructionLowering::lower(Operation *op) {
  loc = op->getLoc();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ws::WorkLoopOp op) { return lowerWorkLoop(op); })
      .Case([&](scf::ForOp op) { return lowerFor(op); })
      .Case([&](scf::IfOp op) { return lowerIf(op); })
      .Case([&](tile::BoundsOp op) { return lowerBounds(op); })
      .Case([&](ws::MmaOp op) { return lowerMma(op); })
      .Case([&](ws::AwaitOp op) { return lowerAwait(op); })
      .Case([&](tile::NextWorkOp op) { return lowerNextWork(op), success(); })
      .Case([&](ws::PutWorkOp op) { return lowerPutWork(op), success(); })
      .Case([&](ws::GetWorkOp op) { return lowerGetWork(op), success(); })
      .Case([&](ws::FetchWorkOp op) { return lowerFetchWork(op), success(); })
      .Case([&](ws::StampOp op) { return lowerStamp(op), success(); })
      .Case([&](ws::CopyOp op) { return lowerCopy(op), success(); })
      .Case([&](ws::StoreOp op) { return lowerStore(op), success(); })
      .Case([&](ws::PutOp op) { return lowerPut(op), success(); })
      .Case([&](tile::StoreRowOp op) { return lowerStoreRow(op), success(); })
      .Case([&](tile::StoreRegOp op) { return lowerStoreReg(op), success(); })
      .Case([&](tile::ReduceAddOp op) { return lowerReduceAdd(op), success(); })
      .Case([&](tile::LoadOp op) { return lowerLoad(op), success(); })
      .Case([&](tile::LoadRowOp op) { return lowerLoadRow(op), success(); })
      .Case([&](tile::GatherOp op) { return lowerGather(op), success(); })
      .Case([&](ws::SlotAtOp) { return success(); })
      .Case([&](tensor::DimOp) { return success(); })
      .Case([&](tile::IsRedoOp op) { return lowerIsRedo(op), success(); })
      .Case([&](tile::JoinOp op) { return lowerJoin(op), success(); })
      .Default([&](Operation *op) { return lowerToValues(op); });
}

LogicalResult InstructionLowering::lowerToValues(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::CutOp op) {
        values.map(op.getWhole(), cutParam(0));
        values.map(op.getParts(), cutParam(1));
        return success();
      })
      .Case([&](tile::PartOfOp op) {
        Part part = partOf(op.getWork());
        values.map(op.getPart(), part.part);
        values.map(op.getIsPart(), part.isPart);
        return success();
      })
      .Case([&](ws::VerdictSlotOp op) {
        values.map(op.getSlot(), verdictSlots.lookup(op.getWork()));
        return success();
      })
      .Case([&](ws::RunAgainOp op) {
        scf::ConditionOp::create(*builder, loc, values.lookup(op.getAgain()),
                                 ValueRange());
        return success();
      })
      .Case([&](tile::CoordsOfOp op) {
        for (auto [result, value] :
             llvm::zip(op->getResults(), works[op.getWork()])) {
          values.map(result, value);
        }
        return success();
      })
      .Case([&](LLVM::AllocaOp op) {
        // Counters become registers: they must stand in the entry block.
        OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
        Value one = arith::ConstantIntOp::create(entry, loc, 1, 32);
        values.map(op.getResult(),
                   LLVM::AllocaOp::create(entry, loc, op.getType(),
                                          op.getElemType(), one));
        return success();
      })
      .Case([&](ws::SmemOp op) {
        Value address = smemAddress(values.lookup(op.getOffset()));
        values.map(op.getAddress(), sharedPointer(address));
        return success();
      })
      .Case([&](arith::DivUIOp op) {
        auto known = divisors.find(values.lookup(op.getRhs()));
        if (known == divisors.end()) {
          builder->clone(*op, values);
        } else {
          values.map(
              op.getResult(),
              known->second.divide(*builder, loc, values.lookup(op.getLhs()))
                  .first);
        }
        return success();
      })
      .Case([&](arith::IndexCastOp op) -> LogicalResult {
        auto dim = op.getIn().getDefiningOp<tensor::DimOp>();
        if (!dim) {
          builder->clone(*op, values);
          return success();
        }
        values.map(op.getOut(), paramOf(Param::Dim, dim.getSource(),
                                        *dim.getConstantIndex()));
        return success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (isa_and_nonnull<ws::WsDialect, tile::TileDialect,
                            tensor::TensorDialect>(op->getDialect())) {
          return op->emitOpError("attn-lower-to-nvvm: no lowering for this op");
        }
        builder->clone(*op, values);
        return success();
      });
}
