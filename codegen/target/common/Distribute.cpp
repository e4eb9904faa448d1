// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-distribute: tiles become the values that one thread of a warpgroup
// holds.
//
// In the accumulator's layout thread t holds, in register r, the element
//   row = 16 (t / 32) + (t % 32) / 4 + 8 ((r / 2) % 2)
//   column = 8 (r / 4) + 2 (t % 4) + r % 2
// so a thread has two rows, and a row lies in the four lanes of a quad. The
// A operand holds the same elements, packed in pairs.
#include "attn/codegen/target/Passes.h"

namespace attn::codegen {
#define GEN_PASS_DEF_DISTRIBUTE
#include "attn/codegen/target/Passes.h.inc"
} // namespace attn::codegen

using namespace mlir;
using namespace attn;

namespace {

constexpr int64_t threads = 128;
constexpr int64_t rowsPerThread = 2;

tile::LayoutAttr layoutOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<tile::LayoutAttr>(tensor.getEncoding())
                : tile::LayoutAttr();
}

/// Of elements that share a register.
bool isPacked(Type element) { return element.isBF16() || element.isF16(); }

/// What a thread holds of a tile; null for types that are not laid out.
Type distributedType(Type type) {
  tile::LayoutAttr layout = layoutOf(type);
  if (!layout) {
    return {};
  }
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (layout.getSlice() != 0) {
    return VectorType::get({rowsPerThread}, element);
  }
  int64_t elements = tensor.getNumElements() / threads;
  if (isPacked(element)) {
    return VectorType::get({elements / 2},
                           IntegerType::get(type.getContext(), 32));
  }
  return VectorType::get({elements}, element);
}

/// Row of register r among the two of a thread.
int64_t rowOfRegister(int64_t r) { return (r / 2) % 2; }

/// A packed tile: two 16-bit elements in a register.
bool isPackedTile(Type type) {
  tile::LayoutAttr layout = layoutOf(type);
  return layout && layout.getSlice() == 0 &&
         isPacked(getElementTypeOrSelf(type));
}

/// The shape that a layout gives a tile is the tile's.
LogicalResult checkLayout(Operation *op, Type type) {
  constexpr int64_t atomRows = 64;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    return success();
  }
  tile::LayoutAttr layout = layoutOf(tensor);
  if (!layout) {
    return op->emitOpError(
               "attn-distribute: expected a tile with a layout, got ")
           << tensor;
  }
  int64_t columns =
      layout.getRepeats() * (layout.getAtom() == tile::Atom::WgmmaA ? 16 : 8);
  bool fits = layout.getSlice() != 0
                  ? tensor.getShape() == ArrayRef<int64_t>{atomRows}
                  : tensor.getShape() == ArrayRef<int64_t>({atomRows, columns});
  if (!fits || columns < 1) {
    return op->emitOpError("attn-distribute: expected a tile of the shape of "
                           "its layout, got ")
           << tensor;
  }
  return success();
}

/// What has a lowering on tiles, of what takes part in a role.
LogicalResult checkOp(Operation *op) {
  auto unsupported = [&](const Twine &what) {
    return op->emitOpError("attn-distribute: no lowering for ") << what;
  };
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    if (reduce.getDim() != 1) {
      return op->emitOpError("attn-distribute: expected a reduction along "
                             "dimension 1, got ")
             << reduce.getDim();
    }
    if (!getElementTypeOrSelf(reduce.getSource().getType()).isF32()) {
      return unsupported("a reduction of ") << reduce.getSource().getType();
    }
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op);
      broadcast && broadcast.getDim() != 1) {
    return op->emitOpError("attn-distribute: expected a broadcast along "
                           "dimension 1, got ")
           << broadcast.getDim();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && layoutOf(constant.getType()) &&
      !isa<SplatElementsAttr>(constant.getValue())) {
    return op->emitOpError("attn-distribute: expected a splat constant");
  }
  Type dtype = op->getParentOfType<ws::KernelOp>().getProblem().getDtype();
  bool reads = isa<tile::ConvertLayoutOp, tile::StoreRegOp, ws::PutOp,
                   ws::MmaOp, scf::ForOp, scf::YieldOp>(op);
  for (Type type : op->getOperandTypes()) {
    if (isPackedTile(type) && !reads) {
      return unsupported("arithmetic on packed elements, ") << type;
    }
  }
  bool packs = isa<arith::TruncFOp, tile::ConvertLayoutOp, tile::LoadOp,
                   scf::IfOp, scf::ForOp>(op);
  for (Type type : op->getResultTypes()) {
    if (isPackedTile(type) && !packs) {
      return unsupported("arithmetic on packed elements, ") << type;
    }
    if (isPackedTile(type) && getElementTypeOrSelf(type) != dtype) {
      return op->emitOpError("attn-distribute: expected packed elements to be ")
             << dtype << ", got " << type;
    }
  }
  return success();
}

