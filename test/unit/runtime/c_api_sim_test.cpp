// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface on the simulator, as a program outside sees it: host tensors,
// values, and accesses that kernels may not make.

#include "scale_call.h"

#include <gtest/gtest.h>

using namespace attn::runtime;

namespace {

bool lastErrorHas(const std::string &text) {
  return std::string(attn_last_error()).find(text) != std::string::npos;
}

TEST(CApiSim, computes) {
  ScaleCall call;
  ASSERT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(call.y[2 * i], 0.5f * float(i)) << i;
    EXPECT_EQ(call.y[2 * i + 1], 0.0f) << i;
  }
}

TEST(CApiSim, knowsTheTensorsBounds) {
  ScaleCall call;
  call.content.ptx = scaleKernel("8");
  EXPECT_EQ(call.launch(), ATTN_DEVICE_ERROR);
  EXPECT_TRUE(lastErrorHas("kernel 'scale_by', seed 0: PTX line ") &&
              lastErrorHas("write of 4 bytes at global address ") &&
              lastErrorHas(" bytes past the end of 'y'"))
      << attn_last_error();
}

TEST(CApiSim, tensorsMayShareMemory) {
  ScaleCall call;
  call.yStrides[0] = 1;
  // The result replaces the input.
  call.out.data = call.x;
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
  EXPECT_EQ(call.x[31], 15.5f);
}

TEST(CApiSim, refusesWhatItCannotRun) {
  ScaleCall call;
  call.content.ptx = "this is not PTX";
  EXPECT_EQ(call.launch(), ATTN_INVALID_BUNDLE);
  EXPECT_TRUE(lastErrorHas("PTX: 1:1: expected '.version'"))
      << attn_last_error();

  call.content.ptx = scaleKernel();
  call.content.plan = scalePlan("absent");
  EXPECT_EQ(call.launch(), ATTN_UNSUPPORTED);
  EXPECT_TRUE(lastErrorHas("absent")) << attn_last_error();

  call.content.plan = scalePlan();
  call.content.ptx.replace(call.content.ptx.find("mul.rn.f32"), 10,
                           "frobnicate");
  EXPECT_EQ(call.launch(), ATTN_UNSUPPORTED);
  EXPECT_TRUE(lastErrorHas("frobnicate")) << attn_last_error();

  call.content.ptx.clear();
  EXPECT_EQ(call.launch(), ATTN_INVALID_BUNDLE);
  EXPECT_STREQ(attn_last_error(),
               "bundle: expected a PTX section for the simulator, got none");
}

TEST(CApiSim, refusesOtherDevices) {
  ScaleCall call;
  call.device = {kDLCPU, 1};
  EXPECT_EQ(call.launch(), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected the simulator's device id to be 0, got 1");
  call.device = {kDLCUDAHost, 0};
  EXPECT_EQ(call.launch(), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected the device type to be 2 (cuda) or "
                                  "1 (cpu, the simulator), got 3");
}

TEST(CApiSim, hasOptions) {
  ScaleCall call;
  EXPECT_EQ(attn_simulator_option("seed", "7"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("threads", "2"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("budget", "3"), ATTN_SUCCESS);
  EXPECT_EQ(call.launch(), ATTN_DEVICE_ERROR);
  EXPECT_TRUE(lastErrorHas("seed 7") &&
              lastErrorHas("no end within the budget"))
      << attn_last_error();
  EXPECT_EQ(attn_simulator_option("budget", "1000000"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("seed", "0"), ATTN_SUCCESS);
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();

  EXPECT_EQ(attn_simulator_option("speed", "7"), ATTN_INVALID_ARGUMENT);
  EXPECT_TRUE(lastErrorHas("got 'speed'")) << attn_last_error();
  EXPECT_EQ(attn_simulator_option("threads", "1025"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected simulator option 'threads' to be "
                                  "an integer from 0 to 1024, got '1025'");
  EXPECT_EQ(attn_simulator_option("seed", "7x"), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_simulator_option("budget", "0"), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_simulator_option(nullptr, "0"), ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_simulator_option("hazards", "maybe"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected simulator option 'hazards' to be "
                                  "'error', 'warn' or 'off', got 'maybe'");
  EXPECT_EQ(attn_simulator_option("sums", "exact"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("sums", "hardware"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("sums", "fast"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected simulator option 'sums' to be "
                                  "'hardware' or 'exact', got 'fast'");
  EXPECT_EQ(attn_simulator_option("additions", "ordered"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("additions", "any"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("additions", "some"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected simulator option 'additions' to "
                                  "be 'any' or 'ordered', got 'some'");
  EXPECT_EQ(attn_simulator_option("tensor_memory", "contended"), ATTN_SUCCESS);
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
  EXPECT_EQ(attn_simulator_option("tensor_memory", "own"), ATTN_SUCCESS);
  EXPECT_EQ(attn_simulator_option("tensor_memory", "1"), ATTN_INVALID_ARGUMENT);
}

/// Makes the kernel read what it has to write.
void readOutput(ScaleCall &call) {
  std::string &ptx = call.content.ptx;
  ptx.insert(ptx.find("  st.global"), "  ld.global.f32 %f2, [%rd3];\n");
}

void collectWarning(attn_log_level level, const char *message, void *user) {
  if (level == ATTN_LOG_WARNING) {
    *static_cast<std::string *>(user) += message;
  }
}

TEST(CApiSim, findsReadsOfFreshOutputs) {
  ScaleCall call;
  readOutput(call);
  EXPECT_EQ(call.launch(), ATTN_DEVICE_ERROR);
  EXPECT_TRUE(lastErrorHas("[uninit.global]")) << attn_last_error();

  std::string &plan = call.content.plan;
  plan.replace(plan.find("\"write\""), 7, "\"readwrite\"");
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
}

TEST(CApiSim, hasModesOfHazards) {
  ScaleCall call;
  readOutput(call);
  std::string warnings;
  attn_set_log_callback(collectWarning, &warnings);
  EXPECT_EQ(attn_simulator_option("hazards", "warn"), ATTN_SUCCESS);
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
  EXPECT_NE(warnings.find("[uninit.global]"), std::string::npos) << warnings;

  warnings.clear();
  EXPECT_EQ(attn_simulator_option("hazards", "off"), ATTN_SUCCESS);
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
  EXPECT_EQ(warnings, "");

  attn_set_log_callback(nullptr, nullptr);
  EXPECT_EQ(attn_simulator_option("hazards", "error"), ATTN_SUCCESS);
  EXPECT_EQ(call.launch(), ATTN_DEVICE_ERROR);
}

} // namespace
