// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small attention for the tests: its IR, a call on host memory, and the
// expected results.

#ifndef ATTN_TEST_UNIT_JIT_ATTENTION_CALL_H
#define ATTN_TEST_UNIT_JIT_ATTENTION_CALL_H

#include "attn/runtime/attn.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

/// Attention without a mask. Another name is another kernel. The table has one
/// entry for head dim 80, and several for 64.
inline std::string attentionIR(const std::string &name,
                               const std::string &headDim = "80") {
  std::string tensor = "tensor<?x?x?x" + headDim + "xbf16>";
  std::string three = tensor + ", " + tensor + ", " + tensor;
  return "func.func @" + name + "(%q: " + tensor + ", %k: " + tensor +
         ", %v: " + tensor + ", %scale: f32) -> (" + tensor +
         ", tensor<?x?x?xf32>) {\n"
         "  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) "
         "layout(bshd) : (" +
         three + ") -> (" + tensor +
         ", tensor<?x?x?xf32>)\n"
         "  return %o, %lse : " +
         tensor + ", tensor<?x?x?xf32>\n}\n";
}

/// A kernel of a later stage that LLVM has no instructions for.
inline std::string unselectableIR(const std::string &name) {
  return "gpu.module @" + name +
         " [#nvvm.target<chip = \"sm_90a\">] {\n"
         "  llvm.func @f(%p: !llvm.ptr<1>, %x: f64) attributes {nvvm.kernel} "
         "{\n"
         "    %0 = llvm.intr.log2(%x) : (f64) -> f64\n"
         "    llvm.store %0, %p : f64, !llvm.ptr<1>\n"
         "    llvm.return\n  }\n}\n";
}

inline attn_compile_args compileArgs(const std::string &ir) {
  attn_compile_args args = {};
  args.size = sizeof(args);
  args.ir = ir.c_str();
  return args;
}

/// The struct does not keep the text.
attn_compile_args compileArgs(const std::string &&ir) = delete;

inline attn_jit_counters countJit() {
  attn_jit_counters counters = {};
  counters.size = sizeof(counters);
  EXPECT_EQ(attn_jit_count(&counters), ATTN_SUCCESS);
  return counters;
}

/// The bundle's file image.
inline std::string imageOf(const attn_bundle *bundle) {
  size_t size = 0;
  EXPECT_EQ(attn_bundle_serialize(bundle, nullptr, 0, &size), ATTN_SUCCESS);
  std::string image(size, '\0');
  EXPECT_EQ(attn_bundle_serialize(bundle, image.data(), size, &size),
            ATTN_SUCCESS);
  return image;
}

inline bool lastErrorHas(const std::string &text) {
  return std::string(attn_last_error()).find(text) != std::string::npos;
}

/// One call of attentionIR: 5 queries, 9 keys, one head.
class AttentionCall {
public:
  AttentionCall() {
    fill(q, 1);
    fill(k, 2);
    fill(v, 3);
    std::memset(workspace, 0xff, sizeof(workspace));
  }

  attn_status launch(attn_bundle *bundle) {
    int64_t queries[4] = {1, kQueries, 1, kDim};
    int64_t keys[4] = {1, kKeys, 1, kDim};
    int64_t rows[3] = {1, 1, kQueries};
    DLDevice cpu = {kDLCPU, 0};
    DLDataType bf16 = {kDLBfloat, 16, 1}, f32 = {kDLFloat, 32, 1};
    DLTensor tensors[] = {{q, cpu, 4, bf16, queries, nullptr, 0},
                          {k, cpu, 4, bf16, keys, nullptr, 0},
                          {v, cpu, 4, bf16, keys, nullptr, 0},
                          {o, cpu, 4, bf16, queries, nullptr, 0},
                          {lse, cpu, 3, f32, rows, nullptr, 0}};
    const DLTensor *pointers[] = {&tensors[0], &tensors[1], &tensors[2],
                                  &tensors[3], &tensors[4]};
    const char *names[] = {"q", "k", "v", "o", "lse"};
    double scale = kScale;
    attn_launch_args args = {};
    args.size = sizeof(args);
    args.num_tensors = 5;
    args.tensors = pointers;
    args.tensor_names = names;
    args.num_scalars = 1;
    args.scalars = &scale;
    args.device = cpu;
    args.workspace = workspace;
    args.workspace_size = sizeof(workspace);
    size_t needed = 0;
    EXPECT_EQ(attn_workspace_size(bundle, &args, &needed), ATTN_SUCCESS);
    EXPECT_LE(needed, sizeof(workspace));
    return attn_launch(bundle, &args);
  }

  void expectRight() const {
    for (int i = 0; i < kQueries; ++i) {
      expectRowRight(i);
    }
  }

private:
  static constexpr int kQueries = 5, kKeys = 9, kDim = 80;
  static constexpr float kScale = 0.125f;
  using Bf16 = uint16_t;

  static float toFloat(Bf16 value) {
    uint32_t bits = uint32_t(value) << 16;
    float result;
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }

  /// Numbers of few bits between -1 and 1.
  template <size_t n> static void fill(Bf16 (&values)[n], int seed) {
    for (size_t i = 0; i < n; ++i) {
      float value = float(int((i * 37 + size_t(seed) * 101) % 17) - 8) / 8;
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      values[i] = Bf16(bits >> 16);
    }
  }

  void expectRowRight(int i) const {
    double weights[kKeys], total = 0;
    for (int j = 0; j < kKeys; ++j) {
      double score = 0;
      for (int c = 0; c < kDim; ++c) {
        score += double(toFloat(q[i * kDim + c])) * toFloat(k[j * kDim + c]);
      }
      total += weights[j] = std::exp(kScale * score);
    }
    EXPECT_NEAR(lse[i], std::log(total), 1e-4) << i;
    double error = 0;
    for (int c = 0; c < kDim; ++c) {
      double want = 0;
      for (int j = 0; j < kKeys; ++j) {
        want += weights[j] / total * toFloat(v[j * kDim + c]);
      }
      error = std::max(error, std::abs(toFloat(o[i * kDim + c]) - want));
    }
    EXPECT_LT(error, 1.0 / 64) << "row " << i;
  }

  alignas(16) Bf16 q[kQueries * kDim];
  alignas(16) Bf16 k[kKeys * kDim];
  alignas(16) Bf16 v[kKeys * kDim];
  alignas(16) Bf16 o[kQueries * kDim] = {};
  alignas(16) float lse[kQueries] = {};
  alignas(256) char workspace[256];
};

#endif // ATTN_TEST_UNIT_JIT_ATTENTION_CALL_H
