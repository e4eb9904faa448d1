// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles whose variants are compiled when a launch first needs them.

#include "temporary_cache.h"

#include <regex>
#include <thread>

namespace {

using VariantsTest = TemporaryCache;

/// Three variants: few rows on more than 1024 keys, many rows, and the rest.
std::string severalIR(const std::string &name) {
  return attentionIR(name, "64");
}

/// Zero queries: every row of O is the mean of V, and LSE is log(keys).
class MeanCall {
public:
  explicit MeanCall(int keys)
      : keys(keys), kv(size_t(keys) * kDim, 0x3f00), // 0.5 in bf16
        workspace(1 << 20) {}

  attn_status launch(attn_bundle *bundle) {
    return on(bundle, [&](attn_launch_args &args) {
      return attn_launch(bundle, &args);
    });
  }

  size_t variantOf(attn_bundle *bundle) {
    size_t variant = 99;
    EXPECT_EQ(on(bundle,
                 [&](attn_launch_args &args) {
                   return attn_choose_variant(bundle, &args, &variant);
                 }),
              ATTN_SUCCESS);
    return variant;
  }

  bool isRight() const {
    return o[0] == 0x3f00 && o[kDim * kQueries - 1] == 0x3f00 &&
           std::abs(lse[0] - std::log(double(keys))) < 1e-4;
  }

private:
  static constexpr int kQueries = 3, kDim = 64;

  template <typename F> attn_status on(attn_bundle *bundle, F use) {
    int64_t queryDims[4] = {1, kQueries, 1, kDim};
    int64_t keyDims[4] = {1, keys, 1, kDim}, rowDims[3] = {1, 1, kQueries};
    DLDevice cpu = {kDLCPU, 0};
    DLDataType bf16 = {kDLBfloat, 16, 1}, f32 = {kDLFloat, 32, 1};
    DLTensor tensors[] = {{q, cpu, 4, bf16, queryDims, nullptr, 0},
                          {kv.data(), cpu, 4, bf16, keyDims, nullptr, 0},
                          {kv.data(), cpu, 4, bf16, keyDims, nullptr, 0},
                          {o, cpu, 4, bf16, queryDims, nullptr, 0},
                          {lse, cpu, 3, f32, rowDims, nullptr, 0}};
    const DLTensor *pointers[] = {&tensors[0], &tensors[1], &tensors[2],
                                  &tensors[3], &tensors[4]};
    double scale = 0.125;
    attn_launch_args args = {};
    args.size = sizeof(args);
    args.num_tensors = 5;
    args.tensors = pointers;
    args.num_scalars = 1;
    args.scalars = &scale;
    args.device = cpu;
    size_t space = workspace.size();
    void *at = workspace.data();
    args.workspace = std::align(256, space - 256, at, space);
    args.workspace_size = space;
    return use(args);
  }

  int keys;
  alignas(16) uint16_t q[kQueries * kDim] = {};
  std::vector<uint16_t> kv;
  alignas(16) uint16_t o[kQueries * kDim] = {};
  alignas(16) float lse[kQueries] = {};
  std::vector<char> workspace;
};

/// A compiled bundle that is destroyed with this.
struct Compiled {
  explicit Compiled(const std::string &ir) {
    attn_compile_args args = compileArgs(ir);
    EXPECT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
  }
  ~Compiled() { attn_bundle_destroy(bundle); }

  attn_bundle *bundle = nullptr;
};

void expectRuns(attn_bundle *bundle, int keys) {
  MeanCall call(keys);
  EXPECT_EQ(call.launch(bundle), ATTN_SUCCESS) << attn_last_error();
  EXPECT_TRUE(call.isRight()) << keys;
}

TEST_F(VariantsTest, areCompiledWhenALaunchNeedsThem) {
  uint64_t before = countJit().compiles;
  Compiled several(severalIR("needed"));
  EXPECT_EQ(countJit().compiles, before + 1); // the plan
  EXPECT_EQ(MeanCall(9).variantOf(several.bundle), 2u);
  EXPECT_EQ(MeanCall(1100).variantOf(several.bundle), 0u);
  EXPECT_EQ(countJit().compiles, before + 1);
  expectRuns(several.bundle, 9);
  EXPECT_EQ(countJit().compiles, before + 2);
  expectRuns(several.bundle, 30);
  EXPECT_EQ(countJit().compiles, before + 2);
  expectRuns(several.bundle, 1100);
  EXPECT_EQ(countJit().compiles, before + 3);
}

TEST_F(VariantsTest, areAllCompiledToPrepare) {
  Compiled several(severalIR("prepared"));
  uint64_t before = countJit().compiles;
  EXPECT_EQ(attn_bundle_prepare(several.bundle, {kDLCPU, 0}), ATTN_SUCCESS);
  EXPECT_EQ(countJit().compiles, before + 3);
  expectRuns(several.bundle, 1100);
  EXPECT_EQ(countJit().compiles, before + 3);
}

TEST_F(VariantsTest, areAllInASavedBundle) {
  std::string ir = severalIR("saved"), image;
  {
    Compiled several(ir);
    expectRuns(several.bundle, 9);
    image = imageOf(several.bundle);
  }
  attn_bundle *loaded = nullptr;
  ASSERT_EQ(attn_bundle_load(nullptr, image.data(), image.size(), &loaded),
            ATTN_SUCCESS);
  attn_jit_counters before = countJit();
  expectRuns(loaded, 9);
  expectRuns(loaded, 1100);
  attn_bundle_destroy(loaded);
  // The cache has it whole now, too.
  attn_jit_clear();
  Compiled again(ir);
  expectRuns(again.bundle, 1100);
  EXPECT_EQ(imageOf(again.bundle), image);
  EXPECT_EQ(countJit().compiles, before.compiles);
  EXPECT_EQ(countJit().disk_hits, before.disk_hits + 1);
}

TEST_F(VariantsTest, areFoundOnDisk) {
  std::string ir = severalIR("kept");
  {
    Compiled several(ir);
    expectRuns(several.bundle, 9);
  }
  attn_jit_clear();
  attn_jit_counters before = countJit();
  Compiled several(ir);
  expectRuns(several.bundle, 9);
  EXPECT_EQ(countJit().compiles, before.compiles);
  EXPECT_EQ(countJit().disk_hits, before.disk_hits + 2);
  // From the request: the module of the other process is gone.
  expectRuns(several.bundle, 1100);
  EXPECT_EQ(countJit().compiles, before.compiles + 1);
}

TEST_F(VariantsTest, areCompiledAgainIfDamaged) {
  std::string ir = severalIR("damaged");
  {
    Compiled several(ir);
    expectRuns(several.bundle, 9);
  }
  for (auto &file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() == ".attn") {
      write(file.path(), read(file.path()).substr(1));
    }
  }
  attn_jit_clear();
  attn_jit_counters before = countJit();
  Compiled several(ir);
  expectRuns(several.bundle, 9);
  EXPECT_EQ(countJit().compiles, before.compiles + 2);
  EXPECT_GE(countJit().refused_entries, before.refused_entries + 2);
}

