// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/mbarrier.h"

#include <gtest/gtest.h>

using namespace attn::sim;

namespace {

Mbarrier fresh(uint64_t count) {
  Mbarrier barrier;
  EXPECT_EQ(mbarrierInit(barrier, count).status, MbarrierStatus::Ok);
  return barrier;
}

bool passes(const Mbarrier &barrier, uint32_t parity) {
  MbarrierTest test = mbarrierTestParity(barrier, parity);
  EXPECT_EQ(test.status, MbarrierStatus::Ok);
  return test.passed;
}

TEST(Mbarrier, aFreshOnePassesParityOneOnly) {
  Mbarrier barrier = fresh(1);
  EXPECT_TRUE(passes(barrier, 1));
  EXPECT_FALSE(passes(barrier, 0));
}

TEST(Mbarrier, countsArrivals) {
  Mbarrier barrier = fresh(3);
  EXPECT_FALSE(mbarrierArrive(barrier).completed);
  EXPECT_FALSE(passes(barrier, 0));
  EXPECT_TRUE(mbarrierArrive(barrier, 2).completed);
  EXPECT_TRUE(passes(barrier, 0));
  EXPECT_FALSE(passes(barrier, 1));
  EXPECT_EQ(barrier.pending, 3u);
  EXPECT_TRUE(mbarrierArrive(barrier, 3).completed);
  EXPECT_TRUE(passes(barrier, 1));
  EXPECT_EQ(barrier.phase, 2u);
}

TEST(Mbarrier, waitsForBytesInEitherOrder) {
  Mbarrier barrier = fresh(1);
  EXPECT_FALSE(mbarrierArriveExpectTx(barrier, 4096).completed);
  EXPECT_EQ(barrier.pending, 0u);
  EXPECT_FALSE(mbarrierCompleteTx(barrier, 4000).completed);
  EXPECT_TRUE(mbarrierCompleteTx(barrier, 96).completed);
  // Bytes arrive before they are announced.
  EXPECT_FALSE(mbarrierCompleteTx(barrier, 128).completed);
  EXPECT_EQ(barrier.tx, -128);
  EXPECT_TRUE(mbarrierArriveExpectTx(barrier, 128).completed);
  EXPECT_EQ(barrier.tx, 0);
  EXPECT_EQ(barrier.phase, 2u);
}

TEST(Mbarrier, completesEarlyIfTheBytesComeLate) {
  Mbarrier barrier = fresh(1);
  EXPECT_TRUE(mbarrierArrive(barrier).completed);
  // The announcement now belongs to the next phase.
  EXPECT_FALSE(mbarrierExpectTx(barrier, 64).completed);
  EXPECT_FALSE(mbarrierCompleteTx(barrier, 64).completed);
  EXPECT_EQ(barrier.pending, 1u);
}

TEST(Mbarrier, dropsParticipants) {
  Mbarrier barrier = fresh(3);
  EXPECT_FALSE(mbarrierArriveDrop(barrier).completed);
  EXPECT_EQ(barrier.expected, 2u);
  EXPECT_TRUE(mbarrierArrive(barrier, 2).completed);
  EXPECT_EQ(barrier.pending, 2u);
  EXPECT_FALSE(mbarrierArriveDrop(barrier, 1, 16).completed);
  EXPECT_EQ(barrier.tx, 16);
}

TEST(Mbarrier, tokens) {
  Mbarrier barrier = fresh(2);
  uint64_t first = mbarrierArrive(barrier).token;
  EXPECT_EQ(mbarrierPendingCount(first), 2u);
  EXPECT_FALSE(mbarrierTestToken(barrier, first).passed);
  uint64_t second = mbarrierArrive(barrier).token;
  EXPECT_EQ(mbarrierPendingCount(second), 1u);
  EXPECT_TRUE(mbarrierTestToken(barrier, first).passed);
  EXPECT_TRUE(mbarrierTestToken(barrier, second).passed);
  mbarrierArrive(barrier, 2);
  EXPECT_EQ(mbarrierTestToken(barrier, first).status, MbarrierStatus::BadToken);
  uint64_t future = uint64_t(7) << 20;
  EXPECT_EQ(mbarrierTestToken(barrier, future).status,
            MbarrierStatus::BadToken);
}

TEST(Mbarrier, misuseLeavesItUnchanged) {
  Mbarrier barrier;
  EXPECT_EQ(mbarrierArrive(barrier).status, MbarrierStatus::NotLive);
  EXPECT_EQ(mbarrierTestParity(barrier, 0).status, MbarrierStatus::NotLive);
  EXPECT_EQ(mbarrierInval(barrier).status, MbarrierStatus::NotLive);
  EXPECT_EQ(mbarrierInit(barrier, 0).status, MbarrierStatus::BadCount);
  EXPECT_EQ(mbarrierInit(barrier, 1u << 20).status, MbarrierStatus::BadCount);
  barrier = fresh(2);
  EXPECT_EQ(mbarrierInit(barrier, 2).status, MbarrierStatus::AlreadyLive);
  EXPECT_EQ(mbarrierArrive(barrier, 3).status, MbarrierStatus::ArriveUnderflow);
  EXPECT_EQ(mbarrierArrive(barrier, 0).status, MbarrierStatus::BadCount);
  EXPECT_EQ(mbarrierExpectTx(barrier, 1u << 20).status,
            MbarrierStatus::TxOutOfRange);
  EXPECT_EQ(mbarrierExpectTx(barrier, kMbarrierMaxCount).status,
            MbarrierStatus::Ok);
  EXPECT_EQ(mbarrierExpectTx(barrier, 1).status, MbarrierStatus::TxOutOfRange);
  EXPECT_EQ(mbarrierCompleteTx(barrier, kMbarrierMaxCount).status,
            MbarrierStatus::Ok);
  EXPECT_EQ(mbarrierArrive(barrier, 2, true).status,
            MbarrierStatus::CompletesPhase);
  EXPECT_EQ(barrier.pending, 2u);
  EXPECT_EQ(barrier.phase, 0u);
  // All have arrived, bytes are missing: one more arrival is too many.
  mbarrierArriveExpectTx(barrier, 16, 2);
  EXPECT_EQ(mbarrierArrive(barrier).status, MbarrierStatus::ArriveUnderflow);
  EXPECT_EQ(mbarrierInval(barrier).status, MbarrierStatus::Ok);
  EXPECT_EQ(mbarrierArrive(barrier).status, MbarrierStatus::NotLive);
  EXPECT_STRNE(describe(MbarrierStatus::ArriveUnderflow), "");
}

TEST(Mbarrier, incrementNeedsOneMoreArrival) {
  Mbarrier barrier = fresh(1);
  EXPECT_EQ(mbarrierIncrementPending(barrier).status, MbarrierStatus::Ok);
  EXPECT_FALSE(mbarrierArrive(barrier).completed);
  EXPECT_TRUE(mbarrierArrive(barrier).completed);
  EXPECT_EQ(barrier.pending, 1u);
}

TEST(Mbarrier, classifiesWaits) {
  Mbarrier barrier = fresh(1);
  uint64_t observed = 0;
  auto wait = [&](uint32_t parity) {
    return classifyParityWait(barrier, parity, observed);
  };
  EXPECT_EQ(wait(1), ParityWait::Repeats);
  EXPECT_EQ(wait(0), ParityWait::Blocks);
  mbarrierArrive(barrier);
  EXPECT_EQ(wait(0), ParityWait::Passes);
  EXPECT_EQ(observed, 1u);
  EXPECT_EQ(wait(0), ParityWait::Repeats);
  EXPECT_EQ(wait(1), ParityWait::Blocks);
  // Two phases complete unobserved: phase 1 is over, yet its parity blocks.
  mbarrierArrive(barrier);
  mbarrierArrive(barrier);
  EXPECT_EQ(wait(1), ParityWait::Aliased);
  EXPECT_EQ(observed, 1u);
  // The other parity names phase 2.
  EXPECT_EQ(wait(0), ParityWait::SkipsAndPasses);
  EXPECT_EQ(observed, 3u);
  mbarrierArrive(barrier);
  EXPECT_EQ(wait(0), ParityWait::Skips);
  mbarrierArrive(barrier);
  mbarrierArrive(barrier);
  EXPECT_EQ(wait(1), ParityWait::SkipsAndPasses);
  EXPECT_EQ(observed, 6u);
}

TEST(Mbarrier, packs) {
  Mbarrier barrier = fresh(kMbarrierMaxCount);
  mbarrierArrive(barrier, 5);
  mbarrierCompleteTx(barrier, 77);
  barrier.phase = 5;
  Mbarrier back;
  ASSERT_TRUE(unpackMbarrier(packMbarrier(barrier), back));
  EXPECT_TRUE(back.live);
  EXPECT_EQ(back.expected, barrier.expected);
  EXPECT_EQ(back.pending, barrier.pending);
  EXPECT_EQ(back.tx, -77);
  EXPECT_EQ(back.phase, 1u);
  EXPECT_EQ(packMbarrier(Mbarrier()), 0u);
  EXPECT_TRUE(unpackMbarrier(0, back));
  EXPECT_FALSE(back.live);
  EXPECT_FALSE(unpackMbarrier(12345, back));
}

} // namespace
