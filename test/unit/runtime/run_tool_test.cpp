// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-run as a whole, on a fake GPU (fake_cuda.cpp): it has to pass a correct
// kernel and to catch every wrong one.

#include "attn/runtime/bundle.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn::runtime;

namespace {

void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// A plan whose parameters fake_cuda.cpp knows by position.
std::string toolPlanText(const std::string &kernel) {
  std::string params = R"({"kind":"tensor_map","tensor":"k","swizzle":128,
      "l2_promotion":128,"dims":[{"size":64,"box":64},
      {"size":"sk","stride":["mul","k.stride.1",2],"box":64}]})";
  for (const char *name : {"q", "k", "v", "o", "lse"}) {
    params += R"(,{"kind":"pointer","tensor":")" + std::string(name) + "\"}";
  }
  params += R"(,{"kind":"f32","arg":"scale"})";
  for (const char *name : {"sq", "sk", "hq", "hk"}) {
    params += R"(,{"kind":"i32","expr":")" + std::string(name) + "\"}";
  }
  for (const char *name : {"q", "k", "v", "o"}) {
    for (const char *dim : {"0", "1", "2"}) {
      params += R"(,{"kind":"i64","expr":")" + std::string(name) + ".stride." +
                dim + "\"}";
    }
  }
  params += R"(,{"kind":"i64","expr":"lse.stride.0"},
      {"kind":"i64","expr":"lse.stride.1"},{"kind":"i32","expr":"b"})";
  return R"({"version":1,"name":"test","target":"sm_90a",
   "problem":{"kind":"fwd","dtype":"bf16","head_dim":64,"head_dim_v":64,
     "layout":"bshd","mask":"causal_bottom_right",
     "keys":{"last":["add","i",["sub","sk","sq"]],"bounds":[]},"score_region":"none",
     "mask_region":"none"},
   "args":[
    {"name":"q","role":"query","kind":"tensor","dtype":"bf16","access":"read","dims":["b","sq","hq",64]},
    {"name":"k","role":"key","kind":"tensor","dtype":"bf16","access":"read","dims":["b","sk","hk",64]},
    {"name":"v","role":"value","kind":"tensor","dtype":"bf16","access":"read","dims":["b","sk","hk",64]},
    {"name":"scale","role":"scale","kind":"f32"},
    {"name":"o","role":"output","kind":"tensor","dtype":"bf16","access":"write","dims":["b","sq","hq",64]},
    {"name":"lse","role":"lse","kind":"tensor","dtype":"f32","access":"write","dims":["b","hq","sq"]}],
   "checks":[{"expr":["mod","hq","hk"],"equals":0,
     "message":"{hq} query heads are not a multiple of {hk} key/value heads"}],
   "variants":[{"when":1,"workspace":0,
    "numerics":{"score_relative":5e-6,"o_relative":0.0079,"o_per_key":5e-8,"flush":1e-38,
     "lse_relative":2e-7,"lse_absolute":2e-5,"lse_per_root_key":4e-7},
    "launches":[{"kernel":")" +
         kernel + R"(","grid":[["mul","sq","hq","b"],1,1],"block":[128,1,1],
     "cluster":[1,1,1],"smem":65536,"params":[)" +
         params + "]}]}]}";
}

struct ToolResult {
  int status = -1;
  std::string output;

  bool has(const std::string &text) const {
    return output.find(text) != std::string::npos;
  }
};

class Tool : public testing::Test {
protected:
  void SetUp() override {
    path = testing::TempDir() + "attn_run_tool_" + std::to_string(::getpid());
  }
  void TearDown() override { std::remove(path.c_str()); }

  ToolResult runRaw(const std::string &arguments,
                    const std::string &driverFolder) {
    std::string command = "LD_LIBRARY_PATH=" + driverFolder + " " +
                          ATTN_RUN_PATH + " " + arguments + " 2>&1";
    ToolResult result;
    std::FILE *pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    while (size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) {
      result.output.append(buffer, got);
    }
    int status = ::pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
  }

  /// Runs a bundle whose kernel is `kernel`.
  ToolResult run(const std::string &kernel, const std::string &options) {
    return runPlan(toolPlanText(kernel), options);
  }

  ToolResult runPlan(const std::string &plan, const std::string &options) {
    Bundle bundle;
    bundle.plan = plan;
    bundle.ptx = "fake";
    std::string err;
    EXPECT_TRUE(writeBundleFile(bundle, path, err)) << err;
    return runRaw(path + " " + options, ATTN_FAKE_CUDA_FOLDER);
  }

  std::string path;
};

TEST_F(Tool, knowsArgumentsByRoleAlone) {
  std::string plan = toolPlanText("good");
  // The key has the query's name, and so on round the tensors.
  const char *names[][2] = {{"k", "Q"}, {"v", "K"},       {"o", "V"},
                            {"q", "O"}, {"lse", "SCALE"}, {"scale", "LSE"}};
  for (auto [name, other] : names) {
    std::string quoted = std::string("\"") + name + '"';
    std::string symbol = ",\"symbol\":" + quoted;
    replaceAll(plan, "\"name\":" + quoted,
               std::string("\"name\":\"") + other + '"' + symbol);
    replaceAll(plan, "\"tensor\":" + quoted,
               std::string("\"tensor\":\"") + other + '"');
    replaceAll(plan, "\"arg\":" + quoted,
               std::string("\"arg\":\"") + other + '"');
  }
  for (auto [name, other] : names) {
    std::string lower = other;
    std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
    replaceAll(plan, std::string("\"") + other + '"', '"' + lower + '"');
  }
  ToolResult result = runPlan(plan, "--q=2x33x4x64 --kv=2x20x2x64 --check");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(result.has("check: passed")) << result.output;
}

TEST_F(Tool, refusesToCheckAPlanWithoutRoles) {
  std::string plan = toolPlanText("good");
  replaceAll(plan, "\"role\":\"value\",", "");
  ToolResult result = runPlan(plan, "--q=2x33x4x64 --kv=2x20x2x64 --check");
  EXPECT_NE(result.status, 0);
  EXPECT_TRUE(result.has("argument 'v' has no 'role'")) << result.output;
}

TEST_F(Tool, passesAGoodKernel) {
  ToolResult result =
      run("good", "--q=2x33x4x64 --kv=2x20x2x64 --check --guard --repeat=5 "
                  "--bench --rounds=1 --pad-strides --json=" +
                      path + ".json");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(result.has("gpu: Fake GPU, driver for CUDA 12.8"));
  EXPECT_TRUE(result.has("check: passed: 160 of 264 rows compared, 104 empty"))
      << result.output;
  EXPECT_TRUE(result.has("guard: passed"));
  EXPECT_TRUE(result.has("repeat: passed: 5 launches, bit-identical"));
  EXPECT_TRUE(result.has("bench: 20000.0 us")) << result.output;
  std::ifstream json(path + ".json");
  std::string line;
  int lines = 0;
  while (std::getline(json, line)) {
    EXPECT_EQ(line.front(), '{');
    EXPECT_NE(line.find("\"gpu\":\"Fake GPU\""), std::string::npos);
    ++lines;
  }
  EXPECT_EQ(lines, 4);
  std::remove((path + ".json").c_str());
}

TEST_F(Tool, edgeLengths) {
  for (const char *shapes :
       {"--q=2x0x4x64 --kv=2x20x2x64", "--q=2x20x4x64 --kv=2x0x2x64",
        "--q=2x0x4x64 --kv=2x0x2x64", "--q=1x1x1x64", "--q=0x5x4x64",
        "--q=3x9x4x64 --kv=3x9x1x64 --broadcast-kv"}) {
    ToolResult result = run("good", std::string(shapes) + " --check --guard");
    EXPECT_EQ(result.status, 0) << shapes << "\n" << result.output;
  }
}

TEST_F(Tool, randomProblems) {
  ToolResult result = run("good", "--random=12 --first-seed=100");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(result.has("12 passed, 0 failed, 0 skipped"));
}

TEST_F(Tool, reproducesRandomFailures) {
  ToolResult result = run("wrong", "--random=6 --first-seed=3");
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(result.has("reproduce: attn-run " + path +
                         " --device=cuda --random=1 --first-seed="))
      << result.output;
}

TEST_F(Tool, catchesWrongKernels) {
  const std::string shape = "--q=1x33x4x64 --kv=1x40x2x64 ";
  ToolResult wrong = run("wrong", shape + "--check");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_TRUE(wrong.has("check: FAILED")) << wrong.output;
  ToolResult incomplete = run("incomplete", shape + "--guard");
  EXPECT_EQ(incomplete.status, 1);
  EXPECT_TRUE(
      incomplete.has("guard: element [0, 32, 0, 0] of 'o' was not written"))
      << incomplete.output;
  EXPECT_TRUE(
      run("incomplete", shape + "--check").has("expected O to be finite, got"));
  ToolResult overrun = run("overrun", shape + "--guard");
  EXPECT_EQ(overrun.status, 1);
  EXPECT_TRUE(overrun.has("guard byte -6 of 'o' was written"))
      << overrun.output;
  ToolResult tamper = run("tamper", shape + "--guard");
  EXPECT_EQ(tamper.status, 1);
  EXPECT_TRUE(tamper.has("byte 0 of input 'k' was written")) << tamper.output;
  ToolResult flaky = run("flaky", shape + "--repeat=10");
  EXPECT_EQ(flaky.status, 1);
  EXPECT_TRUE(flaky.has("'o' of launch 2 differs from the first"))
      << flaky.output;
}

TEST_F(Tool, givesUpOnHangsAndFaults) {
  ToolResult hang = run("hang", "--q=1x3x1x64 --timeout=0.2");
  EXPECT_EQ(hang.status, 1);
  EXPECT_TRUE(hang.has("launch: FAILED: the kernel did not finish within"))
      << hang.output;
  ToolResult fault = run("fault", "--random=50 --first-seed=2");
  EXPECT_EQ(fault.status, 1);
  EXPECT_TRUE(fault.has("CUDA_ERROR_LAUNCH_FAILED")) << fault.output;
  EXPECT_TRUE(fault.has("the GPU is lost")) << fault.output;
}

TEST_F(Tool, passesOnTheRuntimesErrors) {
  EXPECT_TRUE(
      run("good", "--q=1x3x3x64 --kv=1x3x2x64")
          .has("3 query heads are not a multiple of 2 key/value heads"));
  EXPECT_TRUE(run("good", "--q=1x3x2x128")
                  .has("expected dim 3 of 'q' to be 64, got 128"));
  EXPECT_TRUE(run("good", "--q=1x3x2x64 --device=cuda:3")
                  .has("cuDeviceGet failed with"));
}

TEST_F(Tool, namesMissingParts) {
  ToolResult sim = run("good", "--q=1x3x1x64 --device=sim");
  EXPECT_EQ(sim.status, 1);
  EXPECT_TRUE(sim.has("PTX: 1:1: expected '.version', got 'fake'"))
      << sim.output;
  ToolResult file = runRaw("/nonexistent --q=1x1x1x64", ".");
  EXPECT_EQ(file.status, 1);
  EXPECT_TRUE(file.has("cannot open '/nonexistent'")) << file.output;
  ToolResult json = run("good", "--q=1x1x1x64 --json=/nonexistent/x");
  EXPECT_EQ(json.status, 1);
  EXPECT_TRUE(json.has("cannot open '/nonexistent/x'")) << json.output;
}

} // namespace
