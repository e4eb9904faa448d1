// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/codegen/launch/StampLayout.h"
#include "attn/dialect/Chip.h"
#include "attn/dialect/OwnedSide.h"
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

namespace {

/// How a kernel's chip lays out the values of a join.
class JoinedValues {
public:
  static FailureOr<JoinedValues> of(ws::KernelOp kernel, tile::JoinOp join);

  /// Returns the distance of the row of each of a thread's elements from the
  /// thread's first row, of all values in order.
  FailureOr<SmallVector<int64_t>> rowOffsets() const;

  int64_t rowsOfWarp, lanes;

private:
  JoinedValues(const Chip &chip, tile::JoinOp join, MachineAttr machine)
      : rowsOfWarp(machine.getTiles().getRows() /
                   machine.getWarps().getGroup()),
        lanes(machine.getWarps().getLanes()), chip(chip), join(join) {}
  FailureOr<tile::LayoutAttr> layoutOf(int64_t elements) const;

  const Chip &chip;
  // Getters of ops are not const.
  mutable tile::JoinOp join;
};

} // namespace

FailureOr<JoinedValues> JoinedValues::of(ws::KernelOp kernel,
                                         tile::JoinOp join) {
  auto error = [&] { return join.emitOpError("attn-lower-to-nvvm: "); };
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(), error);
  if (failed(machine)) {
    return failure();
  }
  const Chip *chip = findChip(kernel.getContext(), machine->getChipName());
  if (!chip || !machine->getTiles()) {
    return error() << "expected a machine with a lowering, got '"
                   << kernel.getMachine() << "'";
  }
  return JoinedValues(*chip, join, *machine);
}

/// Returns the layout of a value with so many elements for each thread: of a
/// vector of rows, or of a tile with those rows.
FailureOr<tile::LayoutAttr> JoinedValues::layoutOf(int64_t elements) const {
  auto error = [&] { return join.emitOpError("attn-lower-to-nvvm: "); };
  auto f32 = Float32Type::get(join.getContext());
  int64_t rows = rowsOfWarp * join->getParentOfType<ws::RoleOp>().getWarps();
  FailureOr<tile::LayoutAttr> vector =
      chip.vectorLayout(RankedTensorType::get({rows}, f32), /*dim=*/1, error);
  if (failed(vector) || vector->getElementsPerThread() == elements) {
    return vector;
  }
  int64_t columns = elements * lanes / rowsOfWarp;
  return chip.accumulatorLayout(RankedTensorType::get({rows, columns}, f32),
                                error);
}

FailureOr<SmallVector<int64_t>> JoinedValues::rowOffsets() const {
  SmallVector<int64_t> offsets;
  for (Type type : join.getValues().getTypes()) {
    int64_t elements = cast<VectorType>(type).getNumElements();
    FailureOr<tile::LayoutAttr> layout = layoutOf(elements);
    if (failed(layout)) {
      return failure();
    }
    for (int64_t i = 0; i < elements; ++i) {
      offsets.push_back(layout->getOffsetAlong(0, i));
    }
  }
  return offsets;
}

bool JoinLayout::isIn(ws::KernelOp kernel) { return bool(joinOf(kernel)); }

FailureOr<JoinLayout> JoinLayout::of(ws::KernelOp kernel) {
  tile::JoinOp join = joinOf(kernel);
  FailureOr<JoinedValues> values = JoinedValues::of(kernel, join);
  if (failed(values)) {
    return failure();
  }
  FailureOr<SmallVector<int64_t>> offsets = values->rowOffsets();
  if (failed(offsets)) {
    return failure();
  }
  // Rows are queries, or keys.
  int64_t rows = ownsKeys(kernel.getProblem().getKind())
                     ? kernel.getConfig().getTileM()
                     : std::max<int64_t>(1, QueryRows::of(kernel).inTile());
  JoinLayout layout;
  layout.warps = std::min<int64_t>(warpsOf(join),
                                   llvm::divideCeil(rows, values->rowsOfWarp));
  layout.isWhole = layout.warps == warpsOf(join);
  for (auto [i, offset] : llvm::enumerate(*offsets)) {
    if (offset < rows) {
      layout.kept.push_back(i);
    }
  }
  std::optional<StampLayout> stamps = StampLayout::of(kernel);
  layout.values = stamps ? llvm::alignTo(stamps->end(), alignment) : countsEnd;
  return layout;
}

int64_t JoinLayout::partsAtOnce(int64_t registers) const {
  return isWhole ? 1 : std::clamp<int64_t>(registers / kept.size(), 1, 8);
}
