// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;

AffineMap AccessMap::build(MLIRContext *context) const {
  SmallVector<AffineExpr> coordinates;
  for (unsigned i = 0; i < order.size(); ++i) {
    coordinates.push_back(getAffineDimExpr(i, context));
  }
  if (packedHeads > 1) {
    AffineExpr row = coordinates[Position];
    coordinates[Head] =
        coordinates[Head] * packedHeads + row % rowsOfPosition();
    coordinates[Position] = row.floorDiv(rowsOfPosition());
  }
  SmallVector<AffineExpr> results;
  for (unsigned coordinate : order) {
    results.push_back(coordinates[coordinate]);
  }
  return AffineMap::get(order.size(), 0, results, context);
}

/// Returns the coordinate that a result represents, from its operands.
static unsigned coordinateOf(AffineExpr result) {
  for (unsigned i : {AccessMap::Head, AccessMap::Position, AccessMap::Batch}) {
    if (result.isFunctionOfDim(i)) {
      return i;
    }
  }
  return AccessMap::Dim;
}

std::optional<AccessMap> AccessMap::parse(AffineMap map) {
  AccessMap access;
  if (map.getNumDims() != access.order.size() || map.getNumSymbols() != 0 ||
      map.getNumResults() != access.order.size()) {
    return std::nullopt;
  }
  for (auto [coordinate, result] : llvm::zip(access.order, map.getResults())) {
    coordinate = coordinateOf(result);
  }
  for (unsigned coordinate : {Batch, Head, Position}) {
    if (!llvm::is_contained(access.order, coordinate)) {
      return std::nullopt;
    }
  }
  if (access.order.back() != Dim) {
    return std::nullopt;
  }
  for (int64_t heads = 1; heads <= mostPackedHeads; ++heads) {
    access.packedHeads = heads;
    if (access.build(map.getContext()) == map) {
      return access;
    }
  }
  return std::nullopt;
}
