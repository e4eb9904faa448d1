// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/mbarrier.h"

using namespace attn::sim;

namespace {

constexpr int64_t kMaxTx = kMbarrierMaxCount;
constexpr int kCountBits = 20;
constexpr int kTxBits = 21;

MbarrierEvent fail(MbarrierStatus status) {
  MbarrierEvent event;
  event.status = status;
  return event;
}

/// The state before an arrival: the pending count below the phase's number.
uint64_t tokenOf(const Mbarrier &barrier) {
  return barrier.phase << kCountBits | barrier.pending;
}

/// The changes of all counters in one atomic step.
struct Change {
  int64_t tx = 0;
  uint64_t arrivals = 0;
  bool drop = false;
  bool noComplete = false;
};

MbarrierEvent apply(Mbarrier &barrier, const Change &change) {
  if (!barrier.live) {
    return fail(MbarrierStatus::NotLive);
  }
  if (change.arrivals > barrier.pending) {
    return fail(MbarrierStatus::ArriveUnderflow);
  }
  int64_t tx = barrier.tx + change.tx;
  if (tx > kMaxTx || tx < -kMaxTx) {
    return fail(MbarrierStatus::TxOutOfRange);
  }
  auto pending = uint32_t(barrier.pending - change.arrivals);
  bool completes = pending == 0 && tx == 0;
  if (completes && change.noComplete) {
    return fail(MbarrierStatus::CompletesPhase);
  }
  MbarrierEvent event;
  event.token = tokenOf(barrier);
  event.completed = completes;
  barrier.tx = int32_t(tx);
  barrier.pending = pending;
  barrier.expected -= change.drop ? uint32_t(change.arrivals) : 0;
  if (completes) {
    ++barrier.phase;
    barrier.pending = barrier.expected;
  }
  return event;
}

bool isCount(uint64_t count) {
  return count >= 1 && count <= kMbarrierMaxCount;
}

} // namespace

const char *attn::sim::describe(MbarrierStatus status) {
  switch (status) {
  case MbarrierStatus::Ok:
    return "ok";
  case MbarrierStatus::NotLive:
    return "mbarrier used before init or after inval";
  case MbarrierStatus::AlreadyLive:
    return "init of a live mbarrier";
  case MbarrierStatus::BadCount:
    return "mbarrier count outside 1 to 2^20-1";
  case MbarrierStatus::ArriveUnderflow:
    return "more arrivals than the mbarrier's phase expects";
  case MbarrierStatus::TxOutOfRange:
    return "mbarrier tx-count outside -(2^20-1) to 2^20-1";
  case MbarrierStatus::CompletesPhase:
    return "a .noComplete arrival completes the phase";
  case MbarrierStatus::BadToken:
    return "the token is no state of the mbarrier's current or last phase";
  }
  return "";
}

MbarrierEvent attn::sim::mbarrierInit(Mbarrier &barrier, uint64_t count) {
  if (barrier.live) {
    return fail(MbarrierStatus::AlreadyLive);
  }
  if (!isCount(count)) {
    return fail(MbarrierStatus::BadCount);
  }
  barrier = Mbarrier();
  barrier.live = true;
  barrier.expected = uint32_t(count);
  barrier.pending = uint32_t(count);
  return {};
}

MbarrierEvent attn::sim::mbarrierInval(Mbarrier &barrier) {
  if (!barrier.live) {
    return fail(MbarrierStatus::NotLive);
  }
  barrier = Mbarrier();
  return {};
}

MbarrierEvent attn::sim::mbarrierArrive(Mbarrier &barrier, uint64_t count,
                                        bool noComplete) {
  if (!isCount(count)) {
    return fail(MbarrierStatus::BadCount);
  }
  Change change;
  change.arrivals = count;
  change.noComplete = noComplete;
  return apply(barrier, change);
}

/// The rest of `change` says which arrival it is.
static MbarrierEvent arriveExpecting(Mbarrier &barrier, uint64_t bytes,
                                     uint64_t count, Change change) {
  if (!isCount(count)) {
    return fail(MbarrierStatus::BadCount);
  }
  if (bytes > kMbarrierMaxCount) {
    return fail(MbarrierStatus::TxOutOfRange);
  }
  change.tx = int64_t(bytes);
  change.arrivals = count;
  return apply(barrier, change);
}

