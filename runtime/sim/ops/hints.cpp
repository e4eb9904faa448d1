// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that only concern caches: prefetch, cache policies, and discard,
// which makes memory undefined.

#include "core/cta.h"
#include "ops/lanes.h"
#include "ops/rows.h"

using namespace attn::sim;

namespace {

constexpr uint32_t kLine = 128;

/// discard and applypriority concern a line. Inst::aux: it is discarded.
Step touchLine(Warp &warp, const Inst &inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    uint64_t address = address64(warp, inst, inst.slots[0], lane);
    std::string problem;
    if (address % kLine != 0) {
      return warp.fault("the address is not a multiple of 128", lane);
    }
    uint8_t *line = warp.cta.resolve(Space::Global, address, kLine, true, warp,
                                     lane, problem);
    if (!line) {
      return warp.fault(problem, lane);
    }
    if (inst.aux) {
      std::memset(line, kSharedPoison, kLine);
    }
  }
  return Step::Next;
}

/// [address], 128.
bool finishTouch(OperandDecoder &decoder, const ptx::Instruction &instruction,
                 const Match &, Inst &inst) {
  const auto &operands = instruction.operands;
  int64_t size = 0;
  if (!decoder.countOperands(instruction, 2, 2) ||
      !decoder.decodeAddress(operands[0], inst, inst.slots[0]) ||
      !decoder.decodeImmediate(operands[1], size)) {
    return false;
  }
  return size == kLine ||
         decoder.fail(operands[1].at, "expected a size of 128");
}

/// A policy's bits are the hardware's affair; hints ignore them.
Step makePolicy(Warp &warp, const Inst &inst) {
  uint64_t results[kLanes] = {};
  store(warp, inst.slots[0], results);
  return Step::Next;
}

bool finishFraction(OperandDecoder &decoder,
                    const ptx::Instruction &instruction, const Match &,
                    Inst &inst) {
  const auto &operands = instruction.operands;
  uint32_t fraction = 0;
  return decoder.countOperands(instruction, 1, 2) &&
         decoder.decodeDestination(operands[0], 8, inst.slots[0]) &&
         (operands.size() == 1 ||
          decoder.decodeSource(operands[1], 4, fraction, true));
}

} // namespace

void attn::sim::addHintRows(Rows &rows) {
  const std::string first = "{.L2::evict_last|.L2::evict_normal|"
                            ".L2::evict_first|.L2::evict_unchanged}";
  const std::string second = "[.L2::evict_first|.L2::evict_unchanged]";
  rows.insert(
      rows.end(),
      {{"prefetch[.global|.local]{.L1|.L2}", "m", doNothing},
       {"prefetch.global{.L2::evict_last|.L2::evict_normal}", "m", doNothing},
       {"prefetch[.param|.const].tensormap", "m", doNothing},
       {"prefetchu.L1", "m", doNothing},
       {"applypriority[.global].L2::evict_normal", "*", touchLine, finishTouch},
       {"discard[.global].L2", "*", touchLine, finishTouch, 1},
       {keep("createpolicy.fractional" + first + second + ".b64"), "*",
        makePolicy, finishFraction},
       {keep("createpolicy.range[.global]" + first + second + ".b64"),
        "d8 m 4 4", makePolicy},
       {"createpolicy.cvt.L2.b64", "d8 8", makePolicy}});
}
