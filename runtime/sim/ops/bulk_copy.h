// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by cp.async.bulk and its tensor forms: destinations, the start of
// copies, and trailing operands.

#ifndef ATTN_SIM_OPS_BULK_COPY_H
#define ATTN_SIM_OPS_BULK_COPY_H

#include "hazards/tracker.h"
#include "ops/address_list.h"
#include "ops/async_signal.h"
#include "ops/lanes.h"

#include <memory>

namespace attn::sim {

/// A message with its rule.
std::string outOfBounds(const char *what, uint64_t address, uint64_t bytes);

/// Bits of Inst::aux of what writes shared memory.
constexpr uint64_t kMulticast = 1;
constexpr uint64_t kPair = 4;

/// The destinations of a copy to shared memory: the same offset in several
/// CTAs.
struct Targets {
  uint32_t address = 0;
  uint32_t barrier = 0;
  /// The mbarriers are in the CTAs of each pair with the parity of `barrier`'s.
  bool signalsPair = false;
  std::vector<uint32_t> ranks;
  /// By rank, HazardTracker's numbers.
  std::vector<uint32_t> hazards;

  /// Reads the CTAs of a multicast, from the mask in slot 1, or the CTA of the
  /// address. `action` describes the copy for one of them. Returns "" or the
  /// error.
  std::string read(Warp &warp, const Inst &inst, unsigned lane,
                   const BulkAction &action);
  /// Begins the copy to the CTAs whose ranks are in `mask`, in a bit each.
  std::string begin(Warp &warp, unsigned lane, uint32_t mask,
                    const BulkAction &action);
  /// Calls `write(memory)` in each CTA and signals there.
  template <typename Write>
  std::string deliver(const AsyncCopy &copy, Cta &from, uint32_t bytes,
                      Write write) const;

private:
  /// Poisons the place in `cta`.
  std::string begin(Warp &warp, unsigned lane, Cta &cta, BulkAction action);
  /// The mbarrier that the copy to the CTA of `rank` signals.
  uint32_t barrierOf(uint32_t rank) const {
    uint32_t parity = barrier >> kSharedRankShift & 1;
    uint32_t signalled = signalsPair ? (rank & ~1u) | parity : rank;
    return signalled << kSharedRankShift | (barrier & kSharedOffsetMask);
  }
};

template <typename Write>
std::string Targets::deliver(const AsyncCopy &copy, Cta &from, uint32_t bytes,
                             Write write) const {
  std::string problem;
  for (size_t i = 0; i < ranks.size() && problem.empty(); ++i) {
    Cta *cta = from.findOwner(ranks[i] << kSharedRankShift, problem);
    if (cta) {
      write(cta->shared(cta->ownAddress(address), bytes));
      problem = signalBytes(copy, from, barrierOf(ranks[i]), bytes,
                            hazards.empty() ? 0 : hazards[i]);
    }
  }
  return problem;
}

/// The number that the open group of a thread will have.
uint64_t joinGroup(Warp &warp, unsigned lane);

/// Starts a copy for each lane, after `read(lane, copy)` has read its operands;
/// `read` returns "" or the error.
template <typename Copy, typename Read>
Step startCopies(Warp &warp, Read read) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    auto copy = std::make_unique<Copy>();
    placeCopy(*copy, warp, lane);
    std::string problem = read(lane, *copy);
    if (!problem.empty()) {
      return warp.fault(problem, lane);
    }
    warp.cta.inFlight.start(std::move(copy));
  }
  return Step::Next;
}

/// Decodes optional operands from number `first` on: the mask of a multicast,
/// then a cache policy.
bool finishTail(OperandDecoder &decoder, const ptx::Instruction &instruction,
                const Match &match, size_t first, Inst &inst);

} // namespace attn::sim

#endif // ATTN_SIM_OPS_BULK_COPY_H
