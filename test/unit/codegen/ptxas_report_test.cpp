// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emit/PtxAssembler.h"
#include <gtest/gtest.h>

using namespace attn::codegen;

namespace {

constexpr const char *kOutput =
    "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async "
    "instructions are serialized due to insufficient register resources for "
    "the function 'two'\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'two' for 'sm_90a'\n"
    "ptxas info    : Function properties for two\n"
    "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 2 barriers, 1024 bytes smem\n"
    "ptxas info    : Compiling entry function 'one' for 'sm_90a'\n"
    "ptxas info    : Function properties for one\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 24 registers, used 0 barriers\n";

TEST(PtxasReport, ReadsEachKernel) {
  AssemblyReport report = parsePtxasOutput(kOutput);
  ASSERT_EQ(report.kernels.size(), 2u);
  const KernelReport &two = report.kernels[0];
  EXPECT_EQ(two.name, "two");
  EXPECT_EQ(two.registers, 168u);
  EXPECT_EQ(two.stack, 8u);
  EXPECT_EQ(two.spillStores, 4u);
  EXPECT_EQ(two.spillLoads, 12u);
  EXPECT_EQ(two.barriers, 2u);
  EXPECT_EQ(two.shared, 1024u);
  EXPECT_EQ(report.kernels[1].name, "one");
  EXPECT_EQ(report.kernels[1].registers, 24u);
  EXPECT_EQ(report.kernels[1].shared, 0u);
}

TEST(PtxasReport, KeepsTheLinesOfLosses) {
  AssemblyReport report = parsePtxasOutput(kOutput);
  ASSERT_EQ(report.losses.size(), 2u);
  EXPECT_NE(report.losses[0].find("(C7512)"), std::string::npos);
  EXPECT_EQ(report.losses[1], "8 bytes stack frame, 4 bytes spill stores, 12 "
                              "bytes spill loads of 'two'");
  EXPECT_EQ(report.warnings, report.losses);
}

TEST(PtxasReport, OtherWarningsAreNoLosses) {
  AssemblyReport report = parsePtxasOutput("ptxas warning : something else\n");
  EXPECT_TRUE(report.losses.empty());
  EXPECT_EQ(report.warnings.size(), 1u);
}

} // namespace
