// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/StampLayout.h"
#include "attn/dialect/QueryRows.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static tile::JoinOp joinOf(ws::KernelOp kernel) {
  tile::JoinOp found;
  kernel.walk([&](tile::JoinOp join) { found = join; });
  return found;
}

static int64_t warpsOf(tile::JoinOp join) {
  auto role = join->getParentOfType<ws::RoleOp>();
  return role.getWarps() * role.getReplicas();
}

/// Returns, for each of a thread's elements, the distance of its row from the
/// thread's first row.
static SmallVector<int64_t> rowOffsets(tile::JoinOp join) {
  SmallVector<int64_t> offsets;
  for (Type type : join.getValues().getTypes()) {
    int64_t elements = cast<VectorType>(type).getNumElements();
    auto tile = tile::LayoutAttr::get(join.getContext(), tile::Atom::WgmmaAcc,
                                      std::max<int64_t>(1, elements / 4), 0);
    tile::LayoutAttr vector = tile.without(1);
    tile::LayoutAttr layout =
        elements == vector.getElementsPerThread() ? vector : tile;
    for (int64_t i = 0; i < elements; ++i) {
      offsets.push_back(layout.getOffsetAlong(0, i));
    }
  }
  return offsets;
}

bool JoinLayout::isIn(ws::KernelOp kernel) { return bool(joinOf(kernel)); }

std::optional<JoinLayout> JoinLayout::of(ws::KernelOp kernel) {
  tile::JoinOp join = joinOf(kernel);
  if (!join) {
    return std::nullopt;
  }
  constexpr int64_t rowsOfWarp = 16;
  int64_t rows = QueryRows::of(kernel).inTile();
  JoinLayout layout;
  layout.warps = std::min<int64_t>(warpsOf(join), llvm::divideCeil(rows, rowsOfWarp));
  layout.isWhole = layout.warps == warpsOf(join);
  for (auto [i, offset] : llvm::enumerate(rowOffsets(join))) {
    if (offset < rows) {
      layout.kept.push_back(i);
    }
  }
  std::optional<StampLayout> stamps = StampLayout::of(kernel);
  layout.values = stamps ? llvm::alignTo(stamps->end(), alignment) : countsEnd;
  return layout;
}

int64_t JoinLayout::partsAtOnce() const {
  constexpr int64_t registers = 144;
  return isWhole ? 1 : std::clamp<int64_t>(registers / kept.size(), 1, 8);
}
