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
  SmallVector<Value> load(Value values) const;
  SmallVector<Value> elementsOf(ValueRange vectors) const;
  SmallVector<Value> vectorsOf(TypeRange types, ArrayRef<Value> elements) const;
  Value isUsed() const;
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

SmallVector<Value> JoinSpace::elementsOf(ValueRange vectors) const {
  SmallVector<Value> elements;
  for (Value vector : vectors) {
    int64_t size = cast<VectorType>(vector.getType()).getNumElements();
    for (int64_t i = 0; i < size; ++i) {
      elements.push_back(element(vector, i));
    }
  }
  return elements;
}

SmallVector<Value> JoinSpace::vectorsOf(TypeRange types,
                                        ArrayRef<Value> elements) const {
  SmallVector<Value> vectors;
  for (Type type : types) {
    auto vector = cast<VectorType>(type);
    vectors.push_back(vector::FromElementsOp::create(
        builder, loc, vector, elements.take_front(vector.getNumElements())));
    elements = elements.drop_front(vector.getNumElements());
  }
  return vectors;
}

/// Whether this thread's warp has rows with queries.
Value JoinSpace::isUsed() const {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                               constant(layout.warps * warpThreads));
}

void JoinSpace::handOver(ValueRange own, Value values, Value count) const {
  SmallVector<Value> all = elementsOf(own), elements;
  for (size_t i : layout.kept) {
    elements.push_back(all[i]);
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

/// Loads the elements that a part has handed over.
SmallVector<Value> JoinSpace::load(Value values) const {
  auto four = VectorType::get(JoinLayout::vectorElements, builder.getF32Type());
  SmallVector<Value> elements;
  for (size_t i = 0; i < layout.kept.size(); i += JoinLayout::vectorElements) {
    int64_t offset = i / JoinLayout::vectorElements * layout.stride();
    Value loaded =
        LLVM::LoadOp::create(builder, loc, four, at(values, constant(offset)),
                             JoinLayout::vectorBytes);
    for (int64_t e = 0; e < JoinLayout::vectorElements; ++e) {
      elements.push_back(element(loaded, e));
    }
  }
  elements.truncate(layout.kept.size());
  return elements;
}

namespace {

struct JoinPattern : OpConversionPattern<tile::JoinOp> {
  JoinPattern(const TypeConverter &types, MLIRContext *context,
              const ParamValues &params, const JoinLayout &layout,
              int64_t registers)
      : OpConversionPattern(types, context), params(params), layout(layout),
        partsAtOnce(layout.partsAtOnce(registers)) {}

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
    Value isJoined = at.getIsPart();
    if (!layout.isWhole) {
      isJoined = arith::AndIOp::create(rewriter, loc, isJoined, space.isUsed());
    }
    auto ifPart = scf::IfOp::create(rewriter, loc, op.getResultTypes(),
                                    isJoined, /*withElseRegion=*/true);
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
  /// one. Several parts are loaded at a time, so that their latencies overlap.
  SmallVector<Value> merge(tile::JoinOp op, OpAdaptor adaptor,
                           const JoinSpace &space,
                           ConversionPatternRewriter &rewriter) const {
    Location loc = op.getLoc();
    auto at = tile::PartOfOp::create(rewriter, loc, op.getWork());
    Value parts = adaptor.getParts();
    Value others =
        arith::SubIOp::create(rewriter, loc, parts, space.constant(1));
    space.awaitParts(others, space.count(at.getItem()));
    auto loop =
        scf::ForOp::create(rewriter, loc, space.constant(0), others,
                           space.constant(partsAtOnce), adaptor.getValues());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> merged(loop.getRegionIterArgs());
    SmallVector<Value> isThere;
    SmallVector<SmallVector<Value>> loaded;
    for (int64_t i = 0; i < partsAtOnce; ++i) {
      Value part = i == 0 ? loop.getInductionVar()
                          : space.add(loop.getInductionVar(), i);
      if (i > 0) {
        isThere.push_back(arith::CmpIOp::create(
            rewriter, loc, arith::CmpIPredicate::slt, part, others));
        part = arith::SelectOp::create(rewriter, loc, isThere.back(), part,
                                       loop.getInductionVar());
      }
      loaded.push_back(space.load(space.values(at.getItem(), part, parts)));
    }
    for (int64_t i = 0; i < partsAtOnce; ++i) {
      merged = mergePart(op, space, merged, loaded[i],
                         i == 0 ? Value() : isThere[i - 1], rewriter);
    }
    scf::YieldOp::create(rewriter, loc, merged);
    return loop.getResults();
  }

  /// Merges what a part has handed over, if it `isThere`. Elements that parts
  /// keep stay.
  static SmallVector<Value> mergePart(tile::JoinOp op, const JoinSpace &space,
                                      ArrayRef<Value> merged,
                                      ArrayRef<Value> loaded, Value isThere,
                                      ConversionPatternRewriter &rewriter) {
    Location loc = op.getLoc();
    SmallVector<Value> before = space.elementsOf(merged), theirs = before;
    for (auto [i, value] : llvm::zip(space.layout.kept, loaded)) {
      theirs[i] = value;
    }
    TypeRange types = op.getResultTypes();
    SmallVector<Value> both(merged);
    llvm::append_range(both, space.vectorsOf(types, theirs));
    IRMapping values;
    Block &body = op.getBody().front();
    values.map(body.getArguments(), both);
    for (Operation &inner : body.without_terminator()) {
      rewriter.clone(inner, values);
    }
    SmallVector<Value> yielded;
    for (Value value : body.getTerminator()->getOperands()) {
      yielded.push_back(values.lookupOrDefault(value));
    }
    SmallVector<Value> after = space.elementsOf(yielded), kept = before;
    for (size_t i : space.layout.kept) {
      kept[i] = isThere ? arith::SelectOp::create(rewriter, loc, isThere,
                                                  after[i], before[i])
                        : after[i];
    }
    return space.vectorsOf(types, kept);
  }

  const ParamValues &params;
  JoinLayout layout;
  int64_t partsAtOnce;
};

} // namespace

void codegen::populateJoinPatterns(RewritePatternSet &patterns,
                                   const TypeConverter &types,
                                   const ParamValues &params,
                                   const JoinLayout &join, int64_t registers) {
  patterns.add<JoinPattern>(types, patterns.getContext(), params, join,
                            registers);
}
