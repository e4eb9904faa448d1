// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cvt.rs: floats rounded by random bits, to pairs of f16 or bf16 and to four
// floats of at most 8 bits.

#include "core/cta.h"
#include "ops/lanes.h"
#include "ops/rows.h"
#include "units/float_format.h"

using namespace attn::sim;

namespace {

/// Inst::aux.
constexpr uint64_t kRelu = 1;
constexpr uint64_t kSatFinite = 2;

uint64_t rangeOf(const Match &match) {
  return (match.has(".relu") ? kRelu : 0) |
         (match.has(".satfinite") ? kSatFinite : 0);
}

bool finishPair(OperandDecoder &, const ptx::Instruction &, const Match &match,
                Inst &inst) {
  inst.aux = rangeOf(match);
  return true;
}

/// Each half of the result takes its random bits from the same half of the last
/// operand: the low ones, as many as f32 has more fraction bits than the
/// format.
template <const FloatFormat &format>
Step roundPair(Warp &warp, const Inst &inst) {
  constexpr int count = kF32.fractionBits - format.fractionBits;
  auto round = [&](unsigned source, unsigned lane, unsigned place) {
    uint32_t random = warp.word(inst.slots[3])[lane] >> place;
    return roundRandomly(warp.at<float>(inst.slots[source])[lane], format,
                         random & ((1u << count) - 1), count,
                         inst.aux & kSatFinite, inst.aux & kRelu);
  };
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = round(1, lane, 16) << 16 | round(2, lane, 0);
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// Bits that an element of four occupies.
template <const FloatFormat &format>
constexpr unsigned kPlace = format.signBit() == 8 ? 4 : 8;

/// The sources are a vector: the instruction's list.
template <const FloatFormat &format>
bool finishQuad(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  if (!decoder.countOperands(instruction, 3, 3)) {
    return false;
  }
  const ptx::Operand &vector = instruction.operands[1];
  if (vector.kind != ptx::Operand::Kind::Vector ||
      vector.elements.size() != 4) {
    return decoder.fail(instruction.at, "expected a vector of 4 registers");
  }
  for (const ptx::Operand &element : vector.elements) {
    uint32_t slot = 0;
    if (!decoder.decodeSource(element, 4, slot, /*isFloat=*/true)) {
      return false;
    }
    decoder.appendSlot(inst, slot);
  }
  inst.aux = rangeOf(match);
  return decoder.decodeSource(instruction.operands[2], 4, inst.slots[1]) &&
         decoder.decodeDestination(instruction.operands[0], kPlace<format> / 2,
                                   inst.slots[0]);
}

/// The first source is the highest element. Each takes a byte of random bits,
/// in the order of the elements, as measured on sm_100a; sm_103a has another
/// order.
template <const FloatFormat &format>
Step roundQuad(Warp &warp, const Inst &inst) {
  const uint32_t *sources = &warp.cta.program.lists[inst.list];
  uint32_t results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t random = warp.word(inst.slots[1])[lane];
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      float value = warp.at<float>(sources[i])[lane];
      result = result << kPlace<format> |
               roundRandomly(value, format, random >> (24 - 8 * i) & 0xff, 8,
                             /*satfinite=*/true, inst.aux & kRelu);
    }
    results[lane] = result;
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

/// Both orders of the modifiers.
void add(Rows &rows, const char *ranges[2], const char *type,
         const char *operands, Handler handler, Finish finish) {
  for (int i = 0; i < 2; ++i) {
    rows.push_back({keep(std::string("cvt.rs") + ranges[i] + type + ".f32"),
                    operands, handler, finish});
  }
}

template <const FloatFormat &format>
void addPair(Rows &rows, const char *type) {
  const char *ranges[] = {"[.relu][.satfinite]", ".satfinite.relu"};
  add(rows, ranges, type, "d4 f4 f4 4", roundPair<format>, finishPair);
}

template <const FloatFormat &format>
void addQuad(Rows &rows, const char *type) {
  const char *ranges[] = {"[.relu].satfinite", ".satfinite.relu"};
  add(rows, ranges, type, "*", roundQuad<format>, finishQuad<format>);
}

} // namespace

void attn::sim::addRandomRows(Rows &rows) {
  const size_t first = rows.size();
  addPair<kF16>(rows, ".f16x2");
  addPair<kBF16>(rows, ".bf16x2");
  addQuad<kE4M3>(rows, ".e4m3x4");
  addQuad<kE5M2>(rows, ".e5m2x4");
  addQuad<kE2M3>(rows, ".e2m3x4");
  addQuad<kE3M2>(rows, ".e3m2x4");
  addQuad<kE2M1>(rows, ".e2m1x4");
  require(rows, first, kSm100a | kSm103a);
}
