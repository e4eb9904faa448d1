// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small bundle that the simulator runs, and a call of it, which tests of the
// C interface use and break.

#ifndef ATTN_TEST_UNIT_RUNTIME_SCALE_CALL_H
#define ATTN_TEST_UNIT_RUNTIME_SCALE_CALL_H

#include "attn/runtime/attn.h"
#include "attn/runtime/bundle.h"

#include <vector>

namespace attn::runtime {

/// y[i * y.stride + `wrong`] = x[i] * scale for i in one block of n threads.
inline std::string scaleKernel(const std::string &wrong = "0") {
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

inline std::string scalePlan(const std::string &kernel = "scale_by") {
  return R"({"version":1,"name":"scale","target":"sm_90a",
   "problem":{"kind":"fwd","dtype":"bf16","head_dim":1,"head_dim_v":1,
     "layout":"bshd","mask":"none","keys":{"bounds":[]},"score_region":"none","mask_region":"none"},
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
struct ScaleCall {
  Bundle content{scalePlan(), scaleKernel(), {}};
  float x[32];
  float y[64] = {};
  int64_t xShape[1] = {32};
  int64_t yShape[2] = {32, 1};
  int64_t yStrides[2] = {2, 1};
  double factor = 0.5;
  DLDevice device = {kDLCPU, 0};
  DLTensor in = {}, out = {};
  const DLTensor *tensors[2] = {&in, &out};

  ScaleCall() {
    for (int i = 0; i < 32; ++i) {
      x[i] = float(i);
    }
    in.data = x;
    in.ndim = 1;
    in.dtype = {kDLFloat, 32, 1};
    in.shape = xShape;
    out = in;
    out.data = y;
    out.ndim = 2;
    out.shape = yShape;
    out.strides = yStrides;
  }
  ScaleCall(const ScaleCall &) = delete;

  /// Valid as long as this object.
  attn_launch_args getArgs() {
    in.device = out.device = device;
    attn_launch_args args = {};
    args.size = sizeof(args);
    args.num_tensors = 2;
    args.tensors = tensors;
    args.num_scalars = 1;
    args.scalars = &factor;
    args.device = device;
    return args;
  }

  /// Null if it is refused.
  attn_bundle *load() const {
    std::vector<char> image = writeBundle(content);
    attn_bundle *bundle = nullptr;
    attn_bundle_load(nullptr, image.data(), image.size(), &bundle);
    return bundle;
  }

  attn_status launch() {
    attn_bundle *bundle = load();
    if (!bundle) {
      return ATTN_INVALID_BUNDLE;
    }
    attn_launch_args args = getArgs();
    attn_status status = attn_launch(bundle, &args);
    attn_bundle_destroy(bundle);
    return status;
  }
};

} // namespace attn::runtime

#endif // ATTN_TEST_UNIT_RUNTIME_SCALE_CALL_H