TEST_F(VariantsTest, failWithTheirNamesAndCanBeTriedAgain) {
  std::string ir = severalIR("disabled"), key = keyOf(ir);
  Compiled several(ir);
  MeanCall call(9);
  set("disable_jit", "1");
  EXPECT_EQ(call.launch(several.bundle), ATTN_NOT_COMPILED);
  EXPECT_TRUE(lastErrorHas(
      "compiling is disabled, and no cache has variant 2 of " + key))
      << attn_last_error();
  size_t size = 0;
  EXPECT_EQ(attn_bundle_serialize(several.bundle, nullptr, 0, &size),
            ATTN_NOT_COMPILED);
  EXPECT_EQ(attn_bundle_prepare(several.bundle, {kDLCPU, 0}),
            ATTN_NOT_COMPILED);
  set("disable_jit", "");
  expectRuns(several.bundle, 9);
}

TEST_F(VariantsTest, areAllCompiledAhead) {
  std::string ir = severalIR("ahead");
  attn_compile_args args = compileArgs(ir);
  const attn_compile_args *list[] = {&args};
  ASSERT_EQ(attn_precompile(list, 1, 1, nullptr), ATTN_SUCCESS)
      << attn_last_error();
  EXPECT_TRUE(std::filesystem::exists(entryOf(ir, folder / "cache")));
  attn_jit_clear();
  set("disable_jit", "1");
  Compiled several(ir);
  expectRuns(several.bundle, 9);
  expectRuns(several.bundle, 1100);
}

TEST_F(VariantsTest, areCompiledOnceForAllThreads) {
  Compiled several(severalIR("threads"));
  uint64_t before = countJit().compiles;
  std::vector<int> right(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&several, &right, i] {
      MeanCall call(i % 2 ? 9 : 1100);
      right[i] = call.launch(several.bundle) == ATTN_SUCCESS && call.isRight();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, std::vector<int>(8, 1));
  EXPECT_EQ(countJit().compiles, before + 2);
}

/// Without the function's number in names of labels.
std::string withoutNumbers(const std::string &ptx) {
  return std::regex_replace(ptx, std::regex("BB[0-9]+_"), "BB_");
}

TEST_F(VariantsTest, haveTheKernelsOfTheWholeBundle) {
  set("dump_dir", folder / "dump");
  std::string ir = severalIR("same");
  Compiled several(ir);
  expectRuns(several.bundle, 9);
  imageOf(several.bundle);
  std::string stem = folder / "dump" / keyOf(ir);
  std::string whole = withoutNumbers(read(stem + ".ptx"));
  std::string own = withoutNumbers(read(stem + ".2.ptx"));
  own = own.substr(own.find(".visible .entry"));
  EXPECT_GT(own.size(), 10000u);
  EXPECT_NE(whole.find(own.substr(0, own.rfind('}'))), std::string::npos);
}

TEST_F(VariantsTest, ofAFunctionClimbTheLadderTogether) {
  std::string ir = severalIR("with_score");
  size_t at = ir.find(" : (tensor");
  ASSERT_NE(at, std::string::npos);
  ir.insert(at, R"( score_region {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %half = arith.constant 0.5 : f32
    %t = arith.mulf %s, %half : f32
    attn.yield %t : f32
  })");
  uint64_t before = countJit().compiles;
  Compiled whole(ir);
  expectRuns(whole.bundle, 9);
  expectRuns(whole.bundle, 1100);
  EXPECT_EQ(countJit().compiles, before + 1);
}

} // namespace
