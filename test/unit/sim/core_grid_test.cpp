// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which CTAs of a grid start, and launches that begin early.

#include "hazard_kernel.h"

using namespace attn::sim;

namespace {

/// Each CTA waits until those with lower numbers have passed the turn on. A
/// CTA's number is in %r1.
const char *const kTakeTurns = R"(
setp.ne.u32 %p1, %r0, 0;
@%p1 ret;
W:
ld.acquire.gpu.global.b32 %r2, [%rd0];
setp.ne.u32 %p0, %r2, %r1;
@%p0 bra W;
add.u32 %r2, %r2, 1;
st.release.gpu.global.b32 [%rd0], %r2;
)";

/// Runs nine CTAs on a machine that runs `resident` of them at a time. Returns
/// how many of 16 schedules fail.
int countFailures(const std::string &number, uint64_t resident) {
  int failures = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Kernel kernel;
    kernel.body = number + kTakeTurns;
    kernel.grid = 9;
    kernel.resident = resident;
    kernel.budget = 200000;
    kernel.hostThreads = 1;
    kernel.seed = seed;
    kernel.run();
    failures += !kernel.failure.empty();
    EXPECT_TRUE(seed > 1 || kernel.failure.empty()) << kernel.failure;
    EXPECT_TRUE(kernel.failure.empty() ||
                idOf(kernel.failure) == "progress.livelock")
        << kernel.failure;
  }
  return failures;
}

TEST(CtaOrder, isAny) {
  EXPECT_GT(countFailures("mov.u32 %r1, %ctaid.x;\n", 3), 8);
}

TEST(CtaOrder, mayBeClaimed) {
  EXPECT_EQ(countFailures("setp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\n"
                          "atom.global.inc.u32 %r1, [%rd0+4], 8;\n",
                          3),
            0);
}

TEST(CtaOrder, isThatOfNumbersIfAllFit) {
  EXPECT_EQ(countFailures("mov.u32 %r1, %ctaid.x;\n", 9), 0);
}

TEST(CtaOrder, startsEachCtaOnce) {
  for (uint64_t seed = 0; seed < 64; ++seed) {
    Kernel kernel;
    kernel.body = "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd1, %r1, 4;\n"
                  "add.s64 %rd1, %rd0, %rd1;\nsetp.ne.u32 %p1, %r0, 0;\n"
                  "@%p1 ret;\nred.global.add.u32 [%rd1], 1;\n";
    kernel.grid = 1 + unsigned(seed);
    kernel.resident = 1;
    kernel.seed = seed;
    ASSERT_EQ(kernel.run(), "");
    for (unsigned cta = 0; cta < kernel.grid; ++cta) {
      ASSERT_EQ(kernel.words[cta], 1u) << cta << " of " << kernel.grid;
    }
  }
}

/// The launch after it would not wait for the one before.
TEST(DependentLaunch, hasToWaitThoughItUsesNoMemory) {
  Kernel kernel;
  kernel.dependent = true;
  kernel.body = "griddepcontrol.launch_dependents;\n";
  expectRule("race.launch", kernel);
  kernel.body += "griddepcontrol.wait;\n";
  expectSilence(kernel);
}

} // namespace
