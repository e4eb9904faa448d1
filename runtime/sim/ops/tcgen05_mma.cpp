// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.mma: one thread issues it to the CTA's queue. A is in shared or in
// tensor memory, B in shared, D in tensor memory.

#include "hazards/tracker.h"
#include "hazards/umma_check.h"
#include "ops/address_list.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/tcgen05.h"
#include "units/umma.h"

using namespace attn::sim;

namespace {

/// Packed into Inst::aux.
struct MmaForm {
  UmmaKind kind = UmmaKind::F16;
  bool isAInTensor = false;
  bool hasMask = false;
  uint8_t scale = 0;
  /// CTAs.
  uint8_t group = 1;
  uint8_t unused[3] = {0, 0, 0};
};
static_assert(sizeof(MmaForm) == 8, "fits Inst::aux");

/// Of disable-output-lane, for each CTA.
constexpr uint32_t kMaskWords = kTmemLanes / 32;
/// In Inst::list, where the mask's slots are: behind two addresses.
constexpr uint32_t kMaskAt = 6;
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
  /// What one CTA has of them.
  MatrixOperand a;
  MatrixOperand b;
  /// Lanes of D that are not written, of one CTA and of the other.
  uint32_t disabled[2 * kMaskWords] = {};

  uint32_t rows() const { return spec.m / group; }
  /// 64 rows of a pair are there twice, each for a half of the columns.
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
  /// The lane of the first of 16 rows.
  uint32_t laneOf(uint32_t block, uint32_t part) const {
    bool isHalf = rows() < kTmemLanes && group == 1;
    return isHalf ? d.lane + block * kTmemQuadrant
                  : part * kUmmaRows + block * kUmmaBlockRows;
  }

  std::string complete(Cta &cta) override;

private:
  bool fetchA(Cta &cta, uint32_t part, uint8_t *to) const;
  bool fetchB(Cta &cta, uint8_t *to) const;
  void multiply(TensorUnit &unit, uint32_t side, uint32_t part,
                const uint8_t *rowsOfA, const uint8_t *columnsOfB) const;
};

} // namespace

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
      multiply(own.inFlight.tensorUnit(), side, part, rowsOfA, columns);
    }
  });
  return isInside
             ? ""
             : "an operand leaves shared memory" + ruleSuffix(Rule::UmmaBounds);
}

namespace {

UmmaKind kindOf(const Match &match) {
  return match.has(".kind::tf32")     ? UmmaKind::TF32
         : match.has(".kind::f8f6f4") ? UmmaKind::F8F6F4
         : match.has(".kind::i8")     ? UmmaKind::I8
                                      : UmmaKind::F16;
}

bool faultLane(Warp &warp, unsigned lane, const char *what, uint32_t got,
               const char *expected) {
  warp.fault(Rule::TmemLane,
             std::string(what) + " begins at lane " + std::to_string(got) +
                 ", expected " + expected,
             lane);
  return false;
}

/// Where D is, and A if it is in tensor memory; false after a fault.
bool checkPlaces(Warp &warp, unsigned lane, const UmmaOp &op) {
  bool isHalf = op.group == 1 && op.spec.m < kTmemLanes;
  if (op.d.lane != 0 && !(isHalf && op.d.lane == kTmemHalf)) {
    return faultLane(warp, lane, "D", op.d.lane, isHalf ? "0 or 16" : "0");
  }
  if (!checkColumns(warp, "D", op.d.column, op.writes().columns, lane)) {
    return false;
  }
  if (!op.isAInTensor) {
    return true;
  }
  if (op.aPlace.lane != op.d.lane) {
    return faultLane(warp, lane, "A", op.aPlace.lane, "that of D");
  }
  return checkColumns(warp, "A", op.aPlace.column, kColumnsOfA, lane);
}

/// The operands in shared memory, whose chunks are appended to `chunks`; false
/// after a fault.
bool readOperands(Warp &warp, const Inst &inst, unsigned lane, UmmaOp &op,
                  std::vector<uint32_t> &chunks) {
  op.b = {{}, op.spec.b, op.spec.transposeB, op.spec.n / op.group};
  op.a = {{}, op.spec.a, op.spec.transposeA, op.rows()};
  UmmaOperandCheck check{warp, lane, chunks};
  if (!op.isAInTensor &&
      !check.run(warp.wide(inst.slots[0])[lane], "A", op.a)) {
    return false;
  }
  if (op.isAInTensor && op.spec.transposeA) {
    warp.fault(Rule::UmmaInstruction, "A in tensor memory cannot be transposed",
               lane);
    return false;
  }
  return check.run(warp.wide(inst.slots[1])[lane], "B", op.b);
}

/// What one lane asks for; false after a fault.
bool readOp(Warp &warp, const Inst &inst, unsigned lane, UmmaOp &op,
            std::vector<uint32_t> &chunks) {
  MmaForm form = bitCast<MmaForm>(inst.aux);
  std::string problem = decodeUmmaInstruction(
      form.kind, warp.word(inst.slots[2])[lane], form.group, op.spec);
  if (!problem.empty()) {
    warp.fault(Rule::UmmaInstruction, "instruction descriptor: " + problem,
               lane);
    return false;
  }
  op.group = form.group;
  op.lane = lane;
  op.spec.accumulate =
      warp.readPredicate(inst.slots[3], inst.negated) >> lane & 1;
  op.spec.scale = form.scale;
  op.isAInTensor = form.isAInTensor;
  op.d = tmemPlace(uint32_t(readAddress(warp, inst, 0, lane)));
  op.aPlace = tmemPlace(uint32_t(readAddress(warp, inst, 1, lane)));
  const uint32_t *mask = &warp.cta.program.lists[inst.list + kMaskAt];
  for (uint32_t i = 0; form.hasMask && i < form.group * kMaskWords; ++i) {
    op.disabled[i] = warp.word(mask[i])[lane];
  }
  return checkPlaces(warp, lane, op) &&
         readOperands(warp, inst, lane, op, chunks);
}

void track(Warp &warp, unsigned lane, const UmmaOp &op,
           std::vector<uint32_t> chunks) {
  TensorAction action;
  action.agent = TmemAgent::Mma;
  action.reads = op.readsOfA();
  action.writes = op.writes();
  action.accumulates = op.spec.accumulate;
  action.key = uint64_t(op.d.lane << 16 | op.d.column) << 32 |
               uint64_t(op.spec.m) << 16 | op.spec.n;
  action.chunks = std::move(chunks);
  action.ranks = ranksOf(warp.cta, op.group);
  warp.cta.hazards->tmem.issue(warp, lane, action);
}

/// Slots: descriptor of A, of B, the instruction's, enable-input-d.
Step issue(Warp &warp, const Inst &inst) {
  unsigned group = bitCast<MmaForm>(inst.aux).group;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto op = std::make_unique<UmmaOp>();
    std::vector<uint32_t> chunks;
    if (!useGroup(warp, group, lane) ||
        !readOp(warp, inst, lane, *op, chunks)) {
      return Step::Fault;
    }
    if (warp.cta.hazards) {
      track(warp, lane, *op, std::move(chunks));
    }
    startOp(warp, group, std::move(op));
  }
  return Step::Next;
}

