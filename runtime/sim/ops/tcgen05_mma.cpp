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
#include "ops/umma_op.h"

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
  /// Of the blocks of a row; 0: none.
  uint8_t scales = 0;
  uint8_t unused[2] = {0, 0};
};
static_assert(sizeof(MmaForm) == 8, "fits Inst::aux");

/// In Inst::list, where the mask's slots are: behind two addresses.
constexpr uint32_t kMaskAt = 6;
/// Of the scales' addresses in Inst::list.
constexpr uint32_t kScaleAddress = 2;
UmmaKind kindOf(const Match &match) {
  return match.has(".kind::tf32")       ? UmmaKind::TF32
         : match.has(".kind::f8f6f4")   ? UmmaKind::F8F6F4
         : match.has(".kind::i8")       ? UmmaKind::I8
         : match.has(".kind::mxf8f6f4") ? UmmaKind::MXF8F6F4
         : match.has(".kind::mxf4")     ? UmmaKind::MXF4
         : match.has(".kind::mxf4nvf4") ? UmmaKind::MXF4NVF4
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

bool checkScales(Warp &warp, unsigned lane, const char *what, TmemPlace place,
                 uint32_t columns) {
  return (place.lane == 0 || faultLane(warp, lane, what, place.lane, "0")) &&
         checkColumns(warp, what, place.column, columns, lane);
}

/// Where D is, and A and the scales if they are in tensor memory; false after a
/// fault.
bool checkPlaces(Warp &warp, unsigned lane, const UmmaOp &op) {
  bool isHalf = op.group == 1 && op.spec.m < kTmemLanes;
  if (op.d.lane != 0 && !(isHalf && op.d.lane == kTmemHalf)) {
    return faultLane(warp, lane, "D", op.d.lane, isHalf ? "0 or 16" : "0");
  }
  if (!checkColumns(warp, "D", op.d.column, op.writes().columns, lane)) {
    return false;
  }
  if (op.spec.scaling.count &&
      (!checkScales(warp, lane, "scale_A", op.scalesOfA,
                    op.readsOfScalesOfA().columns) ||
       !checkScales(warp, lane, "scale_B", op.scalesOfB,
                    op.readsOfScalesOfB().columns))) {
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

/// Bits 30 and 31 of the address are not used: kernels keep the descriptor's
/// ids of the scales there.
TmemPlace placeOfScales(Warp &warp, const Inst &inst, uint32_t index,
                        unsigned lane) {
  auto address = uint32_t(readAddress(warp, inst, index, lane));
  return tmemPlace(address & ~(3u << 30));
}

/// Reads the operation that one lane requests; false after a fault.
bool readOp(Warp &warp, const Inst &inst, unsigned lane, UmmaOp &op,
            std::vector<uint32_t> &chunks) {
  MmaForm form = bitCast<MmaForm>(inst.aux);
  op.spec.scaling.count = form.scales;
  std::string problem = decodeUmmaInstruction(
      form.kind, warp.word(inst.slots[2])[lane], form.group, op.spec);
  if (!problem.empty()) {
    warp.fault(Rule::UmmaInstruction, "instruction descriptor: " + problem,
               lane);
    return false;
  }
  op.group = form.group;
  op.spec.accumulate =
      warp.readPredicate(inst.slots[3], inst.negated) >> lane & 1;
  op.spec.scale = form.scale;
  op.spec.arithmetic = warp.cta.sums;
  op.isAInTensor = form.isAInTensor;
  op.d = tmemPlace(uint32_t(readAddress(warp, inst, 0, lane)));
  op.aPlace = tmemPlace(uint32_t(readAddress(warp, inst, 1, lane)));
  if (form.scales) {
    op.scalesOfA = placeOfScales(warp, inst, kScaleAddress, lane);
    op.scalesOfB = placeOfScales(warp, inst, kScaleAddress + 1, lane);
  }
  const uint32_t *mask = &warp.cta.program.lists[inst.list + kMaskAt];
  for (uint32_t i = 0; form.hasMask && i < form.group * kMaskWords; ++i) {
    op.disabled[i] = warp.word(mask[i])[lane];
  }
  return checkPlaces(warp, lane, op) &&
         readOperands(warp, inst, lane, op, chunks);
}

/// The accesses of an mma to tensor memory besides its writes.
void describe(const UmmaOp &op, TensorAction &action) {
  action.reads = {op.readsOfA()};
  if (op.spec.scaling.count) {
    action.reads.push_back(op.readsOfScalesOfA());
    action.reads.push_back(op.readsOfScalesOfB());
  }
  action.accumulates = op.spec.accumulate;
  action.key = uint64_t(op.d.lane << 16 | op.d.column) << 32 |
               uint64_t(op.spec.m) << 16 | op.spec.n;
}

/// Slots: descriptor of A, of B, the instruction's, enable-input-d.
Step issue(Warp &warp, const Inst &inst) {
  auto make = [&](unsigned lane,
                  TensorAction &action) -> std::unique_ptr<TensorOp> {
    auto op = std::make_unique<UmmaOp>();
    if (!readOp(warp, inst, lane, *op, action.chunks)) {
      return nullptr;
    }
    describe(*op, action);
    return op;
  };
  return issueOps(warp, TmemAgent::Mma, bitCast<MmaForm>(inst.aux).group, make);
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

/// D, A, B and the instruction descriptor.
bool decodeMatrices(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, MmaForm &form,
                    Inst &inst) {
  const auto &operands = instruction.operands;
  form.isAInTensor = operands[1].kind == ptx::Operand::Kind::Address;
  return appendAddress(decoder, operands[0], inst) &&
         appendAddress(decoder, operands[form.isAInTensor ? 1 : 0], inst) &&
         (form.isAInTensor ||
          decoder.decodeSource(operands[1], 8, inst.slots[0])) &&
         decoder.decodeSource(operands[2], 8, inst.slots[1]) &&
         decoder.decodeSource(operands[3], 4, inst.slots[2]);
}

bool finish(OperandDecoder &decoder, const ptx::Instruction &instruction,
            const Match &match, Inst &inst) {
  MmaForm form;
  form.kind = kindOf(match);
  form.group = uint8_t(groupOf(match));
  if (!decoder.countOperands(instruction, 5, 7) ||
      !decodeMatrices(decoder, instruction, form, inst) ||
      !decodeRest(decoder, instruction, form, inst)) {
    return false;
  }
  inst.aux = bitCast<uint64_t>(form);
  return true;
}

/// .block32 is two scales for a K of 64 elements.
uint8_t scalesOf(const Match &match, UmmaKind kind) {
  bool isFour = match.has(".scale_vec::4X") || match.has(".block16");
  return kind == UmmaKind::MXF8F6F4 ? 1 : isFour ? 4 : 2;
}

bool finishScaled(OperandDecoder &decoder, const ptx::Instruction &instruction,
                  const Match &match, Inst &inst) {
  MmaForm form;
  form.kind = kindOf(match);
  form.group = uint8_t(groupOf(match));
  form.scales = scalesOf(match, form.kind);
  const auto &operands = instruction.operands;
  if (!decoder.countOperands(instruction, 7, 7) ||
      !decodeMatrices(decoder, instruction, form, inst) ||
      !appendAddress(decoder, operands[4], inst) ||
      !appendAddress(decoder, operands[5], inst) ||
      !decoder.decodePredicate(operands[6], inst.slots[3], inst.negated)) {
    return false;
  }
  inst.aux = bitCast<uint64_t>(form);
  return true;
}

} // namespace

void attn::sim::addTensorMmaRows(Rows &rows) {
  const std::string group = "tcgen05.mma{.cta_group::1|.cta_group::2}";
  const std::string collector =
      "[.collector::a::fill|.collector::a::use|.collector::a::lastuse|"
      ".collector::a::discard]";
  rows.push_back(
      {keep(group + "{.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8}" +
            collector),
       "*", issue, finish});
  auto addScaled = [&](const std::string &form, TargetSet targets) {
    OpRow row = {keep(group + form + collector), "*", issue, finishScaled};
    row.targets = targets;
    rows.push_back(row);
  };
  constexpr TargetSet chips = kSm100a | kSm103a;
  addScaled(".kind::mxf8f6f4.block_scale[.block32]", kFamily100);
  addScaled(".kind::mxf8f6f4.block_scale.scale_vec::1X", chips);
  addScaled(".kind::mxf4.block_scale[.block32]", kFamily100);
  addScaled(".kind::mxf4.block_scale.scale_vec::2X", chips);
  addScaled(".kind::mxf4nvf4.block_scale{.block16|.block32}", kFamily100);
  addScaled(".kind::mxf4nvf4.block_scale{.scale_vec::2X|.scale_vec::4X}",
            chips);
}
