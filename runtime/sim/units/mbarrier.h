// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state machine of an mbarrier object (PTX ISA, "mbarrier"). A phase is
// complete exactly when no arrival is pending and the tx-count is zero; then
// the next phase begins with the expected count. States live beside memory;
// what memory holds is packMbarrier's image, so that plain accesses to a live
// barrier can be seen.

#ifndef ATTN_SIM_UNITS_MBARRIER_H
#define ATTN_SIM_UNITS_MBARRIER_H

#include "units/bits.h"

namespace attn::sim {

constexpr uint32_t kMbarrierMaxCount = (1u << 20) - 1;

struct Mbarrier {
  bool live = false;
  /// Arrivals that each phase expects.
  uint32_t expected = 0;
  /// Arrivals that the current phase still waits for.
  uint32_t pending = 0;
  /// Bytes announced less bytes delivered in the current phase.
  int32_t tx = 0;
  /// Number of the current phase: how many have completed. Its parity is what
  /// PTX calls the phase bit.
  uint64_t phase = 0;
};

enum class MbarrierStatus : uint8_t {
  Ok,
  /// Used before init or after inval.
  NotLive,
  /// init of a live object.
  AlreadyLive,
  /// A count of 0 or above 2^20-1.
  BadCount,
  /// More arrivals than are pending.
  ArriveUnderflow,
  /// |tx-count| above 2^20-1.
  TxOutOfRange,
  /// .noComplete although the arrival completes the phase.
  CompletesPhase,
  /// A state token that is no state of this object, or of a phase too old.
  BadToken,
};
const char *describe(MbarrierStatus status);

/// The result of a change. On any status but Ok the object is unchanged.
struct MbarrierEvent {
  MbarrierStatus status = MbarrierStatus::Ok;
  /// Whether this completed the phase that was current before.
  bool completed = false;
  /// arrive's destination: the state before the arrival.
  uint64_t token = 0;
};

MbarrierEvent mbarrierInit(Mbarrier &barrier, uint64_t count);
MbarrierEvent mbarrierInval(Mbarrier &barrier);
MbarrierEvent mbarrierArrive(Mbarrier &barrier, uint64_t count = 1,
                             bool noComplete = false);
/// Announces `bytes`, then arrives once.
MbarrierEvent mbarrierArriveExpectTx(Mbarrier &barrier, uint64_t bytes,
                                     uint64_t count = 1);
/// arrive_drop{.expect_tx}: lowers the expected count as well.
MbarrierEvent mbarrierArriveDrop(Mbarrier &barrier, uint64_t count = 1,
                                 uint64_t bytes = 0, bool noComplete = false);
MbarrierEvent mbarrierExpectTx(Mbarrier &barrier, uint64_t bytes);
MbarrierEvent mbarrierCompleteTx(Mbarrier &barrier, uint64_t bytes);
/// cp.async.mbarrier.arrive without .noinc: one more pending arrival.
MbarrierEvent mbarrierIncrementPending(Mbarrier &barrier);

/// test_wait / try_wait. `passed` holds if the status is Ok.
struct MbarrierTest {
  MbarrierStatus status = MbarrierStatus::Ok;
  bool passed = false;
};
/// By a token of arrive: has its phase completed?
MbarrierTest mbarrierTestToken(const Mbarrier &barrier, uint64_t token);
/// By parity: true iff the current phase's parity is not `parity`.
MbarrierTest mbarrierTestParity(const Mbarrier &barrier, uint32_t parity);
/// mbarrier.pending_count.
uint32_t mbarrierPendingCount(uint64_t token);

/// The meaning of a parity wait for a waiter that knows the first `observed`
/// phases to be complete (0 for its first wait) and so must wait for phase
/// number `observed`.
enum class ParityWait : uint8_t {
  /// The due phase is not complete: blocks.
  Blocks,
  /// The due phase is complete and no later one is: passes.
  Passes,
  /// Names the phase before the due one: passes at once. On a fresh barrier
  /// this
  /// is the producer's usual first wait.
  Repeats,
  /// The due phase is complete and so is the next: the parity now names a later
  /// one, and the wait blocks although its phase is over.
  Aliased,
  /// The due phase completed without being waited for, and the parity names the
  /// one after it, which is not complete: blocks.
  Skips,
  /// Passes, but more than the due phase has completed, or the due phase was
  /// never waited for.
  SkipsAndPasses,
};
/// Classifies; updates `observed` if the wait passes.
ParityWait classifyParityWait(const Mbarrier &barrier, uint32_t parity,
                              uint64_t &observed);

/// The 64-bit image in shared memory, with the top two bits 10: phase parity,
/// expected, pending, tx. A dead object's is 0. unpack restores all but the
/// number of the phase (0 or 1); false if the bits are no image.
uint64_t packMbarrier(const Mbarrier &barrier);
bool unpackMbarrier(uint64_t image, Mbarrier &barrier);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_MBARRIER_H
