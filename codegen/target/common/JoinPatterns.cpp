// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins the parts of work items. Each warp hands its values over to the same
// warp of the last part: each thread those of the corresponding thread, in
// order. Incrementing the count of parts that have handed over is a release,
// after all lanes have written; the last part acquires it before its lanes
// read.
#include "InstructionPatterns.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/StampLayout.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

/// One thread's share of the workspace.
namespace {
struct JoinSpace : Arithmetic {
  JoinLayout layout;
  Value workspace, thread; // the number of threads of the role

  Value at(Value base, Value bytes) const {
    return LLVM::GEPOp::create(builder, loc, base.getType(),
                               builder.getI8Type(), base, bytes);
  }
  scf::IfOp ifFirstLane() const {
    Value lane = bitAnd(thread, warpThreads - 1);
    return scf::IfOp::create(builder, loc, isEqual(lane, 0),
                             /*withElseRegion=*/false);
  }

  Value count(Value item) const;
  Value values(Value item, Value part, Value parts) const;
  void handOver(ValueRange own, Value values, Value count) const;
  void awaitParts(Value others, Value count) const;
  SmallVector<Value> load(TypeRange types, Value values) const;
};

} // namespace

Value JoinSpace::count(Value item) const {
  Value warp =
      arith::DivUIOp::create(builder, loc, thread, constant(warpThreads));
  Value number = add(mul(item, layout.warps), warp);
  Value bytes = mul(number, JoinLayout::countBytes);
  return at(workspace, add(bytes, JoinLayout::alignment));
}

/// Returns the address of this thread's first value of a part.
Value JoinSpace::values(Value item, Value part, Value parts) const {
  Value others = sub(parts, constant(1));
  Value number = add(mul(item, others), part);
  Type i64 = builder.getI64Type();
  Value wide = arith::ExtUIOp::create(builder, loc, i64, number);
  Value bytes = mul(
      wide, arith::ConstantIntOp::create(builder, loc, layout.partBytes(), 64));
  Value inPart = add(mul(thread, JoinLayout::vectorBytes), layout.values);
  return at(at(workspace, bytes), inPart);
}

void JoinSpace::handOver(ValueRange own, Value values, Value count) const {
  SmallVector<Value> elements;
  for (Value vector : own) {
    int64_t size = cast<VectorType>(vector.getType()).getNumElements();
    for (int64_t i = 0; i < size; ++i) {
      elements.push_back(element(vector, i));
    }
  }
  while (elements.size() % JoinLayout::vectorElements != 0) {
    elements.push_back(elements.back());
  }
  auto type = VectorType::get(JoinLayout::vectorElements, builder.getF32Type());
  for (size_t i = 0; i < elements.size(); i += JoinLayout::vectorElements) {
    Value four = vector::FromElementsOp::create(
        builder, loc, type,
        ArrayRef(elements).slice(i, JoinLayout::vectorElements));
    int64_t offset = i / JoinLayout::vectorElements * layout.stride();
    LLVM::StoreOp::create(builder, loc, four, at(values, constant(offset)),
                          JoinLayout::vectorBytes);
  }
  NVVM::SyncWarpOp::create(builder, loc, constant(-1));
  scf::IfOp branch = ifFirstLane();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  // NVPTX ignores the ordering of an atomicrmw.
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release, "device");
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add, count,
                            constant(1), LLVM::AtomicOrdering::monotonic,
                            "device");
}

/// Waits until `others` parts have handed over, and resets the count.
void JoinSpace::awaitParts(Value others, Value count) const {
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&loop.getBefore());
    Value seen = LLVM::LoadOp::create(
        builder, loc, builder.getI32Type(), count, JoinLayout::countBytes,
        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire, "device");
    Value missing = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, seen, others);
    scf::ConditionOp::create(builder, loc, missing, ValueRange());
    builder.createBlock(&loop.getAfter());
    scf::YieldOp::create(builder, loc);
  }
  NVVM::SyncWarpOp::create(builder, loc, constant(-1));
  scf::IfOp branch = ifFirstLane();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  LLVM::StoreOp::create(builder, loc, constant(0), count,
                        JoinLayout::countBytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::monotonic, "device");
}

