// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/ItemChoice.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace attn;

namespace {

/// What a role hands out in each iteration: items 0, 1, ..., or the iteration
/// of which this one is the second run.
struct HandedOut {
  std::vector<int> items, secondOf, takenBefore; // verdicts known
};

/// `rejected` says of each item whether its first run is rejected.
HandedOut handOut(const std::vector<bool> &rejected) {
  HandedOut out;
  std::vector<int64_t> taken;
  auto take = [&](int64_t iteration) {
    taken.push_back(iteration);
    return out.secondOf[iteration] < 0 && rejected[out.items[iteration]];
  };
  ws::KnownScalars now{take};
  ws::HandOutState<int64_t> state;
  for (size_t next = 0;;) {
    int64_t iteration = out.items.size();
    auto chosen = ws::chooseItem(now, state, iteration, next < rejected.size());
    for (size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i], int64_t(i)) << "verdicts are taken in order";
    }
    out.takenBefore.push_back(taken.size());
    if (!chosen.exists) {
      EXPECT_EQ(int64_t(taken.size()), iteration) << "all are taken in the end";
      return out;
    }
    EXPECT_EQ(chosen.slot, iteration % 2);
    out.items.push_back(chosen.second ? out.items[chosen.number] : next++);
    out.secondOf.push_back(chosen.second ? chosen.number : -1);
    state = chosen.state;
  }
}

using Numbers = std::vector<int>;

TEST(ItemChoice, AcceptedItemsComeOnce) {
  HandedOut out = handOut({false, false, false});
  EXPECT_EQ(out.items, (Numbers{0, 1, 2}));
  // The verdict on the last iteration is not waited for while there are items.
  EXPECT_EQ(out.takenBefore, (Numbers{0, 0, 1, 3}));
}

TEST(ItemChoice, ARejectedItemComesTwoIterationsLater) {
  HandedOut out = handOut({true, false, false});
  EXPECT_EQ(out.items, (Numbers{0, 1, 0, 2}));
  EXPECT_EQ(out.secondOf, (Numbers{-1, -1, 0, -1}));
}

TEST(ItemChoice, TheLastItemsVerdictIsWaitedFor) {
  HandedOut out = handOut({false, true});
  EXPECT_EQ(out.items, (Numbers{0, 1, 1}));
  // Two verdicts in one iteration: the one that is due, and the last.
  EXPECT_EQ(out.takenBefore, (Numbers{0, 0, 2, 3}));
}

TEST(ItemChoice, EveryItemHasItsRunsWhateverIsRejected) {
  for (int items = 0; items <= 5; ++items) {
    for (int bits = 0; bits < 1 << items; ++bits) {
      std::vector<bool> rejected;
      for (int i = 0; i < items; ++i) {
        rejected.push_back(bits >> i & 1);
      }
      HandedOut out = handOut(rejected);
      for (int i = 0; i < items; ++i) {
        EXPECT_EQ(std::count(out.items.begin(), out.items.end(), i),
                  1 + rejected[i])
            << "item " << i << " of " << items << ", rejected " << bits;
      }
    }
  }
}

} // namespace
