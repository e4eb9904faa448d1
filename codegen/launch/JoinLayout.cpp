// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/StampLayout.h"
#include "attn/dialect/Chip.h"
#include "attn/dialect/QueryRows.h"
#include "attn/passes/schedule/DataTables.h"

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

constexpr int64_t rowsOfWarp = 16, threadsOfWarp = 32;

/// Returns the chip of a kernel, or null.
static const Chip *chipOf(ws::KernelOp kernel) {
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(),
                    [&] { return kernel.emitOpError(); });
  return failed(machine)
             ? nullptr
             : findChip(kernel.getContext(), machine->getChipName());
}

/// Returns the layout of a value with so many elements for each thread: of a
/// vector of rows, or of a tile with those rows.
static FailureOr<tile::LayoutAttr> layoutOf(const Chip &chip, tile::JoinOp join,
                                            int64_t elements) {
  auto error = [&] { return join.emitOpError(); };
  auto f32 = Float32Type::get(join.getContext());
  int64_t rows = rowsOfWarp * join->getParentOfType<ws::RoleOp>().getWarps();
  FailureOr<tile::LayoutAttr> vector =
      chip.vectorLayout(RankedTensorType::get({rows}, f32), /*dim=*/1, error);
  if (failed(vector) || vector->getElementsPerThread() == elements) {
    return vector;
  }
  int64_t columns = elements * threadsOfWarp / rowsOfWarp;
  return chip.accumulatorLayout(RankedTensorType::get({rows, columns}, f32),
                                error);
}

/// Returns, for each of a thread's elements, the distance of its row from the
/// thread's first row; 0 where that is not known.
static SmallVector<int64_t> rowOffsets(ws::KernelOp kernel, tile::JoinOp join) {
  SmallVector<int64_t> offsets;
  const Chip *chip = chipOf(kernel);
  for (Type type : join.getValues().getTypes()) {
    int64_t elements = cast<VectorType>(type).getNumElements();
    FailureOr<tile::LayoutAttr> layout = failure();
    if (chip) {
      layout = layoutOf(*chip, join, elements);
    }
    for (int64_t i = 0; i < elements; ++i) {
      offsets.push_back(succeeded(layout) ? layout->getOffsetAlong(0, i) : 0);
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
  int64_t rows = std::max<int64_t>(1, QueryRows::of(kernel).inTile());
  JoinLayout layout;
  layout.warps =
      std::min<int64_t>(warpsOf(join), llvm::divideCeil(rows, rowsOfWarp));
  layout.isWhole = layout.warps == warpsOf(join);
  for (auto [i, offset] : llvm::enumerate(rowOffsets(kernel, join))) {
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
