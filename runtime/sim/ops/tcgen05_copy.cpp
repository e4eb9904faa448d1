// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.cp, from shared to tensor memory, and tcgen05.shift there.

#include "hazards/tracker.h"
#include "hazards/umma_check.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "ops/tcgen05.h"
#include "units/umma_operand.h"

using namespace attn::sim;

namespace {

/// Where the rows of a cp go, and how many there are.
enum class CopyShape : uint8_t {
  L128x256b,
  L128x128b,
  L4x256b,
  L32x128b,
  L64x128b02,
  L64x128b01
};

/// Packed into Inst::aux.
struct CopyForm {
  CopyShape shape = CopyShape::L128x256b;
  /// Of the source's elements, to be spread over bytes; 8: as they are.
  uint8_t bits = 8;
  /// CTAs: each copies from its own shared memory.
  uint8_t group = 1;
  uint8_t unused[5] = {0, 0, 0, 0, 0};
};
static_assert(sizeof(CopyForm) == 8, "fits Inst::aux");

constexpr uint32_t rowsOf(CopyShape shape) {
  return shape == CopyShape::L4x256b    ? 4
         : shape == CopyShape::L32x128b ? 32
         : shape == CopyShape::L64x128b02 || shape == CopyShape::L64x128b01
             ? 64
             : 128;
}

constexpr uint32_t columnsOf(CopyShape shape) {
  return shape == CopyShape::L128x256b || shape == CopyShape::L4x256b ? 8 : 4;
}

constexpr const char *describe(CopyShape shape) {
  return shape == CopyShape::L128x256b   ? "128x256b"
         : shape == CopyShape::L128x128b ? "128x128b"
         : shape == CopyShape::L4x256b   ? "4x256b"
         : shape == CopyShape::L32x128b  ? "32x128b"
                                         : "64x128b";
}

/// Calls `visit(lane)` for the lanes that a row goes to.
template <typename Visit>
void forLanesOf(CopyShape shape, uint32_t row, Visit visit) {
  switch (shape) {
  case CopyShape::L4x256b:
    visit(kTmemQuadrant * row);
    return;
  case CopyShape::L32x128b:
    for (uint32_t lane = row; lane < kTmemLanes; lane += kTmemQuadrant) {
      visit(lane);
    }
    return;
  case CopyShape::L64x128b02:
    visit(row);
    visit(row + 64);
    return;
  case CopyShape::L64x128b01:
    visit(row / 32 * 64 + row % 32);
    visit(row / 32 * 64 + row % 32 + 32);
    return;
  default:
    visit(row);
  }
}

struct CopyOp final : TensorOp {
  CopyForm form;
  TmemPlace to = {0, 0};
  /// The source: the 16-byte chunks of a row, then those of the next.
  std::vector<uint32_t> chunks;

  TmemRegion writes() const override {
    uint32_t halves = form.shape == CopyShape::L4x256b ? 0x55 : 0xff;
    return {halves, to.column, columnsOf(form.shape)};
  }
  TensorFacts facts() const override {
    TensorFacts facts;
    facts.name = "cp";
    facts.form = describe(form.shape);
    facts.size = uint32_t(chunks.size() * 16);
    facts.shared = chunks.front();
    facts.writes = writes();
    return facts;
  }
  std::string complete(Cta &cta) override {
    forGroup(cta, form.group, [&](Cta &own, uint32_t) { copy(own); });
    return checkGroupRuns(cta, form.group);
  }

private:
  void copy(Cta &cta) const {
    TensorUnit &unit = cta.inFlight.tensorUnit();
    uint32_t perRow = columnsOf(form.shape) / 4;
    for (uint32_t i = 0; i < chunks.size(); ++i) {
      uint8_t bytes[16];
      std::memcpy(bytes, cta.shared(cta.ownAddress(chunks[i]), 16), 16);
      if (form.bits < 8) {
        spreadElements(form.bits, bytes);
      }
      for (uint8_t &byte : bytes) {
        byte = uint8_t(form.bits == 4 ? byte << 2 : byte);
      }
      uint32_t words[4];
      std::memcpy(words, bytes, sizeof(words));
      forLanesOf(form.shape, i / perRow, [&](uint32_t lane) {
        for (uint32_t j = 0; j < 4; ++j) {
          unit.column(to.column + i % perRow * 4 + j)[lane] = words[j];
        }
      });
    }
  }
};

/// Rows of a quadrant, but for the last, move down by one.
struct ShiftOp final : TensorOp {
  TmemPlace place = {0, 0};
  unsigned group = 1;