LogicalResult checkRole(ws::RoleOp role) {
  WalkResult result = role.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (failed(checkOp(op))) {
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes()) {
      if (failed(checkLayout(op, type))) {
        return WalkResult::interrupt();
      }
    }
    for (Region &region : op->getRegions()) {
      for (Type type : region.getArgumentTypes()) {
        if (failed(checkLayout(op, type))) {
          return WalkResult::interrupt();
        }
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

class Distributor {
public:
  Distributor(ws::KernelOp kernel, ws::RoleOp role)
      : kernel(kernel), role(role), builder(role) {}

  LogicalResult run();

private:
  void convertTypes(Operation *op);
  LogicalResult rewrite(Operation *op);
  Value rewriteSplat(tensor::SplatOp op);
  Value rewriteBroadcast(tile::BroadcastOp op);
  Value rewriteReduce(tile::ReduceOp op);
  Value rewriteComplete(tile::CompleteOp op);
  Value rewriteCoords(tile::CoordsOp op);
  Value rewriteAny(tile::AnyOp op);
  Value rewriteRound(tile::RoundOp op);
  FailureOr<Value> rewriteTruncate(arith::TruncFOp op);
  Value rewriteExp2(math::Exp2Op op);

  Value combine(tile::ReduceKind kind, Value a, Value b);
  Value reduceQuad(tile::ReduceKind kind, Value rows);
  Value bitcast(Value vector, Type element);
  Value slice(Value vector, int64_t offset, int64_t size);
  Value extract(Value vector, int64_t index) {
    return vector::ExtractOp::create(builder, loc, vector,
                                     ArrayRef<int64_t>{index});
  }
  Value pair(Value a, Value b) {
    auto type = VectorType::get({2}, a.getType());
    return vector::FromElementsOp::create(builder, loc, type, ValueRange{a, b});
  }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value lane();
  Value warp();
  Value threadId();

  ws::KernelOp kernel;
  ws::RoleOp role;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  Value tid, laneId, warpId;
};

Value Distributor::threadId() {
  if (!tid) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&role.getBody().front());
    tid =
        NVVM::ThreadIdXOp::create(builder, role.getLoc(), builder.getI32Type());
    laneId = arith::AndIOp::create(builder, role.getLoc(), tid, constant(31));
    Value shifted =
        arith::ShRUIOp::create(builder, role.getLoc(), tid, constant(5));
    warpId =
        arith::AndIOp::create(builder, role.getLoc(), shifted, constant(3));
  }
  return tid;
}
Value Distributor::lane() {
  threadId();
  return laneId;
}
Value Distributor::warp() {
  threadId();
  return warpId;
}

Value Distributor::slice(Value vector, int64_t offset, int64_t size) {
  return vector::ExtractStridedSliceOp::create(
      builder, loc, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{size},
      ArrayRef<int64_t>{1});
}

Value Distributor::combine(tile::ReduceKind kind, Value a, Value b) {
  switch (kind) {
  case tile::ReduceKind::Add:
    return arith::AddFOp::create(builder, loc, a, b);
  case tile::ReduceKind::Max:
    return arith::MaxNumFOp::create(builder, loc, a, b);
  case tile::ReduceKind::MaxFloored: // of bits
    return arith::MaxSIOp::create(builder, loc, a, b);
  }
  llvm_unreachable("unknown reduction");
}

/// Combines a per-row vector over the four lanes that hold a row.
Value Distributor::reduceQuad(tile::ReduceKind kind, Value rows) {
  SmallVector<Value> done;
  for (int64_t row = 0; row < rowsPerThread; ++row) {
    Value value = extract(rows, row);
    for (int64_t distance : {1, 2}) {
      Value other = NVVM::ShflOp::create(
          builder, loc, value.getType(), constant(-1), value,
          constant(distance), constant(31), NVVM::ShflKind::bfly, UnitAttr());
      value = combine(kind, value, other);
    }
    done.push_back(value);
  }
  return pair(done[0], done[1]);
}

Value Distributor::rewriteSplat(tensor::SplatOp op) {
  return vector::BroadcastOp::create(builder, loc, op.getResult().getType(),
                                     op.getInput());
}

Value Distributor::rewriteBroadcast(tile::BroadcastOp op) {
  auto type = cast<VectorType>(op.getResult().getType());
  SmallVector<int64_t> mask;
  for (int64_t r = 0; r < type.getNumElements(); ++r) {
    mask.push_back(rowOfRegister(r));
  }
  return vector::ShuffleOp::create(builder, loc, op.getSource(), op.getSource(),
                                   mask);
}

/// The elements as integers, which are ordered like floats that are not
/// negative; a negative one is below 0.
Value Distributor::bitcast(Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType()).clone(element);
  return vector::BitCastOp::create(builder, loc, type, vector);
}

