// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which '.version' and '.target' are accepted, and which ones instructions
// need.

#include "core_kernel.h"

using namespace attn::sim;

namespace {

std::string runFor(const std::string &version, const std::string &target,
                   const std::string &body = "") {
  Kernel kernel;
  kernel.version = version;
  kernel.target = target;
  kernel.threads = 128;
  kernel.body = body + "st.global.b32 [%rd1], 7;\n";
  kernel.run();
  EXPECT_TRUE(!kernel.failure.empty() || kernel.words[31] == 7);
  return kernel.failure;
}

TEST(Targets, areThoseOfHopperAndBlackwell) {
  for (const char *target : {"sm_50", "sm_80", "sm_90", "sm_90a"}) {
    EXPECT_EQ(runFor("8.0", target), "") << target;
  }
  for (const char *target : {"sm_100", "sm_100a"}) {
    for (const char *version : {"8.6", "8.7", "8.8", "9.0", "9.1"}) {
      EXPECT_EQ(runFor(version, target), "") << target;
    }
  }
  for (const char *target : {"sm_100f", "sm_103", "sm_103a", "sm_103f"}) {
    for (const char *version : {"8.8", "9.0", "9.1"}) {
      EXPECT_EQ(runFor(version, target), "") << target;
    }
  }
}

TEST(Targets, areRefusedByName) {
  for (const char *target : {"sm_101a", "sm_110a", "sm_120", "sm_120a"}) {
    EXPECT_EQ(runFor("9.0", target),
              "expected '.target' sm_50 to sm_90, or one of sm_90a, sm_100, "
              "sm_100f, sm_100a, sm_103, sm_103f, sm_103a, got " +
                  std::string(target));
  }
}

TEST(Targets, needTheirVersion) {
  EXPECT_EQ(runFor("8.5", "sm_100a"),
            "expected '.version' 8.6 or later for '.target' sm_100a, got 8.5");
  EXPECT_EQ(runFor("8.7", "sm_100f"),
            "expected '.version' 8.8 or later for '.target' sm_100f, got 8.7");
  EXPECT_EQ(runFor("8.7", "sm_103a"),
            "expected '.version' 8.8 or later for '.target' sm_103a, got 8.7");
  EXPECT_EQ(runFor("9.2", "sm_100a"),
            "expected '.version' 3.2 to 9.1, got 9.2");
}

TEST(Targets, lackInstructions) {
  EXPECT_EQ(runFor("8.0", "sm_90a", "wgmma.fence.sync.aligned;\n"), "");
  for (const char *target : {"sm_100a", "sm_100f", "sm_103a"}) {
    std::string failure = runFor("9.0", target, "wgmma.fence.sync.aligned;\n");
    EXPECT_NE(failure.find("expected '.target' sm_90, sm_90a for "
                           "'wgmma.fence.sync.aligned', got " +
                           std::string(target)),
              std::string::npos)
        << failure;
  }
}

} // namespace
