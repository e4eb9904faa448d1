// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that compile and launch at once, and lists compiled in parallel.

#include "ForPython.h"
#include "temporary_cache.h"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using JitThreadsTest = TemporaryCache;

/// One compile and launch. It makes no assertions, which only the main thread
/// may.
struct Job {
  std::string ir;
  attn_status compiled = ATTN_DEVICE_ERROR, launched = ATTN_DEVICE_ERROR;
  std::string message;
  AttentionCall call;

  void run() {
    attn_compile_args args = compileArgs(ir);
    attn_bundle *bundle = nullptr;
    compiled = attn_compile(&args, &bundle);
    if (bundle) {
      launched = call.launch(bundle);
    }
    message = attn_last_error();
    attn_bundle_destroy(bundle);
  }
};

/// Eight threads: kernels of their own, one that all want, and one that LLVM
/// gives up on.
TEST_F(JitThreadsTest, compileAndLaunchAtOnce) {
  constexpr int threads = 8;
  std::vector<std::vector<Job>> jobs(threads);
  attn_jit_counters before = countJit();
  for (int i = 0; i < threads; ++i) {
    jobs[i].resize(3);
    jobs[i][0].ir = attentionIR("shared");
    jobs[i][1].ir = unselectableIR("broken");
    jobs[i][2].ir = attentionIR("own_" + std::to_string(i));
  }
  std::vector<std::thread> running;
  for (std::vector<Job> &mine : jobs) {
    running.emplace_back([&mine] {
      for (Job &job : mine) {
        job.run();
      }
    });
  }
  for (std::thread &thread : running) {
    thread.join();
  }
  for (std::vector<Job> &mine : jobs) {
    EXPECT_EQ(mine[1].compiled, ATTN_COMPILER_ERROR);
    EXPECT_NE(mine[1].message.find("Cannot select"), std::string::npos)
        << mine[1].message;
    for (int good : {0, 2}) {
      EXPECT_EQ(mine[good].compiled, ATTN_SUCCESS) << mine[good].message;
      EXPECT_EQ(mine[good].launched, ATTN_SUCCESS) << mine[good].message;
      mine[good].call.expectRight();
    }
  }
  attn_jit_counters after = countJit();
  uint64_t failures = after.failures - before.failures;
  EXPECT_EQ(after.compiles - before.compiles - failures, threads + 1u);
}

/// A child process that is forked while another thread compiles does not have
/// that thread.
TEST_F(JitThreadsTest, aChildDoesNotWaitForItsParentsThreads) {
  Job job;
  job.ir = attentionIR("forked");
  uint64_t before = countJit().compiles;
  std::thread thread([&] { job.run(); });
  while (countJit().compiles == before) {
    std::this_thread::yield();
  }
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(100);
    attn_compile_args args = compileArgs(job.ir);
    attn_bundle *bundle = nullptr;
    std::_Exit(attn_compile(&args, &bundle) == ATTN_SUCCESS ? 0 : 1);
  }
  thread.join();
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(job.compiled, ATTN_SUCCESS) << job.message;
}

/// A thread that asks whether a module is supported, while another compiles it,
/// waits for the same answer.
TEST_F(JitThreadsTest, supportsWhatAnotherThreadCompiles) {
  std::string ir = attentionIR("supported");
  for (const char *target : {"sm_90a", "sm_100a"}) {
    attn_compile_args args = compileArgs(ir);
    args.target = target;
    attn_bundle *bundle = nullptr;
    attn_status compiled = ATTN_DEVICE_ERROR;
    std::string message;
    uint64_t before = countJit().compiles;
    std::thread thread([&] {
      compiled = attn_compile(&args, &bundle);
      message = attn_last_error();
    });
    while (countJit().compiles == before) {
      std::this_thread::yield();
    }
    EXPECT_EQ(attn_supports(&args), target == std::string("sm_90a")
                                        ? ATTN_SUCCESS
                                        : ATTN_UNSUPPORTED);
    std::string supports = attn_last_error();
    thread.join();
    EXPECT_EQ(attn_supports(&args), compiled) << message;
    EXPECT_EQ(compiled ? supports : "", compiled ? message : "");
    attn_bundle_destroy(bundle);
  }
}

/// Only the compilations that may be given up are.
TEST_F(JitThreadsTest, givesUpWhatIsCompiledAhead) {
  std::string ir = attentionIR("given_up");
  attn_compile_args args = compileArgs(ir);
  attn_bundle *bundle = nullptr;
  attn_status ahead = ATTN_SUCCESS;
  std::thread thread(
      [&] { ahead = attn_internal_compile_ahead(&args, &bundle); });
  attn_internal_give_up_ahead();
  thread.join();
  EXPECT_EQ(ahead, ATTN_COMPILER_ERROR);
  EXPECT_EQ(bundle, nullptr);
  ASSERT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
  attn_bundle_destroy(bundle);
}

TEST_F(JitThreadsTest, precompilesAList) {
  std::vector<std::string> irs;
  for (int i = 0; i < 4; ++i) {
    irs.push_back(attentionIR("listed_" + std::to_string(i % 3)));
  }
  irs.push_back("nonsense");
  std::vector<attn_compile_args> args;
  for (const std::string &ir : irs) {
    args.push_back(compileArgs(ir));
  }
  std::vector<const attn_compile_args *> list;
  for (const attn_compile_args &each : args) {
    list.push_back(&each);
  }
  std::vector<attn_status> statuses(list.size(), ATTN_DEVICE_ERROR);
  attn_jit_counters before = countJit();
  EXPECT_EQ(attn_precompile(list.data(), list.size(), 3, statuses.data()),
            ATTN_INVALID_ARGUMENT);
  EXPECT_TRUE(lastErrorHas("item 4: ")) << attn_last_error();
  EXPECT_EQ(statuses,
            (std::vector<attn_status>{ATTN_SUCCESS, ATTN_SUCCESS, ATTN_SUCCESS,
                                      ATTN_SUCCESS, ATTN_INVALID_ARGUMENT}));
  attn_jit_counters after = countJit();
  EXPECT_EQ(after.compiles, before.compiles + 4);
  EXPECT_EQ(after.failures, before.failures + 1);
  for (int i = 0; i < 3; ++i) {
    compile(irs[i]);
  }
  EXPECT_EQ(countJit().compiles, after.compiles);
  EXPECT_EQ(attn_precompile(list.data(), 4, 0, nullptr), ATTN_SUCCESS);
  EXPECT_EQ(attn_precompile(nullptr, 0, 0, nullptr), ATTN_SUCCESS);
}

} // namespace