Value Distributor::rewriteReduce(tile::ReduceOp op) {
  bool isFloored = op.getKind() == tile::ReduceKind::MaxFloored;
  Value source = op.getSource();
  if (isFloored) {
    source = bitcast(source, builder.getI32Type());
  }
  int64_t registers = cast<VectorType>(source.getType()).getNumElements();
  // Four chains, two a row: register r belongs to chain r % 4.
  Value chains = slice(source, 0, 4);
  for (int64_t r = 4; r < registers; r += 4) {
    chains = combine(op.getKind(), chains, slice(source, r, 4));
  }
  Value row0 = combine(op.getKind(), extract(chains, 0), extract(chains, 1));
  Value row1 = combine(op.getKind(), extract(chains, 2), extract(chains, 3));
  if (isFloored) {
    row0 = combine(op.getKind(), row0, constant(0));
    row1 = combine(op.getKind(), row1, constant(0));
  }
  Value rows = pair(row0, row1);
  if (!op.getPartial()) {
    rows = reduceQuad(op.getKind(), rows);
  }
  return isFloored ? bitcast(rows, builder.getF32Type()) : rows;
}

Value Distributor::rewriteComplete(tile::CompleteOp op) {
  return reduceQuad(tile::ReduceKind::Add, op.getSource());
}

Value Distributor::rewriteCoords(tile::CoordsOp op) {
  auto type = cast<VectorType>(op.getResult().getType());
  bool isRow = type.getNumElements() == rowsPerThread || op.getDim() == 0;
  SmallVector<int32_t> fixed;
  Value base;
  if (isRow) {
    Value row = arith::MulIOp::create(builder, loc, warp(), constant(16));
    Value quad = arith::ShRUIOp::create(builder, loc, lane(), constant(2));
    base = arith::AddIOp::create(builder, loc, row, quad);
    for (int64_t r = 0; r < type.getNumElements(); ++r) {
      bool whole = type.getNumElements() != rowsPerThread;
      fixed.push_back(8 * (whole ? rowOfRegister(r) : r));
    }
  } else {
    Value inQuad = arith::AndIOp::create(builder, loc, lane(), constant(3));
    base = arith::MulIOp::create(builder, loc, inQuad, constant(2));
    for (int64_t r = 0; r < type.getNumElements(); ++r) {
      fixed.push_back(8 * (r / 4) + r % 2);
    }
  }
  base = arith::AddIOp::create(builder, loc, base, op.getOffset());
  Value splat = vector::BroadcastOp::create(builder, loc, type, base);
  Value offsets = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(fixed)));
  return arith::AddIOp::create(builder, loc, splat, offsets);
}

Value Distributor::rewriteAny(tile::AnyOp op) {
  auto type = cast<VectorType>(op.getSource().getType());
  Value any = extract(op.getSource(), 0);
  for (int64_t i = 1; i < type.getNumElements(); ++i) {
    any = arith::OrIOp::create(builder, loc, any, extract(op.getSource(), i));
  }
  return NVVM::VoteSyncOp::create(builder, loc, builder.getI1Type(),
                                  constant(-1), any, NVVM::VoteSyncKind::any);
}

Value Distributor::rewriteRound(tile::RoundOp op) {
  Type type = op.getType(), narrow = op.getTo();
  if (auto vector = dyn_cast<VectorType>(type)) {
    narrow = vector.clone(narrow);
  }
  Value rounded = arith::TruncFOp::create(builder, loc, narrow, op.getSource());
  return arith::ExtFOp::create(builder, loc, type, rounded);
}

FailureOr<Value> Distributor::rewriteTruncate(arith::TruncFOp op) {
  if (!getElementTypeOrSelf(op.getOut().getType()).isInteger(32)) {
    return Value(); // a row vector is not packed
  }
  Type element = kernel.getProblem().getDtype();
  auto source = dyn_cast<VectorType>(op.getIn().getType());
  if (!source || source.getNumElements() % 2 != 0) {
    return op.emitOpError("attn-distribute: expected an even number of "
                          "elements a thread, got ")
           << op.getIn().getType();
  }
  return nvx::PackOp::create(builder, loc, op.getOut().getType(),
                             element.isF16() ? nvx::ElementType::F16
                                             : nvx::ElementType::BF16,
                             op.getIn())
      .getResult();
}

