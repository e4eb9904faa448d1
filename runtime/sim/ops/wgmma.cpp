// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma: each of a warpgroup's four warps issues, an operation runs once all
// have, and operations complete in order.

#include "units/wgmma.h"

#include "core/cta.h"
#include "hazards/operand_check.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// The value that a read of an accumulator in flight returns: a NaN.
constexpr uint32_t kInFlight = 0x7fc0dead;

/// Packed into Inst::aux.
struct Shape {
  uint16_t n = 8;
  MatrixType a = MatrixType::BF16;
  MatrixType b = MatrixType::BF16;
  AccumulatorType d = AccumulatorType::F32;
  uint8_t flags = 0;
  uint16_t registers = 0;
};
static_assert(sizeof(Shape) == 8, "fits Inst::aux");

constexpr uint8_t kNegateA = 1;
constexpr uint8_t kNegateB = 2;
constexpr uint8_t kTransposeA = 4;
constexpr uint8_t kTransposeB = 8;
constexpr uint8_t kARegisters = 16;
constexpr uint8_t kSaturate = 32;

/// Whether the warp can execute an instruction of its whole warpgroup.
bool whole(Warp &warp, Step &step) {
  if (warp.live != kAllLanes ||
      warp.index / 4 * 4 + 4 > (warp.cta.threads + kLanes - 1) / kLanes) {
    step = warp.fault(Rule::WgmmaGroup, "expected a warpgroup of 128 threads");
    return false;
  }
  return warp.gather(kAllLanes, Rule::WarpDivergent, step);
}

/// A 64-bit operand that has to be the same in all lanes.
bool readUniform(Warp &warp, uint32_t slot, uint64_t &value) {
  const uint64_t *lanes = warp.wide(slot);
  value = lanes[0];
  if (std::all_of(lanes, lanes + kLanes,
                  [&](uint64_t lane) { return lane == value; })) {
    return true;
  }
  warp.fault(Rule::WgmmaLanes, "expected the same descriptor in all lanes");
  return false;
}

/// Reads the operands of one warp's instruction, without accumulators.
bool readOp(Warp &warp, const Inst &inst, WgmmaOp &op) {
  Shape shape = bitCast<Shape>(inst.aux);
  op.pc = warp.now.pc;
  op.spec.a = shape.a;
  op.spec.b = shape.b;
  op.spec.d = shape.d;
  op.spec.n = shape.n;
  op.spec.negateA = shape.flags & kNegateA;
  op.spec.negateB = shape.flags & kNegateB;
  op.spec.saturate = shape.flags & kSaturate;
  op.aInRegisters = shape.flags & kARegisters;
  uint32_t scale = warp.readPredicate(inst.slots[2], inst.negated);
  if (scale != 0 && scale != kAllLanes) {
    warp.fault(Rule::WgmmaLanes, "expected the same scale-d in all lanes");
    return false;
  }
  op.spec.accumulate = scale != 0;
  op.a = {{}, shape.a, (shape.flags & kTransposeA) != 0, kWgmmaM};
  op.b = {{}, shape.b, (shape.flags & kTransposeB) != 0, shape.n};
  if (!readUniform(warp, inst.slots[1], op.descriptors[1]) ||
      !checkOperand(warp, op.descriptors[1], "B", op.b)) {
    return false;
  }
  if (op.aInRegisters) {
    const uint32_t *slots =
        &warp.cta.program.lists[inst.list + shape.registers];
    op.aSlots.assign(slots, slots + 4);
    return true;
  }
  return readUniform(warp, inst.slots[0], op.descriptors[0]) &&
         checkOperand(warp, op.descriptors[0], "A", op.a);
}

/// Equal for operations that may share accumulators in flight.
uint32_t shapeOf(const WgmmaSpec &spec) {
  return spec.n << 8 | uint32_t(spec.d);
}

/// The accumulators of `op`: those in flight that the warp's registers wait
/// for, or new ones.
void findAccumulators(Warp &warp, const Inst &inst, WarpGroup &group,
                      WgmmaOp &op) {
  const Accumulators *held = warp.registers.holder(inst, 0).accumulators;
  for (const WgmmaOp &other : group.queue) {
    if (other.accumulators.get() == held) {
      op.accumulators = other.accumulators;
      ++op.accumulators->users;
      return;
    }
  }
  uint32_t count = bitCast<Shape>(inst.aux).registers;
  const uint32_t *slots = &warp.cta.program.lists[inst.list];
  op.accumulators = std::make_shared<Accumulators>();
  op.accumulators->slots.assign(slots, slots + count);
  for (uint32_t i = 0; i < count; ++i) {
    op.accumulators->numbers.push_back(warp.registers.numberOf(inst, i));
  }
  op.accumulators->values.resize(size_t(4) * count * kLanes);
  op.accumulators->users = 1;
}

