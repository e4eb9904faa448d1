// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shfl, vote, match, redux, elect and activemask.

#include "units/warp_ops.h"

#include "core/cta.h"
#include "hazards/tracker.h"
#include "ops/lanes.h"
#include "ops/rows.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// Whether each lane is in its mask, and has the mask of every lane in it.
bool checkMasks(Warp &warp, const uint32_t *masks, Step &step) {
  const uint32_t first = masks[__builtin_ctz(warp.exec)];
  bool equal = (warp.exec & ~first) == 0;
  forLanes(warp.exec, [&](unsigned lane) { equal &= masks[lane] == first; });
  if (equal) {
    return true;
  }
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    unsigned lane = unsigned(__builtin_ctz(left));
    if (!(masks[lane] >> lane & 1)) {
      step = warp.fault(Rule::WarpMask, "the lane is not in its mask", lane);
      return false;
    }
    bool same = true;
    forLanes(masks[lane] & warp.exec,
             [&](unsigned other) { same &= masks[other] == masks[lane]; });
    if (!same) {
      step = warp.fault(Rule::WarpMask,
                        "a lane of its mask has a different mask", lane);
      return false;
    }
  }
  return true;
}

/// Calls `body()` with the lanes of each mask in `slot`, once the live ones are
/// here.
template <typename Body> Step forMasks(Warp &warp, uint32_t slot, Body body) {
  const uint32_t *masks = warp.word(slot);
  uint32_t wanted = 0;
  forLanes(warp.exec, [&](unsigned lane) { wanted |= masks[lane]; });
  Step step = Step::Next;
  if (!warp.gather(wanted, Rule::WarpMask, step) ||
      !checkMasks(warp, masks, step)) {
    return step;
  }
  const uint32_t all = warp.exec;
  for (uint32_t left = all; left && step == Step::Next; left &= ~warp.exec) {
    // The body may overwrite the masks, but only of its own lanes.
    warp.exec = masks[__builtin_ctz(left)] & all;
    step = body();
  }
  warp.exec = all;
  return step;
}

/// bar.warp.sync. Slots: mask.
Step warpBarrier(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[0], [&] {
    if (warp.cta.hazards) {
      warp.cta.hazards->knowledge.syncLanes(warp, warp.exec);
    }
    return Step::Next;
  });
}

/// Slots: d, p, a, b, c, mask.
template <ShuffleMode mode> Step shfl(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[5], [&] {
    uint32_t results[kLanes] = {};
    uint32_t valid = 0;
    uint32_t bad =
        shuffle(mode, warp.word(inst.slots[2]), warp.word(inst.slots[3]),
                warp.word(inst.slots[4]), warp.exec, results, &valid);
    if (bad) {
      return warp.fault(Rule::WarpAbsent,
                        "the lane reads a lane that does not take part",
                        unsigned(__builtin_ctz(bad)));
    }
    store(warp, inst.slots[0], results);
    if (inst.slots[1] != kNone) {
      warp.writePredicate(inst.slots[1], valid);
    }
    return Step::Next;
  });
}

enum class Vote { All, Any, Uniform, Ballot };

/// Slots: d, predicate, mask.
template <Vote vote> Step runVote(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[2], [&] {
    uint32_t lanes = warp.readPredicate(inst.slots[1], inst.negated);
    if (vote == Vote::Ballot) {
      uint32_t results[kLanes];
      std::fill_n(results, kLanes, voteBallot(lanes, warp.exec));
      store(warp, inst.slots[0], results);
      return Step::Next;
    }
    bool result = vote == Vote::All   ? voteAll(lanes, warp.exec)
                  : vote == Vote::Any ? voteAny(lanes, warp.exec)
                                      : voteUniform(lanes, warp.exec);
    warp.writePredicate(inst.slots[0], result ? kAllLanes : 0);
    return Step::Next;
  });
}

/// Slots: d, a, mask.
template <ReduxOp op> Step runRedux(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[2], [&] {
    uint32_t results[kLanes];
    std::fill_n(results, kLanes,
                redux(op, warp.word(inst.slots[1]), warp.exec));
    store(warp, inst.slots[0], results);
    return Step::Next;
  });
}

/// Bits of Inst::aux of redux on f32.
constexpr uint64_t kMax = 1;
constexpr uint64_t kAbs = 2;
constexpr uint64_t kNaN = 4;