/// A share of the exponentials of a tile that may be approximated, those of the
/// softmax, goes to the FMA units: pairs of registers spread evenly, but none
/// of the last eighth, which gates what follows.
Value Distributor::rewriteExp2(math::Exp2Op op) {
  ScheduleAttr schedule = kernel.getSchedule();
  int64_t soft = schedule.getExp2SoftNumerator();
  int64_t of = schedule.getExp2SoftDenominator();
  int64_t registers =
      cast<VectorType>(op.getResult().getType()).getNumElements();
  bool isApproximate =
      arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
  if (soft == 0 || registers == rowsPerThread || !isApproximate) {
    return {};
  }
  int64_t usable = soft == of ? registers / 2 : registers / 2 * 7 / 8;
  int64_t wanted = std::min(usable, registers / 2 * soft / of);
  if (wanted == 0) {
    return {};
  }
  SmallVector<int64_t> onFma, onUnit;
  for (int64_t p = 0; p < registers / 2; ++p) {
    bool chosen =
        p < usable && (p + 1) * wanted / usable != p * wanted / usable;
    auto &list = chosen ? onFma : onUnit;
    list.append({2 * p, 2 * p + 1});
  }
  auto pick = [&](ArrayRef<int64_t> list) -> Value {
    return vector::ShuffleOp::create(builder, loc, op.getOperand(),
                                     op.getOperand(), list);
  };
  Value poly = nvx::Exp2PolyOp::create(
      builder, loc,
      VectorType::get({(int64_t)onFma.size()}, builder.getF32Type()),
      pick(onFma),
      builder.getI32IntegerAttr(kernel.getConfig().getExp2Degree()));
  if (onUnit.empty()) {
    return poly;
  }
  Value unit = math::Exp2Op::create(builder, loc, pick(onUnit));
  SmallVector<int64_t> merge(registers);
  for (auto [i, r] : llvm::enumerate(onFma)) {
    merge[r] = i;
  }
  for (auto [i, r] : llvm::enumerate(onUnit)) {
    merge[r] = onFma.size() + i;
  }
  return vector::ShuffleOp::create(builder, loc, poly, unit, merge);
}

void Distributor::convertTypes(Operation *op) {
  auto convert = [](Value value) {
    if (Type type = distributedType(value.getType())) {
      value.setType(type);
    }
  };
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), convert);
    }
  }
  llvm::for_each(op->getResults(), convert);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = dyn_cast<VectorType>(constant.getType());
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (type && splat && splat.getType() != type) {
      constant.setValueAttr(
          DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    }
  }
}

LogicalResult Distributor::rewrite(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  if (auto truncate = dyn_cast<arith::TruncFOp>(op);
      truncate && isa<VectorType>(op->getResult(0).getType())) {
    FailureOr<Value> packed = rewriteTruncate(truncate);
    if (failed(packed)) {
      return failure();
    }
    if (*packed) {
      op->getResult(0).replaceAllUsesWith(*packed);
      op->erase();
    }
    return success();
  }
  Value value =
      TypeSwitch<Operation *, Value>(op)
          .Case([&](tensor::SplatOp op) { return rewriteSplat(op); })
          .Case([&](tile::BroadcastOp op) { return rewriteBroadcast(op); })
          .Case([&](tile::ReduceOp op) { return rewriteReduce(op); })
          .Case([&](tile::CompleteOp op) { return rewriteComplete(op); })
          .Case([&](tile::CoordsOp op) { return rewriteCoords(op); })
          .Case([&](tile::AnyOp op) { return rewriteAny(op); })
          .Case([&](tile::RoundOp op) { return rewriteRound(op); })
          .Case([&](tile::ConvertLayoutOp op) { return op.getSource(); })
          .Case([&](math::Exp2Op op) {
            return isa<VectorType>(op.getType()) ? rewriteExp2(op) : Value();
          })
          .Default(Value());
  if (value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
  return success();
}

LogicalResult Distributor::run() {
  if (failed(checkRole(role))) {
    return failure();
  }
  SmallVector<Operation *> ops;
  role.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  llvm::for_each(ops, [&](Operation *op) { convertTypes(op); });
  for (Operation *op : ops) {
    if (failed(rewrite(op))) {
      return failure();
    }
  }
  return success();
}

/// What the pass ensures: no tile is left in a role.
LogicalResult checkNoTiles(ws::KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      if (tensor && tensor.hasStaticShape()) {
        op->emitOpError("attn-distribute: expected no tile to be left, got ")
            << tensor;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

class DistributePass
    : public attn::codegen::impl::DistributeBase<DistributePass> {
public:
  using DistributeBase::DistributeBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
        if (failed(Distributor(kernel, role).run())) {
          return signalPassFailure();
        }
      }
      if (failed(checkNoTiles(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