  static constexpr uint32_t kColumns = 8;
  TmemRegion writes() const override {
    return {3u << place.lane / kTmemHalf, place.column, kColumns};
  }
  TensorFacts facts() const override {
    TensorFacts facts;
    facts.name = "shift";
    facts.writes = writes();
    facts.reads = {facts.writes};
    return facts;
  }
  std::string complete(Cta &cta) override {
    forGroup(cta, group, [&](Cta &own, uint32_t) {
      TensorUnit &unit = own.inFlight.tensorUnit();
      for (uint32_t i = 0; i < kColumns; ++i) {
        uint32_t *cells = unit.column(place.column + i) + place.lane;
        std::memmove(cells + 1, cells, (kTmemQuadrant - 1) * sizeof(*cells));
      }
    });
    return checkGroupRuns(cta, group);
  }
};

/// The chunks of a cp's source; false after a fault.
bool readSource(Warp &warp, unsigned lane, uint64_t bits, CopyOp &op) {
  MatrixOperand source = {{}, MatrixType::U8, false, rowsOf(op.form.shape)};
  UmmaOperandCheck check{warp, lane, op.chunks};
  if (!check.decode(bits, "the source", source.descriptor)) {
    return false;
  }
  for (uint32_t row = 0; row < source.rows; ++row) {
    for (uint32_t k = 0; k < columnsOf(op.form.shape) * 4; k += 16) {
      op.chunks.push_back(ummaChunkAddress(source, row, k));
    }
  }
  return check.checkBounds("the source", 0);
}

/// Slots: the address, the source's descriptor.
Step copy(Warp &warp, const Inst &inst) {
  auto make = [&](unsigned lane,
                  TensorAction &action) -> std::unique_ptr<TensorOp> {
    auto op = std::make_unique<CopyOp>();
    op->form = bitCast<CopyForm>(inst.aux);
    op->to = tmemPlace(address32(warp, inst, inst.slots[0], lane));
    if (op->to.lane != 0) {
      warp.fault(Rule::TmemLane,
                 "a cp begins at lane 0, got " + std::to_string(op->to.lane),
                 lane);
      return nullptr;
    }
    if (!checkColumns(warp, "it", op->to.column, columnsOf(op->form.shape),
                      lane) ||
        !readSource(warp, lane, warp.wide(inst.slots[1])[lane], *op)) {
      return nullptr;
    }
    action.chunks = op->chunks;
    action.key = op->form.shape == CopyShape::L4x256b;
    return op;
  };
  return issueOps(warp, TmemAgent::Copy, bitCast<CopyForm>(inst.aux).group,
                  make);
}

Step shift(Warp &warp, const Inst &inst) {
  auto make = [&](unsigned lane,
                  TensorAction &action) -> std::unique_ptr<TensorOp> {
    auto op = std::make_unique<ShiftOp>();
    op->group = unsigned(inst.aux);
    op->place = tmemPlace(address32(warp, inst, inst.slots[0], lane));
    if (op->place.lane % kTmemQuadrant != 0 || op->place.lane >= kTmemLanes) {
      warp.fault(Rule::TmemLane,
                 "a shift begins at a multiple of 32 lanes, got " +
                     std::to_string(op->place.lane),
                 lane);
      return nullptr;
    }
    if (!checkColumns(warp, "it", op->place.column, ShiftOp::kColumns, lane)) {
      return nullptr;
    }
    action.accumulates = true;
    return op;
  };
  return issueOps(warp, TmemAgent::Shift, unsigned(inst.aux), make);
}

bool finishCopy(OperandDecoder &, const ptx::Instruction &, const Match &match,
                Inst &inst) {
  CopyForm form;
  form.shape = match.has(".128x256b")        ? CopyShape::L128x256b
               : match.has(".128x128b")      ? CopyShape::L128x128b
               : match.has(".4x256b")        ? CopyShape::L4x256b
               : match.has(".32x128b")       ? CopyShape::L32x128b
               : match.has(".warpx2::01_23") ? CopyShape::L64x128b01
                                             : CopyShape::L64x128b02;
  form.bits = match.has(".b4x16_p64") ? 4 : match.has(".b6x16_p32") ? 6 : 8;
  form.group = uint8_t(groupOf(match));
  inst.aux = bitCast<uint64_t>(form);
  return true;
}

bool finishShift(OperandDecoder &, const ptx::Instruction &, const Match &match,
                 Inst &inst) {
  inst.aux = groupOf(match);
  return true;
}

} // namespace

void attn::sim::addTensorCopyRows(Rows &rows) {
  const std::string group = "{.cta_group::1|.cta_group::2}";
  for (const char *shape : {"{.128x256b|.128x128b|.4x256b}", ".32x128b.warpx4",
                            ".64x128b{.warpx2::02_13|.warpx2::01_23}"}) {
    rows.push_back(
        {keep("tcgen05.cp" + group + shape), "m 8", copy, finishCopy});
    rows.push_back(
        {keep("tcgen05.cp" + group + shape + ".b8x16{.b4x16_p64|.b6x16_p32}"),
         "m 8", copy, finishCopy});
  }
  rows.push_back(
      {keep("tcgen05.shift" + group + ".down"), "m", shift, finishShift});
  rows.push_back({keep("tcgen05.shift.down" + group), "m", shift, finishShift});
}
