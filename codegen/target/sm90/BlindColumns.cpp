// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BlindColumns.h"
#include "Patterns.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

namespace {

/// The tiles that ops on elements connect with each other, and how they come
/// from memory and go back.
class Connected {
public:
  /// Follows the tiles from one of them on. Returns whether no op tells their
  /// columns apart.
  bool follow(Value tile);

  void mark() const;

private:
  bool reach(Operation *op);
  bool addTiles(ValueRange values);

  llvm::SetVector<Value> tiles;
  SmallVector<tile::LoadOp> loads;
  SmallVector<tile::StoreRegOp> stores;
};

} // namespace

/// Adds the tiles among `values`. Returns whether all are tiles or numbers.
bool Connected::addTiles(ValueRange values) {
  for (Value value : values) {
    tile::LayoutAttr layout = layoutOf(value.getType());
    if (!layout) {
      continue;
    }
    if (layout.getDroppedDim()) {
      return false;
    }
    tiles.insert(value);
  }
  return true;
}

/// Looks at an op that makes or reads one of the tiles.
bool Connected::reach(Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    loads.push_back(load);
    return !load.getGrouped();
  }
  if (auto store = dyn_cast<tile::StoreRegOp>(op)) {
    stores.push_back(store);
    return true;
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    return reduce.getDim() == 1;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return isa<SplatElementsAttr>(constant.getValue());
  }
  return isa<tensor::SplatOp>(op) ||
         (OpTrait::hasElementwiseMappableTraits(op) &&
          addTiles(op->getOperands()) && addTiles(op->getResults()));
}

bool Connected::follow(Value tile) {
  tiles.insert(tile);
  for (size_t i = 0; i < tiles.size(); ++i) {
    Value value = tiles[i];
    Operation *maker = value.getDefiningOp();
    if (!maker || !reach(maker) ||
        !llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return reach(user); })) {
      return false;
    }
  }
  // What is loaded keeps its columns in memory if it is stored. Rows of one
  // type and length have the same order of columns.
  auto isLikeFirst = [&](tile::LoadOp load) {
    Type type = load.getSource().getType(),
         first = loads.front().getSource().getType();
    return getElementTypeOrSelf(type) == getElementTypeOrSelf(first) &&
           cast<ShapedType>(type).getShape().back() ==
               cast<ShapedType>(first).getShape().back();
  };
  return (loads.empty() || stores.empty()) && llvm::all_of(loads, isLikeFirst);
}

void Connected::mark() const {
  auto markAll = [](auto ops) {
    for (Operation *op : ops) {
      op->setAttr(sm90::anyColumnsAttr, UnitAttr::get(op->getContext()));
    }
  };
  markAll(loads);
  markAll(stores);
}

void sm90::markBlindColumns(ws::RoleOp role) {
  role.walk([](Operation *op) {
    Value tile;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      tile = load.getTile();
    } else if (auto store = dyn_cast<tile::StoreRegOp>(op)) {
      tile = store.getTile();
    }
    if (!tile || !layoutOf(tile.getType()) || op->hasAttr(anyColumnsAttr)) {
      return;
    }
    Connected connected;
    if (connected.follow(tile)) {
      connected.mark();
    }
  });
}
