// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ops/umma_op.h"

#include "hazards/rules.h"
#include "ops/tcgen05.h"

using namespace attn::sim;

TensorFacts UmmaOp::facts() const {
  TensorFacts facts;
  facts.name = "mma";
  facts.form = "m" + std::to_string(spec.m) + "n" + std::to_string(spec.n) +
               (isAInTensor ? ", A in tensor memory" : ", A in shared memory") +
               (group == 2 ? ", of a pair" : "");
  facts.size = spec.n;
  facts.shared = b.descriptor.start;
  facts.writes = writes();
  if (spec.accumulate) {
    facts.reads.push_back(facts.writes);
  }
  if (isAInTensor) {
    facts.reads.push_back(readsOfA());
  }
  if (spec.scaling.count) {
    facts.reads.push_back(readsOfScalesOfA());
    facts.reads.push_back(readsOfScalesOfB());
  }
  return facts;
}

bool UmmaOp::fetchA(Cta &cta, uint32_t part, uint8_t *to) const {
  if (!isAInTensor) {
    return fetchUmmaOperand(a, cta.sharedView(), to);
  }
  TensorUnit &unit = cta.inFlight.tensorUnit();
  for (uint32_t row = 0; row < rows(); ++row) {
    uint32_t lane = laneOf(row / kUmmaBlockRows, part) + row % kUmmaBlockRows;
    for (uint32_t i = 0; i < kColumnsOfA; ++i) {
      std::memcpy(to + row * 32 + i * 4, unit.column(aPlace.column + i) + lane,
                  4);
    }
  }
  unpackContainers(spec.a, to, rows() * 32);
  return true;
}

bool UmmaOp::fetchB(Cta &cta, uint8_t *to) const {
  bool isInside = true;
  forGroup(cta, group, [&](Cta &from, uint32_t side) {
    isInside &=
        fetchUmmaOperand(b, from.sharedView(), to + size_t(side) * b.rows * 32);
  });
  return isInside;
}

/// A part of D of one CTA of the pair.
void UmmaOp::multiply(TensorUnit &unit, uint32_t side, uint32_t part,
                      const uint8_t *rowsOfA, const uint8_t *columnsOfB) const {
  UmmaSpec own = spec;
  own.n = spec.n / parts();
  for (uint32_t first = 0; first < rows(); first += kUmmaRows) {
    UmmaAccumulator to;
    to.stride = kTmemLanes;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t lane = laneOf(first / kUmmaBlockRows + i, part);
      uint32_t word = disabled[side * kMaskWords + lane / 32];
      to.blocks[i] = unit.column(d.column) + lane;
      to.disabled[i] = word >> lane % 32 & 0xffff;
    }
    umma(own, rowsOfA + size_t(first) * 32,
         columnsOfB + size_t(part) * own.n * 32, to);
  }
}

/// The scales of the rows or columns from `first` on, four bytes each, as the
/// quadrant of `lane` has them.
static void fetchScales(TensorUnit &unit, TmemPlace place, uint32_t id,
                        uint32_t lane, uint32_t first, uint32_t count,
                        uint8_t *to) {
  uint32_t quadrant = lane / kTmemQuadrant * kTmemQuadrant;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t at = first + i;
    uint32_t word =
        unit.column(place.column +
                    at / kTmemQuadrant)[quadrant + at % kTmemQuadrant] >>
        8 * id;
    std::memcpy(to + i * sizeof(word), &word, sizeof(word));
  }
}

/// Multiplies with scales, 16 rows at a time.
void UmmaOp::multiplyScaled(TensorUnit &unit, uint32_t part,
                            const uint8_t *rowsOfA,
                            const uint8_t *columnsOfB) const {
  UmmaSpec own = spec;
  own.n = spec.n / parts();
  uint8_t scalesOfRows[kUmmaBlockRows * 4];
  uint8_t scalesOfColumns[kMaxWgmmaN * 4];
  for (uint32_t first = 0; first < rows(); first += kUmmaBlockRows) {
    uint32_t lane = laneOf(first / kUmmaBlockRows, part);
    fetchScales(unit, scalesOfA, spec.scaling.idA, lane, first, kUmmaBlockRows,
                scalesOfRows);
    fetchScales(unit, scalesOfB, spec.scaling.idB, lane, 0, own.n,
                scalesOfColumns);
    scaledUmma(own, rowsOfA + size_t(first) * 32,
               columnsOfB + size_t(part) * own.n * 32, scalesOfRows,
               scalesOfColumns, unit.column(d.column) + lane, kTmemLanes);
  }
}

std::string UmmaOp::complete(Cta &cta) {
  std::string problem = checkGroupRuns(cta, group);
  if (!problem.empty()) {
    return problem;
  }
  uint8_t columns[kMaxWgmmaN * 32];
  bool isInside = fetchB(cta, columns);
  forGroup(cta, group, [&](Cta &own, uint32_t side) {
    for (uint32_t part = 0; isInside && part < parts(); ++part) {
      uint8_t rowsOfA[kTmemLanes * 32];
      isInside = fetchA(own, part, rowsOfA);
      TensorUnit &unit = own.inFlight.tensorUnit();
      spec.scaling.count ? multiplyScaled(unit, part, rowsOfA, columns)
                         : multiply(unit, side, part, rowsOfA, columns);
    }
  });
  return isInside
             ? ""
             : "an operand leaves shared memory" + ruleSuffix(Rule::UmmaBounds);
}
