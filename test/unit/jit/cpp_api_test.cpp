// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C++ wrappers of the C interface.

#include "attn/runtime/attn.hpp"
#include "temporary_cache.h"

namespace {

using CppApiTest = TemporaryCache;

/// Zero queries: every row of O is the mean of V, and LSE is log(kKeys).
struct MeanCall {
  static constexpr int kQueries = 3, kKeys = 8, kDim = 80;

  MeanCall() {
    std::fill_n(v, kKeys * kDim, uint16_t(0x3f00)); // 0.5 in bf16
    arguments.tensor("q", tensors[0]).tensor("k", tensors[1]);
    arguments.tensor("v", tensors[2]).tensor("o", tensors[3]);
    arguments.tensor("lse", tensors[4]).scalar("scale", 0.125);
  }

  alignas(16) uint16_t q[kQueries * kDim] = {}, k[kKeys * kDim] = {};
  alignas(16) uint16_t v[kKeys * kDim], o[kQueries * kDim] = {};
  alignas(16) float lse[kQueries] = {};
  alignas(256) char workspace[256] = {};
  int64_t queries[4] = {1, kQueries, 1, kDim}, keys[4] = {1, kKeys, 1, kDim};
  int64_t rows[3] = {1, 1, kQueries};
  DLDevice cpu = {kDLCPU, 0};
  DLDataType bf16 = {kDLBfloat, 16, 1}, f32 = {kDLFloat, 32, 1};
  DLTensor tensors[5] = {{q, cpu, 4, bf16, queries, nullptr, 0},
                         {k, cpu, 4, bf16, keys, nullptr, 0},
                         {v, cpu, 4, bf16, keys, nullptr, 0},
                         {o, cpu, 4, bf16, queries, nullptr, 0},
                         {lse, cpu, 3, f32, rows, nullptr, 0}};
  attn::Arguments arguments{cpu};
};

TEST_F(CppApiTest, compilesAndLaunches) {
  attn::Bundle bundle = attn::compile({attentionIR("cpp")});
  MeanCall call;
  size_t size = bundle.getWorkspaceSize(call.arguments);
  ASSERT_LE(size, sizeof(call.workspace));
  call.arguments.withWorkspace(call.workspace, size).onStream(nullptr);
  EXPECT_LT(bundle.chooseVariant(call.arguments), 8u);
  bundle.launch(call.arguments);
  EXPECT_EQ(call.o[0], 0x3f00);
  EXPECT_NEAR(call.lse[0], std::log(8.0), 1e-4);
}

TEST_F(CppApiTest, describesArguments) {
  attn::Bundle bundle = attn::compile({attentionIR("described")});
  std::string names;
  for (const attn_argument &argument : bundle.getArguments()) {
    names += std::string(argument.name) + " ";
  }
  EXPECT_EQ(names, "q k v scale o lse ");
}

TEST_F(CppApiTest, copiesAreTheSameBundle) {
  attn::Bundle bundle = attn::compile({attentionIR("copied")});
  attn::Bundle copy = bundle, moved = std::move(bundle);
  EXPECT_EQ(copy.get(), moved.get());
  moved = attn::Bundle::load(copy.serialize().data(), copy.serialize().size());
  EXPECT_NE(copy.get(), moved.get());
  EXPECT_EQ(copy.getPlan(), moved.getPlan());
  copy.save(folder / "copied.attn");
  EXPECT_EQ(attn::Bundle::load(folder / "copied.attn").serialize(),
            moved.serialize());
}

TEST_F(CppApiTest, throwsWhatTheStatusSays) {
  try {
    attn::compile({"nonsense"});
    FAIL() << "expected an error";
  } catch (const attn::Error &error) {
    EXPECT_EQ(error.getStatus(), ATTN_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(error.what()).substr(0, 7), "ir:1:1:");
  }
}

TEST_F(CppApiTest, findsObstacles) {
  attn::Source source{attentionIR("obstacle")};
  EXPECT_EQ(attn::findObstacle(source), std::nullopt);
  source.target = "sm_100a";
  EXPECT_NE(attn::findObstacle(source).value_or("").find("on 'sm_100a'"),
            std::string::npos);
  source.ir = "nonsense";
  EXPECT_THROW(attn::findObstacle(source), attn::Error);
}

TEST_F(CppApiTest, precompiles) {
  std::vector<attn::Source> sources = {{attentionIR("ahead_0")},
                                       {attentionIR("ahead_1")}};
  attn::precompile(sources, 2);
  uint64_t compiles = countJit().compiles;
  attn::compile(sources[1]);
  EXPECT_EQ(countJit().compiles, compiles);
  EXPECT_EQ(attn::getCacheKey(sources[0]), keyOf(sources[0].ir));
  sources.push_back({"nonsense"});
  EXPECT_THROW(attn::precompile(sources), attn::Error);
}

} // namespace