SmallVector<Value> JoinSpace::load(TypeRange types, Value values) const {
  auto four = VectorType::get(JoinLayout::vectorElements, builder.getF32Type());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < layout.elements; i += JoinLayout::vectorElements) {
    int64_t offset = i / JoinLayout::vectorElements * layout.stride();
    Value loaded =
        LLVM::LoadOp::create(builder, loc, four, at(values, constant(offset)),
                             JoinLayout::vectorBytes);
    for (int64_t e = 0; e < JoinLayout::vectorElements; ++e) {
      elements.push_back(element(loaded, e));
    }
  }
  SmallVector<Value> vectors;
  ArrayRef<Value> left = elements;
  for (Type type : types) {
    auto vector = cast<VectorType>(type);
    vectors.push_back(vector::FromElementsOp::create(
        builder, loc, vector, left.take_front(vector.getNumElements())));
    left = left.drop_front(vector.getNumElements());
  }
  return vectors;
}

namespace {

struct JoinPattern : OpConversionPattern<tile::JoinOp> {
  JoinPattern(const TypeConverter &types, MLIRContext *context,
              const ParamValues &params, JoinLayout layout)
      : OpConversionPattern(types, context), params(params), layout(layout) {}

  LogicalResult
  matchAndRewrite(tile::JoinOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic emit{rewriter, loc};
    auto at = tile::PartOfOp::create(rewriter, loc, op.getWork());
    JoinSpace space{{rewriter, loc},
                    layout,
                    params.workspace(),
                    threadOf(op->getParentOfType<ws::RoleOp>(), emit)};
    auto ifPart = scf::IfOp::create(rewriter, loc, op.getResultTypes(),
                                    at.getIsPart(), /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(ifPart.elseBlock());
    scf::YieldOp::create(rewriter, loc, adaptor.getValues());
    rewriter.setInsertionPointToStart(ifPart.thenBlock());
    Value isLast =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                              emit.add(at.getPart(), 1), adaptor.getParts());
    auto ifLast = scf::IfOp::create(rewriter, loc, op.getResultTypes(), isLast,
                                    /*withElseRegion=*/true);
    scf::YieldOp::create(rewriter, loc, ifLast.getResults());
    rewriter.setInsertionPointToStart(ifLast.thenBlock());
    scf::YieldOp::create(rewriter, loc, merge(op, adaptor, space, rewriter));
    rewriter.setInsertionPointToStart(ifLast.elseBlock());
    space.handOver(adaptor.getValues(),
                   space.values(at.getItem(), at.getPart(), adaptor.getParts()),
                   space.count(at.getItem()));
    scf::YieldOp::create(rewriter, loc, adaptor.getValues());
    rewriter.replaceOp(op, ifPart);
    return success();
  }

private:
  /// Returns the number of this thread among the threads of all replicas.
  static Value threadOf(ws::RoleOp role, const Arithmetic &emit) {
    int64_t threads = role.getWarps() * warpThreads;
    Value before = emit.mul(role.getBody().getArgument(0), threads);
    return emit.add(before, emit.bitAnd(emit.thread(), threads - 1));
  }

  /// Merges the values of the other parts, in order, into the values of this
  /// one.
  static SmallVector<Value> merge(tile::JoinOp op, OpAdaptor adaptor,
                                  const JoinSpace &space,
                                  ConversionPatternRewriter &rewriter) {
    Location loc = op.getLoc();
    auto at = tile::PartOfOp::create(rewriter, loc, op.getWork());
    Value parts = adaptor.getParts();
    Value others =
        arith::SubIOp::create(rewriter, loc, parts, space.constant(1));
    space.awaitParts(others, space.count(at.getItem()));
    auto loop = scf::ForOp::create(rewriter, loc, space.constant(0), others,
                                   space.constant(1), adaptor.getValues());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> both(loop.getRegionIterArgs());
    Value theirs = space.values(at.getItem(), loop.getInductionVar(), parts);
    llvm::append_range(both, space.load(op.getResultTypes(), theirs));
    IRMapping values;
    Block &body = op.getBody().front();
    values.map(body.getArguments(), both);
    for (Operation &inner : body.without_terminator()) {
      rewriter.clone(inner, values);
    }
    SmallVector<Value> merged;
    for (Value value : body.getTerminator()->getOperands()) {
      merged.push_back(values.lookupOrDefault(value));
    }
    scf::YieldOp::create(rewriter, loc, merged);
    return loop.getResults();
  }

  const ParamValues &params;
  JoinLayout layout;
};

} // namespace

void codegen::populateJoinPatterns(RewritePatternSet &patterns,
                                   const TypeConverter &types,
                                   const ParamValues &params, JoinLayout join) {
  patterns.add<JoinPattern>(types, patterns.getContext(), params, join);
}
