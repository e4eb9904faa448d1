// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra of register layouts. In wgmma's accumulator thread t of 128
// holds, as its element r,
//   row = 16 (t / 32) + (t % 32) / 4 + 8 ((r / 2) % 2)
//   column = 8 (r / 4) + 2 (t % 4) + r % 2
// so a thread has two rows and two columns in each repeat. A row is in the four
// lanes of a quad, a column in eight lanes of each of the four warps. Operand A
// has the same elements, sixteen columns in each repeat, packed in pairs.
#include "attn/dialect/Tile.h"

using namespace mlir;
using namespace attn::tile;

namespace {
constexpr int64_t atomRows = 64;
constexpr int64_t threads = 128;
constexpr int64_t rowsPerThread = 2;
/// Values of `slice`.
enum Slice : int64_t { whole, rowVector, columnVector };
} // namespace

static int64_t columnsOf(LayoutAttr layout) {
  return layout.getRepeats() * (layout.getAtom() == Atom::WgmmaA ? 16 : 8);
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Atom atom, int64_t repeats, int64_t slice) {
  if (repeats < 1) { // C1
    return emitError() << "expected 'repeats' to be at least 1, got "
                       << repeats;
  }
  if (slice < whole || slice > columnVector) { // C2
    return emitError() << "expected 'slice' to be 0, 1 or 2, got " << slice;
  }
  if (slice != whole && atom != Atom::WgmmaAcc) { // C3
    return emitError() << "expected a vector of atom "
                       << stringifyAtom(Atom::WgmmaAcc) << ", got "
                       << stringifyAtom(atom);
  }
  if (slice == rowVector && repeats != 1) { // C4
    return emitError() << "expected a vector without columns to have 1 repeat, "
                          "got "
                       << repeats;
  }
  return success();
}

SmallVector<int64_t> LayoutAttr::getShape() const {
  switch (getSlice()) {
  case rowVector:
    return {atomRows};
  case columnVector:
    return {columnsOf(*this)};
  default:
    return {atomRows, columnsOf(*this)};
  }
}

std::optional<int64_t> LayoutAttr::getDroppedDim() const {
  return getSlice() == rowVector      ? std::optional<int64_t>(1)
         : getSlice() == columnVector ? std::optional<int64_t>(0)
                                      : std::nullopt;
}

LayoutAttr LayoutAttr::without(int64_t dim) const {
  return dim == 1 ? get(getContext(), Atom::WgmmaAcc, 1, rowVector)
                  : get(getContext(), Atom::WgmmaAcc, columnsOf(*this) / 8,
                        columnVector);
}

int64_t LayoutAttr::getElementsPerThread() const {
  switch (getSlice()) {
  case rowVector:
    return rowsPerThread;
  case columnVector:
    return 2 * getRepeats();
  default:
    return atomRows * columnsOf(*this) / threads;
  }
}

int64_t LayoutAttr::getIndexAlong(int64_t dim, int64_t element) const {
  if (getSlice() != whole) {
    return element;
  }
  return dim == 0 ? element / 2 % 2 : 2 * (element / 4) + element % 2;
}

int64_t LayoutAttr::getOffsetAlong(int64_t dim, int64_t element) const {
  int64_t index = getIndexAlong(dim, element);
  return dim == 0 ? 8 * index : 8 * (index / 2) + index % 2;
}