/// Moves a warp's accumulators out of its registers, unless an earlier
/// operation has done so. Returns false if they are in flight for another
/// operation.
bool takeRegisters(Warp &warp, const Inst &inst, Accumulators &accumulators) {
  uint32_t number = warp.index % 4;
  bool isTaken = accumulators.taken >> number & 1;
  accumulators.taken |= 1u << number;
  size_t count = bitCast<Shape>(inst.aux).registers;
  uint32_t *to = accumulators.values.data() + number * count * kLanes;
  for (uint32_t i = 0; i < count; ++i) {
    RegisterHolder &holder = warp.registers.holder(inst, i);
    if (holder.accumulators != (isTaken ? &accumulators : nullptr) ||
        (isTaken && holder.index != i)) {
      return false;
    }
    if (!isTaken) {
      uint32_t *registers = warp.word(accumulators.slots[i]);
      std::copy_n(registers, kLanes, to + i * kLanes);
      std::fill_n(registers, kLanes, kInFlight);
      holder = {&accumulators, i};
    }
  }
  return true;
}

/// Whether a warp issues the same operation as the first warp of its warpgroup.
bool isSame(Warp &warp, const WgmmaOp &first, const WgmmaOp &op) {
  std::string what =
      first.pc != op.pc
          ? "wgmma as that of " + warp.cta.reports.describeLine(first.pc)
      : first.descriptors[0] != op.descriptors[0]   ? "descriptor of A"
      : first.descriptors[1] != op.descriptors[1]   ? "descriptor of B"
      : first.spec.accumulate != op.spec.accumulate ? "scale-d"
                                                    : "";
  return what.empty() ||
         warp.report(Rule::WgmmaWarps, "expected the same " + what +
                                           " in the warps of a warpgroup");
}

Step issue(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!whole(warp, step)) {
    return step;
  }
  WarpGroup &group = warp.cta.inFlight.groupOf(warp);
  uint32_t number = warp.index % 4;
  size_t index = size_t(group.issued[number] - group.completed);
  WgmmaOp op;
  if (!readOp(warp, inst, op) ||
      !warp.registers.checkWgmma(warp, inst, op.spec.accumulate,
                                 shapeOf(op.spec))) {
    return Step::Fault;
  }
  if (index == group.queue.size()) {
    findAccumulators(warp, inst, group, op);
    group.queue.push_back(std::move(op));
  } else if (!isSame(warp, group.queue[index], op)) {
    return Step::Fault;
  }
  WgmmaOp &shared = group.queue[index];
  if (warp.cta.hazards) {
    warp.cta.hazards->wgmma.issueWgmma(warp, shared, group.issued[number] + 1);
  }
  if (!takeRegisters(warp, inst, *shared.accumulators)) {
    return warp.fault(Rule::WgmmaPending,
                      "an accumulator is in flight as another of an operation");
  }
  shared.issued |= 1u << number;
  if (warp.cta.observer) {
    warp.cta.observer->onIssue(warp, shared, group.issued[number]);
  }
  ++group.issued[number];
  warp.registers.issue(inst, warp.now.pc, group.issued[number],
                       shapeOf(shared.spec));
  warp.cta.inFlight.completeEarly(warp);
  return Step::Next;
}

Step commit(Warp &warp, const Inst &) {
  Step step = Step::Next;
  if (whole(warp, step)) {
    WarpGroup &group = warp.cta.inFlight.groupOf(warp);
    uint32_t number = warp.index % 4;
    group.commits[number].push_back(group.issued[number]);
    if (warp.cta.observer) {
      warp.cta.observer->onCommit(warp, Wait::Kind::Wgmma);
    }
  }
  return step;
}

Step waitGroup(Warp &warp, const Inst &inst) {
  Step step = Step::Next;
  if (!whole(warp, step)) {
    return step;
  }
  WarpGroup &group = warp.cta.inFlight.groupOf(warp);
  const std::vector<uint64_t> &commits = group.commits[warp.index % 4];
  size_t pending = size_t(inst.imm);
  uint64_t wanted =
      commits.size() <= pending ? 0 : commits[commits.size() - pending - 1];
  if (group.completed < wanted) {
    return warp.block(Wait::Kind::Wgmma, 0, uint32_t(inst.imm));
  }
  if (warp.cta.hazards) {
    warp.cta.hazards->wgmma.waitWgmma(warp, wanted);
  }
  warp.registers.wait(wanted);
  return warp.pass(Wait::Kind::Wgmma, 0, uint32_t(inst.imm));
}

Step fence(Warp &warp, const Inst &) {
  Step step = Step::Next;
  if (whole(warp, step)) {
    warp.registers.fence();
  }
  return step;
}

bool parseType(std::string_view name, MatrixType &type) {
  static const struct {
    const char *name;
    MatrixType type;
  } types[] = {{".f16", MatrixType::F16},   {".bf16", MatrixType::BF16},
               {".tf32", MatrixType::TF32}, {".e4m3", MatrixType::E4M3},
               {".e5m2", MatrixType::E5M2}, {".s8", MatrixType::S8},
               {".u8", MatrixType::U8}};
  for (const auto &each : types) {
    if (name == each.name) {
      type = each.type;
      return true;
    }
  }
  return false;
}

