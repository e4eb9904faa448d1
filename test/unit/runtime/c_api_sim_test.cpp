// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface on the simulator: host tensors, values, and what kernels may
// not do. As a program outside sees it.

#include "attn/runtime/attn.h"
#include "attn/runtime/bundle.h"

#include <gtest/gtest.h>

using namespace attn::runtime;

namespace {

/// y[i * y.stride + `wrong`] = x[i] * scale for i in one block of n threads.
std::string scaleKernel(const std::string &wrong = "0") {
  return R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale_by(.param .u64 x, .param .u64 y, .param .f32 scale,
                         .param .u32 step)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  ld.param.f32 %f0, [scale];
  ld.param.u32 %r1, [step];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 4;
  add.s64 %rd2, %rd0, %rd2;
  ld.global.f32 %f1, [%rd2];
  mul.rn.f32 %f1, %f1, %f0;
  mul.lo.u32 %r0, %r0, %r1;
  mul.wide.u32 %rd3, %r0, 4;
  add.s64 %rd3, %rd1, %rd3;
  st.global.f32 [%rd3+)" +
         wrong + R"(], %f1;
  ret;
})";
}

std::string scalePlan(const std::string &kernel = "scale_by") {
  return R"({"version":1,"name":"scale","target":"sm_90a",
   "problem":{"kind":"fwd","dtype":"bf16","head_dim":1,"head_dim_v":1,
     "layout":"bshd","mask":"none","score_region":"none","mask_region":"none"},
   "args":[
    {"name":"x","kind":"tensor","dtype":"f32","access":"read","dims":[32]},
    {"name":"y","kind":"tensor","dtype":"f32","access":"write","dims":[32,1]},
    {"name":"factor","kind":"f32"}],
   "checks":[],
   "variants":[{"when":1,"workspace":0,"launches":[{"kernel":")" +
         kernel + R"(",
     "grid":[1,1,1],"block":[32,1,1],"cluster":[1,1,1],"smem":0,
     "params":[{"kind":"pointer","tensor":"x"},{"kind":"pointer","tensor":"y"},
       {"kind":"f32","arg":"factor"},{"kind":"i32","expr":"y.stride.0"}]}]}]})";
}

/// One call: 32 values in, 32 out at a stride of two.
struct Call {
  Bundle content{scalePlan(), scaleKernel(), {}};
  float x[32];
  float y[64] = {};
  int64_t xShape[1] = {32};
  int64_t yShape[2] = {32, 1};
  int64_t yStrides[2] = {2, 1};
  double factor = 0.5;
  DLDevice device = {kDLCPU, 0};

  Call() {
    for (int i = 0; i < 32; ++i) {
      x[i] = float(i);
    }
  }

  attn_status launch() {
    std::vector<char> image = writeBundle(content);
    attn_bundle *bundle = nullptr;
    if (attn_bundle_load(nullptr, image.data(), image.size(), &bundle) !=
        ATTN_SUCCESS) {
      return ATTN_INVALID_BUNDLE;
    }
    DLDataType type = {kDLFloat, 32, 1};
    DLTensor in = {x, device, 1, type, xShape, nullptr, 0};
    DLTensor out = {y, device, 2, type, yShape, yStrides, 0};
    const DLTensor *tensors[] = {&in, &out};
    attn_launch_args args = {};
    args.size = sizeof(args);
    args.num_tensors = 2;
    args.tensors = tensors;
    args.num_scalars = 1;
    args.scalars = &factor;
    args.device = device;
    attn_status status = attn_launch(bundle, &args);
    attn_bundle_destroy(bundle);
    return status;
  }
};

bool lastErrorHas(const std::string &text) {
  return std::string(attn_last_error()).find(text) != std::string::npos;
}

TEST(CApiSim, computes) {
  Call call;
  ASSERT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(call.y[2 * i], 0.5f * float(i)) << i;
    EXPECT_EQ(call.y[2 * i + 1], 0.0f) << i;
  }
}

TEST(CApiSim, knowsTheTensorsBounds) {
  Call call;
  call.content.ptx = scaleKernel("8");
  EXPECT_EQ(call.launch(), ATTN_DEVICE_ERROR);
  EXPECT_TRUE(lastErrorHas("kernel 'scale_by', seed 0: PTX line ") &&
              lastErrorHas("write of 4 bytes at global address ") &&
              lastErrorHas(" bytes past the end of 'y'"))
      << attn_last_error();
}

TEST(CApiSim, tensorsMayShareMemory) {
  Call call;
  call.yStrides[0] = 1;
  // The result replaces the input.
  std::vector<char> image = writeBundle(call.content);
  attn_bundle *bundle = nullptr;
  ASSERT_EQ(attn_bundle_load(nullptr, image.data(), image.size(), &bundle),
            ATTN_SUCCESS);
  DLDataType type = {kDLFloat, 32, 1};
  DLTensor in = {call.x, call.device, 1, type, call.xShape, nullptr, 0};
  DLTensor out = {call.x, call.device, 2, type, call.yShape, call.yStrides, 0};
  const DLTensor *tensors[] = {&in, &out};
  attn_launch_args args = {};
  args.size = sizeof(args);
  args.num_tensors = 2;
  args.tensors = tensors;
  args.num_scalars = 1;
  args.scalars = &call.factor;
  args.device = call.device;
  EXPECT_EQ(attn_launch(bundle, &args), ATTN_SUCCESS) << attn_last_error();
  EXPECT_EQ(call.x[31], 15.5f);
  attn_bundle_destroy(bundle);
}

TEST(CApiSim, refusesWhatItCannotRun) {
  Call call;
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
  Call call;
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
  Call call;
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
}

/// A kernel that reads what it has to write.
Call readingCall() {
  Call call;
  std::string &ptx = call.content.ptx;
  ptx.insert(ptx.find("  st.global"), "  ld.global.f32 %f2, [%rd3];\n");
  return call;
}

void collectWarning(attn_log_level level, const char *message, void *user) {
  if (level == ATTN_LOG_WARNING) {
    *static_cast<std::string *>(user) += message;
  }
}

TEST(CApiSim, findsReadsOfFreshOutputs) {
  Call call = readingCall();
  EXPECT_EQ(call.launch(), ATTN_DEVICE_ERROR);
  EXPECT_TRUE(lastErrorHas("[uninit.global]")) << attn_last_error();

  std::string &plan = call.content.plan;
  plan.replace(plan.find("\"write\""), 7, "\"readwrite\"");
  EXPECT_EQ(call.launch(), ATTN_SUCCESS) << attn_last_error();
}

TEST(CApiSim, hasModesOfHazards) {
  Call call = readingCall();
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
