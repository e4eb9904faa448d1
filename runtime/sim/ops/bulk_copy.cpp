// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ops/bulk_copy.h"
#include "hazards/tracker.h"

using namespace attn::sim;

std::string attn::sim::outOfBounds(const char *what, uint64_t address,
                                   uint64_t bytes) {
  char text[96];
  std::snprintf(text, sizeof(text),
                "%s: %llu bytes at address 0x%llx are out of bounds", what,
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address));
  return text + ruleSuffix(Rule::Bounds);
}

std::string Targets::begin(Warp &warp, unsigned lane, Cta &cta,
                           BulkAction action) {
  std::string problem;
  action.shared = cta.ownAddress(address);
  action.mbarrier = barrierOf(cta.rank);
  uint8_t *to = cta.shared(action.shared, action.bytes);
  if (!to) {
    return outOfBounds("shared memory", address, action.bytes);
  }
  if (!findSignalled(warp.cta, action.mbarrier, problem)) {
    return problem;
  }
  if (warp.cta.hazards) {
    hazards.push_back(warp.cta.hazards->bulk.issueLoad(warp, lane, action));
  }
  if (!action.reduces) {
    std::memset(to, kSharedPoison, action.bytes);
  }
  return "";
}

std::string Targets::read(Warp &warp, const Inst &inst, unsigned lane,
                          const BulkAction &action) {
  uint32_t own = address >> kSharedRankShift;
  uint32_t signalled = barrier >> kSharedRankShift;
  uint32_t mask = 1u << own % 32;
  signalsPair = inst.aux & kPair;
  if (inst.aux & kMulticast) {
    mask = warp.word(inst.slots[1])[lane] & 0xffff;
  } else if (signalsPair ? signalled / 2 != own / 2 : signalled != own) {
    return std::string("expected the mbarrier in the CTA of the destination") +
           (signalsPair ? ", or in the other of its pair" : "") +
           ruleSuffix(Rule::MbarrierAddress);
  }
  return begin(warp, lane, mask, action);
}

std::string Targets::begin(Warp &warp, unsigned lane, uint32_t mask,
                           const BulkAction &action) {
  forLanes(mask, [&](unsigned rank) { ranks.push_back(rank); });
  std::string problem;
  for (size_t i = 0; i < ranks.size() && problem.empty(); ++i) {
    Cta *cta = warp.cta.findOwner(ranks[i] << kSharedRankShift, problem);
    if (cta) {
      problem = begin(warp, lane, *cta, action);
    }
  }
  return problem;
}

uint64_t attn::sim::joinGroup(Warp &warp, unsigned lane) {
  BulkGroups &groups = warp.cta.inFlight.bulkGroups(warp, lane);
  ++groups.open;
  return groups.oldest + groups.pending.size();
}

bool attn::sim::finishTail(OperandDecoder &decoder,
                           const ptx::Instruction &instruction,
                           const Match &match, size_t first, Inst &inst) {
  bool multicast = match.has(".multicast::cluster");
  bool hint = match.has(".L2::cache_hint");
  size_t count = first + multicast + hint;
  const auto &operands = instruction.operands;
  uint32_t policy = 0;
  inst.aux |= multicast ? kMulticast : 0;
  return decoder.countOperands(instruction, count, count) &&
         (!multicast ||
          decoder.decodeSource(operands[first], 2, inst.slots[1])) &&
         (!hint || decoder.decodeSource(operands[count - 1], 8, policy));
}