/// The immediates after scale-d: scales (not of integers), then transposes (of
/// 16-bit types).
bool readImmediates(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, Shape &shape) {
  bool isInteger = shape.d == AccumulatorType::S32;
  bool half = matrixTypeBytes(shape.a) == 2;
  bool inRegisters = shape.flags & kARegisters;
  size_t count = 4 + (isInteger ? 0 : 2) + (half ? (inRegisters ? 1 : 2) : 0);
  if (!decoder.countOperands(instruction, count, count)) {
    return false;
  }
  int64_t values[4] = {1, 1, 0, 0};
  for (size_t i = 4; i < count; ++i) {
    size_t at = i - 4 + (i >= 6 && inRegisters ? 1 : 0);
    if (!decoder.decodeImmediate(instruction.operands[i], values[at])) {
      return false;
    }
    bool good = at < 2 ? values[at] == 1 || values[at] == -1
                       : values[at] == 0 || values[at] == 1;
    if (!good) {
      return decoder.fail(instruction.operands[i].at,
                          at < 2 ? "expected 1 or -1" : "expected 0 or 1");
    }
  }
  shape.flags |= (values[0] < 0 ? kNegateA : 0) |
                 (values[1] < 0 ? kNegateB : 0) |
                 (values[2] ? kTransposeA : 0) | (values[3] ? kTransposeB : 0);
  return true;
}

/// Reads ".m64n128k16".
bool readShape(std::string_view text, Shape &shape) {
  constexpr std::string_view prefix = ".m64n";
  size_t k = text.find('k');
  if (text.substr(0, prefix.size()) != prefix || k == std::string_view::npos) {
    return false;
  }
  auto number = [](std::string_view digits) {
    unsigned value = 0;
    for (char c : digits) {
      value = value * 10 + unsigned(c - '0');
    }
    return value;
  };
  shape.n = uint16_t(number(text.substr(prefix.size(), k - prefix.size())));
  return number(text.substr(k + 1)) == wgmmaK(shape.a);
}

bool finishIssue(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &match, Inst &inst) {
  Shape shape;
  size_t count = match.chosen.size();
  std::string_view d = match.chosen[count - 3];
  shape.d = d == ".f32"   ? AccumulatorType::F32
            : d == ".f16" ? AccumulatorType::F16
                          : AccumulatorType::S32;
  if (!decoder.countOperands(instruction, 4, 8) ||
      !parseType(match.chosen[count - 2], shape.a) ||
      !parseType(match.chosen[count - 1], shape.b) ||
      !readShape(match.chosen[3], shape)) {
    return decoder.fail(instruction.at, "there is no wgmma of this shape");
  }
  const auto &operands = instruction.operands;
  bool inRegisters = operands[1].kind == ptx::Operand::Kind::Vector;
  shape.flags = (inRegisters ? kARegisters : 0) |
                (match.has(".satfinite") ? kSaturate : 0);
  if (!readImmediates(decoder, instruction, shape) ||
      !decoder.decodeDestinations(operands[0], 4, inst)) {
    return false;
  }
  shape.registers = uint16_t(inst.listSize);
  if (!(inRegisters ? decoder.decodeSources(operands[1], 4, inst)
                    : decoder.decodeSource(operands[1], 8, inst.slots[0])) ||
      !decoder.decodeSource(operands[2], 8, inst.slots[1]) ||
      !decoder.decodePredicate(operands[3], inst.slots[2], inst.negated)) {
    return false;
  }
  WgmmaSpec spec;
  spec.a = shape.a;
  spec.b = shape.b;
  spec.d = shape.d;
  spec.n = shape.n;
  spec.saturate = shape.flags & kSaturate;
  if (const char *problem = checkWgmma(spec)) {
    return decoder.fail(instruction.at, problem);
  }
  if (shape.registers != accumulatorRegisters(shape.d, shape.n) ||
      (inRegisters && inst.listSize != shape.registers + 4u)) {
    return decoder.fail(instruction.at, "wrong number of registers");
  }
  inst.aux = bitCast<uint64_t>(shape);
  return true;
}

bool finishWait(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &, Inst &inst) {
  return inst.imm >= 0 || decoder.fail(instruction.at, "expected at least 0");
}

} // namespace

void attn::sim::addWgmmaRows(Rows &rows) {
  std::string shapes;
  for (int n = 8; n <= kMaxWgmmaN; n += 8) {
    for (int k : {8, 16, 32}) {
      shapes += (shapes.empty() ? ".m64n" : "|.m64n") + std::to_string(n) +
                "k" + std::to_string(k);
    }
  }
  const std::string types = "{.f16|.bf16|.tf32|.e4m3|.e5m2|.s8|.u8}";
  rows.push_back({keep("wgmma.mma_async.sync.aligned{" + shapes +
                       "}[.satfinite]{.f32|.f16|.s32}" + types + types),
                  "*", issue, finishIssue});
  rows.insert(rows.end(),
              {{"wgmma.fence.sync.aligned", "", fence},
               {"wgmma.commit_group.sync.aligned", "", commit},
               {"wgmma.wait_group.sync.aligned", "i", waitGroup, finishWait}});
}