bool decodeScale(OperandDecoder &decoder, const ptx::Operand &operand,
                 MmaForm &form) {
  int64_t scale = 0;
  if (!decoder.decodeImmediate(operand, scale)) {
    return false;
  }
  form.scale = uint8_t(scale);
  return (scale >= 0 && scale <= 15 &&
          (form.kind == UmmaKind::F16 || form.kind == UmmaKind::TF32)) ||
         decoder.fail(operand.at, "expected a scale-input-d of 0 to 15, and "
                                  "kind::f16 or kind::tf32");
}

/// disable-output-lane, enable-input-d and scale-input-d, from operand 4 on.
bool decodeRest(OperandDecoder &decoder, const ptx::Instruction &instruction,
                MmaForm &form, Inst &inst) {
  const auto &operands = instruction.operands;
  size_t next = 4;
  form.hasMask = operands[next].kind == ptx::Operand::Kind::Vector;
  if (form.hasMask) {
    size_t words = form.group * kMaskWords;
    if (operands[next].elements.size() != words) {
      return decoder.fail(operands[next].at,
                          "expected " + std::to_string(words) + " registers");
    }
    if (!decoder.decodeSources(operands[next], 4, inst)) {
      return false;
    }
    ++next;
  }
  if (next >= operands.size()) {
    return decoder.fail(instruction.at, "expected enable-input-d");
  }
  if (!decoder.decodePredicate(operands[next++], inst.slots[3], inst.negated)) {
    return false;
  }
  return (next == operands.size() ||
          decodeScale(decoder, operands[next++], form)) &&
         (next == operands.size() ||
          decoder.fail(operands[next].at, "expected no more operands"));
}

bool finish(OperandDecoder &decoder, const ptx::Instruction &instruction,
            const Match &match, Inst &inst) {
  MmaForm form;
  form.kind = kindOf(match);
  form.group = uint8_t(groupOf(match));
  if (!decoder.countOperands(instruction, 5, 7)) {
    return false;
  }
  const auto &operands = instruction.operands;
  form.isAInTensor = operands[1].kind == ptx::Operand::Kind::Address;
  if (!appendAddress(decoder, operands[0], inst) ||
      !appendAddress(decoder, operands[form.isAInTensor ? 1 : 0], inst) ||
      !(form.isAInTensor ||
        decoder.decodeSource(operands[1], 8, inst.slots[0])) ||
      !decoder.decodeSource(operands[2], 8, inst.slots[1]) ||
      !decoder.decodeSource(operands[3], 4, inst.slots[2]) ||
      !decodeRest(decoder, instruction, form, inst)) {
    return false;
  }
  inst.aux = bitCast<uint64_t>(form);
  return true;
}

} // namespace

void attn::sim::addTensorMmaRows(Rows &rows) {
  rows.push_back(
      {"tcgen05.mma{.cta_group::1|.cta_group::2}"
       "{.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8}"
       "[.collector::a::fill|.collector::a::use|.collector::a::lastuse|"
       ".collector::a::discard]",
       "*", issue, finish});
}
