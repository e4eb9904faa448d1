// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SharedMemory.h"
#include "attn/dialect/Nvx.h"

using namespace mlir;
using namespace attn;

std::string codegen::smemName(ws::KernelOp kernel) {
  return (kernel.getSymName() + "_smem").str();
}

void codegen::declareSmem(OpBuilder &builder, ws::KernelOp kernel) {
  LLVM::GlobalOp::create(builder, kernel.getLoc(),
                         LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         smemName(kernel), Attribute(), ws::tileAlignment,
                         /*addrSpace=*/3);
}

void codegen::takeSmemBases(ws::KernelOp kernel) {
  std::string name = smemName(kernel);
  kernel.walk([&](scf::ForOp loop) {
    OpBuilder builder = OpBuilder::atBlockBegin(loop.getBody());
    nvx::SmemBaseOp::create(builder, loop.getLoc(), builder.getI32Type(), name);
  });
}

/// Returns the address from the innermost loop around `block`; null outside
/// loops.
static Value baseOfLoop(Block *block) {
  for (Operation *op = block->getParentOp(); op; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto base = dyn_cast<nvx::SmemBaseOp>(loop.getBody()->front());
      if (base) {
        return base;
      }
    }
  }
  return {};
}

Value codegen::smemAddress(OpBuilder &builder, Location loc, Value offset) {
  Value base = baseOfLoop(builder.getBlock());
  if (!base) {
    auto kernel =
        builder.getBlock()->getParent()->getParentOfType<ws::KernelOp>();
    auto ptr = LLVM::LLVMPointerType::get(builder.getContext(), 3);
    Value variable =
        LLVM::AddressOfOp::create(builder, loc, ptr, smemName(kernel));
    base =
        LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), variable);
  }
  return arith::AddIOp::create(builder, loc, base, offset);
}

Value codegen::pieceOffset(const Arithmetic &emit, ws::HoldOp hold,
                           Value piece) {
  return emit.add(emit.mul(piece, hold.getPieceBytes()), *hold.getOffset());
}

Value codegen::sharedPointer(OpBuilder &builder, Location loc, Value address) {
  auto ptr = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  return LLVM::IntToPtrOp::create(builder, loc, ptr, address);
}
