// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of reports, and the effect of the modes.

#include "hazard_kernel.h"

#include <set>

using namespace attn::sim;

/// Each thread reads the word of its mirror thread, and writes its own.
static Kernel race(HazardMode mode) {
  Kernel kernel = hazardKernel(std::string(kAddresses) +
                                   "st.shared.b32 [%r2], %r0;\nbar.sync 0;\n"
                                   ".loc 1 7 3\nld.shared.b32 %r4, [%r3];\n"
                                   ".loc 1 8 3\nst.shared.b32 [%r2], 1;\n",
                               64);
  kernel.hazards = mode;
  kernel.run();
  return kernel;
}

TEST(SimHazardReport, namesBothAccesses) {
  EXPECT_EQ(race(HazardMode::Error).failure,
            "PTX line 26 (source 7:3), CTA (0,0,0), warp 0, lane 0: "
            "'ld.shared.b32 %r4, [%r3];': reads shared address 0x53c, which "
            "PTX line 28 (source 8:3), CTA (0,0,0), warp 1, lane 31: "
            "'st.shared.b32 [%r2], 1;' writes: neither is ordered before the "
            "other [race.shared]");
}

TEST(SimHazardReport, warningsDoNotFailAndComeOnce) {
  Kernel kernel = race(HazardMode::Warn);
  EXPECT_EQ(kernel.failure, "");
  // The read after the write, and the write after the read.
  EXPECT_EQ(kernel.reports.get().size(), 2u);
}

TEST(SimHazardReport, offIsSilent) {
  Kernel kernel = race(HazardMode::Off);
  EXPECT_EQ(kernel.failure, "");
  EXPECT_TRUE(kernel.reports.get().empty());
}

TEST(SimHazardReport, lesserRulesDoNotFail) {
  std::string arrive = "@%p0 mbarrier.arrive.shared.b64 %rd2, [smem];\n";
  Kernel kernel =
      hazardKernel(std::string(kAddresses) + kInit + arrive + arrive, 32);
  kernel.run();
  EXPECT_EQ(kernel.failure, "");
  EXPECT_EQ(reportedIds(kernel),
            std::set<std::string>{"mbarrier.phase-not-awaited"});
}

TEST(SimHazardReport, someErrorsAreStrictOnBlackwell) {
  for (const char *target : {"sm_90a", "sm_100a"}) {
    Kernel kernel = hazardKernel(
        std::string(kAddresses) + kInit +
            "@%p0 mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 16;\n",
        32);
    kernel.version = "8.6";
    kernel.target = target;
    kernel.run();
    EXPECT_EQ(kernel.failure.empty(), target == std::string("sm_100a"));
    EXPECT_EQ(reportedIds(kernel),
              std::set<std::string>{"exit.tx-outstanding"});
  }
}

TEST(SimHazardReport, idsAreDistinct) {
  std::set<std::string> ids;
  unsigned count = 0;
#define ATTN_SIM_RULE(name, text, severity, meaning)                           \
  ids.insert(text);                                                            \
  ++count;
  ATTN_SIM_RULES(ATTN_SIM_RULE)
#undef ATTN_SIM_RULE
  EXPECT_EQ(ids.size(), count);
}
