// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mov, packing and unpacking included, and cvta.

#include "core/cta.h"
#include "ops/lanes.h"
#include "ops/rows.h"

using namespace attn::sim;
using Kind = ptx::Operand::Kind;

namespace {

template <typename Word> Step copy(Warp &warp, const Inst &inst) {
  store(warp, inst.slots[0], warp.at<Word>(inst.slots[1]));
  return Step::Next;
}

Step copyPredicate(Warp &warp, const Inst &inst) {
  warp.writePredicate(inst.slots[0],
                      warp.readPredicate(inst.slots[1], inst.negated));
  return Step::Next;
}

/// mov.b128 d, {a, b}.
Step packWide(Warp &warp, const Inst &inst) {
  const uint32_t *from = &warp.cta.program.lists[inst.list];
  Wide128 results[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = {warp.wide(from[0])[lane], warp.wide(from[1])[lane]};
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

Step unpackWide(Warp &warp, const Inst &inst) {
  const uint32_t *to = &warp.cta.program.lists[inst.list];
  const Wide128 *whole = warp.at<Wide128>(inst.slots[0]);
  uint64_t low[kLanes];
  uint64_t high[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    low[lane] = whole[lane].low;
    high[lane] = whole[lane].high;
  }
  store(warp, to[0], low);
  store(warp, to[1], high);
  return Step::Next;
}

/// mov.b64 d, {a, b} and the like: aux is the bytes of an element.
template <typename Word> Step pack(Warp &warp, const Inst &inst) {
  const uint32_t *from = &warp.cta.program.lists[inst.list];
  const unsigned bits = unsigned(8 * inst.aux);
  Word results[kLanes] = {};
  for (uint32_t i = 0; i < inst.listSize; ++i) {
    const uint32_t *part = warp.word(from[i]);
    Word mask = Word((uint64_t(1) << bits) - 1);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      results[lane] |= (Word(part[lane]) & mask) << (i * bits);
    }
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

template <typename Word> Step unpack(Warp &warp, const Inst &inst) {
  const uint32_t *to = &warp.cta.program.lists[inst.list];
  const unsigned bits = unsigned(8 * inst.aux);
  Word whole[kLanes];
  std::memcpy(whole, warp.at<Word>(inst.slots[0]), sizeof(whole));
  uint64_t mask = (uint64_t(1) << bits) - 1;
  for (uint32_t i = 0; i < inst.listSize; ++i) {
    uint32_t results[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      results[lane] = uint32_t(uint64_t(whole[lane]) >> (i * bits) & mask);
    }
    store(warp, to[i], results);
  }
  return Step::Next;
}

/// %clock and %globaltimer: how many instructions the CTA has executed, so that
/// no thread of it sees time run backwards. aux: the bits below the result's.
template <typename Word> Step readClock(Warp &warp, const Inst &inst) {
  uint64_t now = warp.cta.readClock();
  Word results[kLanes];
  std::fill(results, results + kLanes, Word(now >> inst.aux));
  store(warp, inst.slots[0], results);
  return Step::Next;
}

struct ClockName {
  const char *name;
  unsigned bytes;
  uint64_t shift;
};

constexpr ClockName kClocks[] = {
    {"%clock", 4, 0},          {"%clock_hi", 4, 32},
    {"%clock64", 8, 0},        {"%globaltimer", 8, 0},
    {"%globaltimer_lo", 4, 0}, {"%globaltimer_hi", 4, 32}};

/// Null if `operand` is no clock.
const ClockName *findClock(const ptx::Operand &operand) {
  for (const ClockName &clock : kClocks) {
    if (operand.kind == Kind::Name && operand.name == clock.name) {
      return &clock;
    }
  }
  return nullptr;
}

bool finishClock(OperandDecoder &decoder, const ptx::Operand &to,
                 const ClockName &clock, unsigned bytes, Inst &inst) {
  if (bytes != clock.bytes) {
    return decoder.fail(to.at, std::string("expected a move of ") +
                                   std::to_string(8 * clock.bytes) +
                                   " bits from '" + clock.name + "', got " +
                                   std::to_string(8 * bytes));
  }
  inst.aux = clock.shift;
  inst.run = bytes == 8 ? readClock<uint64_t> : readClock<uint32_t>;
  return decoder.decodeDestination(to, bytes, inst.slots[0]);
}

bool finishPack(OperandDecoder &decoder, const ptx::Operand &vector,
                const ptx::Operand &whole, bool unpacking, unsigned bytes,
                Inst &inst) {
  size_t count = vector.elements.size();
  if ((count != 2 && count != 4) || bytes % count != 0 ||
      (bytes == 16 && count != 2)) {
    return decoder.fail(vector.at, "unsupported number of elements");
  }
  unsigned each = unsigned(bytes / count);
  inst.aux = each;
  if (unpacking) {
    inst.run = bytes == 16  ? unpackWide
               : bytes == 8 ? unpack<uint64_t>
                            : unpack<uint32_t>;
    return decoder.decodeSource(whole, bytes, inst.slots[0]) &&
           decoder.decodeDestinations(vector, each, inst);
  }
  inst.run = bytes == 16  ? packWide
             : bytes == 8 ? pack<uint64_t>
                          : pack<uint32_t>;
  return decoder.decodeDestination(whole, bytes, inst.slots[0]) &&
         decoder.decodeSources(vector, each, inst);
}

bool finishMove(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, Inst &inst) {
  if (!decoder.countOperands(instruction, 2, 2)) {
    return false;
  }
  const ptx::Operand &to = instruction.operands[0];
  const ptx::Operand &from = instruction.operands[1];
  unsigned bytes = typeSize(match.chosen[0]);
  if (to.kind == Kind::Vector || from.kind == Kind::Vector) {
    bool unpacking = to.kind == Kind::Vector;
    if ((unpacking && from.kind == Kind::Vector)) {
      return decoder.fail(instruction.at, "unsupported vector move");
    }
    return finishPack(decoder, unpacking ? to : from, unpacking ? from : to,
                      unpacking, bytes, inst);
  }
  if (const ClockName *clock = findClock(from)) {
    return finishClock(decoder, to, *clock, bytes, inst);
  }
  inst.run = bytes == 16  ? copy<Wide128>
             : bytes == 8 ? copy<uint64_t>
                          : copy<uint32_t>;
  return decoder.decodeDestination(to, bytes, inst.slots[0]) &&
         decoder.decodeSource(from, bytes, inst.slots[1]);
}

/// cvta: adds the window of aux; cvta.to: takes it away, having checked it.
template <bool to> Step convertAddress(Warp &warp, const Inst &inst) {
  uint64_t results[kLanes];
  const uint64_t *from = warp.wide(inst.slots[1]);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    results[lane] = to ? from[lane] - inst.aux : from[lane] + inst.aux;
    bool inside = !to || (from[lane] & kWindowMask) == inst.aux;
    if (!inside && warp.exec >> lane & 1) {
      return warp.fault("the generic address is not in that state space", lane);
    }
  }
  store(warp, inst.slots[0], results);
  return Step::Next;
}

} // namespace

void attn::sim::addMoveRows(Rows &rows) {
  rows.insert(
      rows.end(),
      {{"mov{.b16|.u16|.s16|.b32|.u32|.s32|.f32|.b64|.u64|.s64|.f64|.b128}",
        "*", nullptr, finishMove},
       {"mov.pred", "dp p", copyPredicate},
       {"cvta.global.u64", "d8 8", convertAddress<false>},
       {"cvta.to.global.u64", "d8 8", convertAddress<true>},
       {"cvta.shared.u64", "d8 8", convertAddress<false>, nullptr,
        kSharedWindow},
       {"cvta.to.shared.u64", "d8 8", convertAddress<true>, nullptr,
        kSharedWindow},
       {"cvta{.shared::cta|.shared::cluster}.u64", "d8 8",
        convertAddress<false>, nullptr, kSharedWindow},
       {"cvta.to{.shared::cta|.shared::cluster}.u64", "d8 8",
        convertAddress<true>, nullptr, kSharedWindow},
       {"cvta.local.u64", "d8 8", convertAddress<false>, nullptr, kLocalWindow},
       {"cvta.to.local.u64", "d8 8", convertAddress<true>, nullptr,
        kLocalWindow},
       {"cvta.param.u64", "d8 8", convertAddress<false>, nullptr, kParamWindow},
       {"cvta.to.param.u64", "d8 8", convertAddress<true>, nullptr,
        kParamWindow}});
}