/// Slots: d, a, mask.
Step runReduxF32(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[2], [&] {
    uint32_t results[kLanes];
    std::fill_n(results, kLanes,
                reduxF32(inst.aux & kMax, inst.aux & kAbs, inst.aux & kNaN,
                         warp.word(inst.slots[1]), warp.exec));
    store(warp, inst.slots[0], results);
    return Step::Next;
  });
}

bool finishReduxF32(OperandDecoder &, const ptx::Instruction &,
                    const Match &match, Inst &inst) {
  inst.aux = (match.has(".max") ? kMax : 0) | (match.has(".abs") ? kAbs : 0) |
             (match.has(".NaN") ? kNaN : 0);
  return true;
}

/// Slots: d, p, a, mask.
template <bool all, typename Word> Step match(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[3], [&] {
    uint64_t values[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      values[lane] = warp.at<Word>(inst.slots[2])[lane];
    }
    uint32_t results[kLanes] = {};
    if (all) {
      std::fill_n(results, kLanes, matchAll(values, warp.exec));
    } else {
      matchAny(values, warp.exec, results);
    }
    store(warp, inst.slots[0], results);
    if (inst.slots[1] != kNone) {
      warp.writePredicate(inst.slots[1], results[0] ? kAllLanes : 0);
    }
    return Step::Next;
  });
}

/// Slots: d, p, mask.
Step elect(Warp &warp, const Inst &inst) {
  return forMasks(warp, inst.slots[2], [&] {
    uint32_t leader = electLeader(warp.exec);
    uint32_t results[kLanes];
    std::fill_n(results, kLanes, leader);
    store(warp, inst.slots[0], results);
    if (inst.slots[1] != kNone) {
      warp.writePredicate(inst.slots[1], 1u << leader);
    }
    return Step::Next;
  });
}

Step activeMask(Warp &warp, const Inst &inst) {
  uint32_t results[kLanes];
  std::fill_n(results, kLanes, warp.exec);
  store(warp, inst.slots[0], results);
  return Step::Next;
}

} // namespace

void attn::sim::addWarpRows(Rows &rows) {
  rows.insert(rows.end(),
              {{"bar.warp.sync", "4", warpBarrier},
               {"shfl.sync.up.b32", "d4p 4 4 4 4", shfl<ShuffleMode::Up>},
               {"shfl.sync.down.b32", "d4p 4 4 4 4", shfl<ShuffleMode::Down>},
               {"shfl.sync.bfly.b32", "d4p 4 4 4 4", shfl<ShuffleMode::Bfly>},
               {"shfl.sync.idx.b32", "d4p 4 4 4 4", shfl<ShuffleMode::Idx>},
               {"vote.sync.all.pred", "dp p 4", runVote<Vote::All>},
               {"vote.sync.any.pred", "dp p 4", runVote<Vote::Any>},
               {"vote.sync.uni.pred", "dp p 4", runVote<Vote::Uniform>},
               {"vote.sync.ballot.b32", "d4 p 4", runVote<Vote::Ballot>},
               {"match.any.sync.b32", "d4p 4 4", match<false, uint32_t>},
               {"match.any.sync.b64", "d4p 8 4", match<false, uint64_t>},
               {"match.all.sync.b32", "d4p 4 4", match<true, uint32_t>},
               {"match.all.sync.b64", "d4p 8 4", match<true, uint64_t>},
               {"redux.sync.add{.s32|.u32}", "d4 4 4", runRedux<ReduxOp::Add>},
               {"redux.sync.min.s32", "d4 4 4", runRedux<ReduxOp::MinS32>},
               {"redux.sync.max.s32", "d4 4 4", runRedux<ReduxOp::MaxS32>},
               {"redux.sync.min.u32", "d4 4 4", runRedux<ReduxOp::MinU32>},
               {"redux.sync.max.u32", "d4 4 4", runRedux<ReduxOp::MaxU32>},
               {"redux.sync.and.b32", "d4 4 4", runRedux<ReduxOp::And>},
               {"redux.sync.or.b32", "d4 4 4", runRedux<ReduxOp::Or>},
               {"redux.sync.xor.b32", "d4 4 4", runRedux<ReduxOp::Xor>},
               {"redux.sync{.min|.max}[.abs][.NaN].f32", "d4 f4 4", runReduxF32,
                finishReduxF32, 0, kFamily100},
               {"elect.sync", "d4p 4", elect},
               {"activemask.b32", "d4", activeMask}});
}