MbarrierEvent attn::sim::mbarrierArriveExpectTx(Mbarrier &barrier,
                                                uint64_t bytes,
                                                uint64_t count) {
  return arriveExpecting(barrier, bytes, count, Change());
}

MbarrierEvent attn::sim::mbarrierArriveDrop(Mbarrier &barrier, uint64_t count,
                                            uint64_t bytes, bool noComplete) {
  Change change;
  change.drop = true;
  change.noComplete = noComplete;
  return arriveExpecting(barrier, bytes, count, change);
}

MbarrierEvent attn::sim::mbarrierExpectTx(Mbarrier &barrier, uint64_t bytes) {
  if (bytes > kMbarrierMaxCount) {
    return fail(MbarrierStatus::TxOutOfRange);
  }
  Change change;
  change.tx = int64_t(bytes);
  return apply(barrier, change);
}

MbarrierEvent attn::sim::mbarrierCompleteTx(Mbarrier &barrier, uint64_t bytes) {
  if (bytes > kMbarrierMaxCount) {
    return fail(MbarrierStatus::TxOutOfRange);
  }
  Change change;
  change.tx = -int64_t(bytes);
  return apply(barrier, change);
}

MbarrierEvent attn::sim::mbarrierIncrementPending(Mbarrier &barrier) {
  if (!barrier.live) {
    return fail(MbarrierStatus::NotLive);
  }
  if (barrier.pending == kMbarrierMaxCount) {
    return fail(MbarrierStatus::BadCount);
  }
  ++barrier.pending;
  return {};
}

MbarrierTest attn::sim::mbarrierTestToken(const Mbarrier &barrier,
                                          uint64_t token) {
  if (!barrier.live) {
    return {MbarrierStatus::NotLive, false};
  }
  uint64_t phase = token >> kCountBits;
  if (phase > barrier.phase || phase + 1 < barrier.phase) {
    return {MbarrierStatus::BadToken, false};
  }
  return {MbarrierStatus::Ok, phase < barrier.phase};
}

MbarrierTest attn::sim::mbarrierTestParity(const Mbarrier &barrier,
                                           uint32_t parity) {
  if (!barrier.live) {
    return {MbarrierStatus::NotLive, false};
  }
  return {MbarrierStatus::Ok, (barrier.phase & 1) != (parity & 1)};
}

uint32_t attn::sim::mbarrierPendingCount(uint64_t token) {
  return uint32_t(token & kMbarrierMaxCount);
}

ParityWait attn::sim::classifyParityWait(const Mbarrier &barrier,
                                         uint32_t parity, uint64_t &observed) {
  bool passes = (barrier.phase & 1) != (parity & 1);
  uint64_t ahead = barrier.phase - observed;
  if ((observed & 1) == (parity & 1)) {
    // Names phase `observed`.
    if (!passes) {
      return ahead == 0 ? ParityWait::Blocks : ParityWait::Aliased;
    }
    // An odd number of phases is complete beyond `observed`.
    observed = barrier.phase;
    return ahead == 1 ? ParityWait::Passes : ParityWait::SkipsAndPasses;
  }
  if (passes) {
    if (ahead == 0) {
      return ParityWait::Repeats;
    }
    observed = barrier.phase;
    return ParityWait::SkipsAndPasses;
  }
  return ParityWait::Skips;
}

uint64_t attn::sim::packMbarrier(const Mbarrier &barrier) {
  if (!barrier.live) {
    return 0;
  }
  auto tx = uint64_t(uint32_t(barrier.tx)) & ((uint64_t(1) << kTxBits) - 1);
  return uint64_t(2) << 62 | (barrier.phase & 1) << 61 |
         uint64_t(barrier.expected) << (kCountBits + kTxBits) |
         uint64_t(barrier.pending) << kTxBits | tx;
}

bool attn::sim::unpackMbarrier(uint64_t image, Mbarrier &barrier) {
  if (image == 0) {
    barrier = Mbarrier();
    return true;
  }
  if (image >> 62 != 2) {
    return false;
  }
  barrier.live = true;
  barrier.phase = (image >> 61) & 1;
  barrier.expected =
      uint32_t(image >> (kCountBits + kTxBits)) & kMbarrierMaxCount;
  barrier.pending = uint32_t(image >> kTxBits) & kMbarrierMaxCount;
  barrier.tx = int32_t(uint32_t(image) << (32 - kTxBits)) >> (32 - kTxBits);
  return true;
}
