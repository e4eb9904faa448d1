// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StampWriter.h"
#include "InstructionPatterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static Value load(OpBuilder &builder, Location loc, Value variable) {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), variable);
}

StampWriter::StampWriter(ws::KernelOp kernel, const ParamValues &params)
    : layout(StampLayout::of(kernel)) {
  if (!layout) {
    return;
  }
  workspace = params.workspace();
  sharedCursors =
      static_cast<int64_t>(*kernel.getSmemBytes()) - layout->sharedBytes();
  OpBuilder builder(kernel);
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    builder.setInsertionPointToStart(&role.getBody().front());
    begin(builder, role);
    builder.setInsertionPointToEnd(&role.getBody().front());
    end(builder, role);
  }
}

Value StampWriter::cursorOf(OpBuilder &builder, Location loc,
                            ws::RoleOp role) const {
  if (Value cursor = cursors.lookup(role)) {
    return cursor;
  }
  Arithmetic emit{builder, loc};
  int64_t offset = sharedCursors + StampLayout::cursorBytes *
                                       StampLayout::firstInstanceOf(role);
  return sharedPointer(builder, loc,
                       smemAddress(builder, loc, emit.constant(offset)));
}

/// Returns the number of this replica's ring, or -1 in a thread that writes no
/// stamps.
Value StampWriter::ringOf(OpBuilder &builder, ws::RoleOp role) const {
  Location loc = role.getLoc();
  Arithmetic emit{builder, loc};
  Type i32 = builder.getI32Type();
  Value cta = NVVM::BlockIdXOp::create(builder, loc, i32);
  Value ctas = NVVM::GridDimXOp::create(builder, loc, i32);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        cta, emit.constant(layout->ctas));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       emit.add(cta, 1), ctas);
  Value writes = arith::OrIOp::create(builder, loc, isFirst, isLast);
  if (!role.isSingleThread()) {
    Value isZero = emit.isFirstOf(warpThreads * role.getWarps());
    writes = arith::AndIOp::create(builder, loc, writes, isZero);
  }
  Value recorded = arith::SelectOp::create(builder, loc, isFirst, cta,
                                           emit.constant(layout->ctas));
  Value instance = emit.add(role.getBody().getArgument(0),
                            StampLayout::firstInstanceOf(role));
  Value ring = emit.add(emit.mul(recorded, layout->instances), instance);
  return arith::SelectOp::create(builder, loc, writes, ring, emit.constant(-1));
}

/// Writes one half of a ring's header; the hardware provides the time.
void StampWriter::writeHeader(OpBuilder &builder, Location loc, Value ring,
                              int64_t half, Value word) const {
  Arithmetic emit{builder, loc};
  Type i32 = builder.getI32Type();
  Value isKept = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                       ring, emit.constant(0));
  auto branch =
      scf::IfOp::create(builder, loc, isKept, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value clock = NVVM::ClockOp::create(builder, loc, i32);
  Value time = NVVM::GlobalTimerOp::create(builder, loc, builder.getI64Type());
  Value low = arith::TruncIOp::create(builder, loc, i32, time);
  Value shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
  Value upper = arith::ShRUIOp::create(builder, loc, time, shift);
  Value high = arith::TruncIOp::create(builder, loc, i32, upper);
  Value words =
      vector::FromElementsOp::create(builder, loc, VectorType::get(4, i32),
                                     ValueRange{clock, word, low, high});
  Value at = emit.add(emit.mul(ring, StampLayout::headerBytes),
                      layout->offset + half * StampLayout::headerBytes / 2);
  Value pointer = LLVM::GEPOp::create(builder, loc, workspace.getType(),
                                      builder.getI8Type(), workspace, at);
  LLVM::StoreOp::create(builder, loc, words, pointer, 16);
}

void StampWriter::begin(OpBuilder &builder, ws::RoleOp role) {
  Location loc = role.getLoc();
  Arithmetic emit{builder, loc};
  if (!role.isSingleThread()) {
    auto ptr = LLVM::LLVMPointerType::get(builder.getContext());
    cursors[role] = LLVM::AllocaOp::create(
        builder, loc, ptr, builder.getI32Type(), emit.constant(1));
  }
  Value ring = ringOf(builder, role);
  Value isKept = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                       ring, emit.constant(0));
  Value first =
      emit.add(emit.mul(ring, StampLayout::eventBytes), layout->first());
  Value start = arith::SelectOp::create(builder, loc, isKept, first,
                                        emit.constant(INT32_MIN));
  LLVM::StoreOp::create(builder, loc, start, cursorOf(builder, loc, role));
  Value sm = NVVM::SmIdOp::create(builder, loc, builder.getI32Type());
  writeHeader(builder, loc, ring, 0, sm);
}

/// The ring is computed from the cursor, so that no register has to hold it.
void StampWriter::end(OpBuilder &builder, ws::RoleOp role) const {
  Location loc = role.getLoc();
  Arithmetic emit{builder, loc};
  Value last = load(builder, loc, cursorOf(builder, loc, role));
  Value isKept = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                       last, emit.constant(0));
  Value bytes = emit.sub(last, emit.constant(layout->first()));
  Value stride = emit.constant(layout->stride());
  Value count = arith::DivUIOp::create(builder, loc, bytes, stride);
  Value inRow = arith::RemUIOp::create(builder, loc, bytes, stride);
  Value ring = arith::DivUIOp::create(builder, loc, inRow,
                                      emit.constant(StampLayout::eventBytes));
  ring = arith::SelectOp::create(builder, loc, isKept, ring, emit.constant(-1));
  writeHeader(builder, loc, ring, 1, count);
}

void StampWriter::write(OpBuilder &builder, ws::StampOp stamp) const {
  Location loc = stamp.getLoc();
  Value variable = cursorOf(builder, loc, stamp->getParentOfType<ws::RoleOp>());
  Value next =
      nvx::StampOp::create(builder, loc, builder.getI32Type(), workspace,
                           load(builder, loc, variable), layout->idOf(stamp),
                           layout->end(), layout->stride());
  LLVM::StoreOp::create(builder, loc, next, variable);
}

namespace {
struct StampPattern : OpConversionPattern<ws::StampOp> {
  StampPattern(const TypeConverter &types, MLIRContext *context,
               const StampWriter &stamps)
      : OpConversionPattern(types, context), stamps(stamps) {}

  LogicalResult
  matchAndRewrite(ws::StampOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    stamps.write(rewriter, op);
    rewriter.eraseOp(op);
    return success();
  }

private:
  const StampWriter &stamps;
};
} // namespace

void codegen::populateStampPatterns(RewritePatternSet &patterns,
                                    const TypeConverter &types,
                                    const StampWriter &stamps) {
  patterns.add<StampPattern>(types, patterns.getContext(), stamps);
}
