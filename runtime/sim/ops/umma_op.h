// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tcgen05.mma between issue and completion.

#ifndef ATTN_SIM_OPS_UMMA_OP_H
#define ATTN_SIM_OPS_UMMA_OP_H

#include "core/tensor_unit.h"
#include "units/umma.h"

namespace attn::sim {

/// Of disable-output-lane, for each CTA.
constexpr uint32_t kMaskWords = kTmemLanes / 32;
/// Columns of A in tensor memory: 32 bytes a row.
constexpr uint32_t kColumnsOfA = 8;

/// An mma between issue and completion, of one CTA or of a pair. Each CTA has a
/// half of the rows of D and A, and of the columns of B.
struct UmmaOp final : TensorOp {
  UmmaSpec spec;
  unsigned group = 1;
  TmemPlace d = {0, 0};
  bool isAInTensor = false;
  TmemPlace aPlace = {0, 0};
  /// The scales of A's and B's blocks, if they have any.
  TmemPlace scalesOfA = {0, 0};
  TmemPlace scalesOfB = {0, 0};
  /// The part of A and B that one CTA has.
  MatrixOperand a;
  MatrixOperand b;
  /// Lanes of D that are not written, of one CTA and of the other.
  uint32_t disabled[2 * kMaskWords] = {};

  uint32_t rows() const { return spec.m / group; }
  /// A pair has 64 rows twice, each time for one half of the columns.
  uint32_t parts() const { return group == 2 && rows() == kUmmaRows ? 2 : 1; }
  /// The half quadrants of D and A: all, or one of each quadrant.
  uint32_t halves() const {
    bool isHalf = rows() < kTmemLanes && group == 1;
    return isHalf ? 0x55u << d.lane / kTmemHalf : 0xff;
  }
  TmemRegion writes() const override {
    return {halves(), d.column, spec.n / parts()};
  }
  TmemRegion readsOfA() const {
    return isAInTensor ? TmemRegion{halves(), aPlace.column, kColumnsOfA}
                       : TmemRegion{};
  }
  /// The scales of 32 rows, or columns of D, are a column; each quadrant has
  /// all of them.
  TmemRegion readsOfScales(TmemPlace place, uint32_t scaled) const {
    uint32_t columns = (scaled + kTmemQuadrant - 1) / kTmemQuadrant;
    return {scaled > kTmemHalf ? 0xffu : 0x55u, place.column, columns};
  }
  TmemRegion readsOfScalesOfA() const {
    return readsOfScales(scalesOfA, rows());
  }
  TmemRegion readsOfScalesOfB() const {
    return readsOfScales(scalesOfB, spec.n / parts());
  }
  /// The lane of the first of 16 rows.
  uint32_t laneOf(uint32_t block, uint32_t part) const {
    bool isHalf = rows() < kTmemLanes && group == 1;
    return isHalf ? d.lane + block * kTmemQuadrant
                  : part * kUmmaRows + block * kUmmaBlockRows;
  }

  TensorFacts facts() const override;
  std::string complete(Cta &cta) override;

private:
  bool fetchA(Cta &cta, uint32_t part, uint8_t *to) const;
  bool fetchB(Cta &cta, uint8_t *to) const;
  void multiply(TensorUnit &unit, uint32_t side, uint32_t part,
                const uint8_t *rowsOfA, const uint8_t *columnsOfB) const;
  void multiplyScaled(TensorUnit &unit, uint32_t part, const uint8_t *rowsOfA,
                      const uint8_t *columnsOfB) const;
};

} // namespace attn::sim

#endif // ATTN_SIM_OPS_UMMA_OP_H
