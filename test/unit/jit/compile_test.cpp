// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling through the C interface: results, refusals, and failures that the
// compiler survives.

#include "temporary_cache.h"

#include <set>
#include <sys/resource.h>

namespace {

using CompileTest = TemporaryCache;

TEST_F(CompileTest, makesAKernelThatRuns) {
  std::string ir = attentionIR("runs");
  attn_compile_args args = compileArgs(ir);
  attn_bundle *bundle = nullptr;
  ASSERT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
  AttentionCall call;
  EXPECT_EQ(call.launch(bundle), ATTN_SUCCESS) << attn_last_error();
  call.expectRight();
  attn_bundle_destroy(bundle);
}

TEST_F(CompileTest, countsBytesOrStopsAtZero) {
  std::string ir = attentionIR("measured");
  attn_compile_args args = compileArgs(ir);
  char byText[65], byBytes[65];
  EXPECT_EQ(attn_cache_key(&args, byText), ATTN_SUCCESS);
  std::string longer = ir + "what is behind is not read";
  args.ir = longer.data();
  args.ir_size = ir.size();
  EXPECT_EQ(attn_cache_key(&args, byBytes), ATTN_SUCCESS);
  EXPECT_STREQ(byText, byBytes);
}

TEST_F(CompileTest, saysWhereTheModuleIsWrong) {
  std::string ir = "func.func @f() {\n  wrong\n}\n";
  attn_compile_args args = compileArgs(ir);
  attn_bundle *bundle = nullptr;
  EXPECT_EQ(attn_compile(&args, &bundle), ATTN_INVALID_ARGUMENT);
  EXPECT_TRUE(lastErrorHas("ir:2:")) << attn_last_error();
  EXPECT_EQ(attn_supports(&args), ATTN_INVALID_ARGUMENT);
}

TEST_F(CompileTest, saysWhatIsNotSupported) {
  std::string ir = attentionIR("elsewhere");
  attn_compile_args args = compileArgs(ir);
  EXPECT_EQ(attn_supports(&args), ATTN_SUCCESS) << attn_last_error();
  args.target = "sm_100a";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(attn_supports(&args), ATTN_UNSUPPORTED);
    EXPECT_TRUE(lastErrorHas("expected a schedule for fwd") &&
                lastErrorHas("on 'sm_100a'"))
        << attn_last_error();
  }
  attn_bundle *bundle = nullptr;
  EXPECT_EQ(attn_compile(&args, &bundle), ATTN_UNSUPPORTED);
  EXPECT_EQ(bundle, nullptr);
}

TEST_F(CompileTest, explainsWhatItDecides) {
  std::string ir = attentionIR("explained");
  attn_compile_args args = compileArgs(ir);
  const char *text = nullptr;
  ASSERT_EQ(attn_explain(&args, &text), ATTN_SUCCESS) << attn_last_error();
  EXPECT_NE(std::string(text).find("schedule: 'fwd_d80"), std::string::npos)
      << text;
  EXPECT_EQ(attn_explain(&args, nullptr), ATTN_INVALID_ARGUMENT);
  args.target = "sm_100a";
  EXPECT_EQ(attn_explain(&args, &text), ATTN_UNSUPPORTED);
  EXPECT_EQ(text, nullptr);
}

TEST_F(CompileTest, takesASchedule) {
  std::string ir = attentionIR("scheduled");
  attn_compile_args args = compileArgs(ir);
  args.schedule = "module {}";
  EXPECT_EQ(attn_supports(&args), ATTN_UNSUPPORTED);
  EXPECT_TRUE(lastErrorHas("expected an attn.table_entry in '"))
      << attn_last_error();
}

TEST_F(CompileTest, instruments) {
  std::string ir = attentionIR("instrumented");
  attn_compile_args args = compileArgs(ir);
  args.instrument = "nobody";
  EXPECT_EQ(attn_supports(&args), ATTN_UNSUPPORTED);
  EXPECT_TRUE(lastErrorHas("nobody")) << attn_last_error();
  args.instrument = "";
  EXPECT_EQ(attn_supports(&args), ATTN_SUCCESS) << attn_last_error();
}

TEST_F(CompileTest, compilesGradients) {
  std::string ir = attentionIR("differentiated");
  attn_compile_args args = compileArgs(ir);
  const char *names[] = {"k", "v", "q"};
  args.gradients = names;
  auto getKey = [&](size_t count, uint64_t flags) {
    args.num_gradients = count;
    args.flags = flags;
    char key[65] = "";
    EXPECT_EQ(attn_cache_key(&args, key), ATTN_SUCCESS) << attn_last_error();
    return std::string(key);
  };
  std::set<std::string> keys = {getKey(0, 0), getKey(2, 0), getKey(3, 0),
                                getKey(3, ATTN_COMPILE_ANY_ORDER)};
  EXPECT_EQ(keys.size(), 4U);

  attn_bundle *bundle = nullptr;
  args.num_gradients = 2;
  args.flags = 0;
  ASSERT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
  size_t count = 0;
  std::vector<std::string> written;
  ASSERT_EQ(attn_bundle_argument_count(bundle, &count), ATTN_SUCCESS);
  for (size_t i = 0; i < count; ++i) {
    attn_argument argument = {};
    argument.size = sizeof(argument);
    ASSERT_EQ(attn_bundle_argument(bundle, i, &argument), ATTN_SUCCESS);
    if (argument.access != ATTN_ACCESS_READ) {
      written.push_back(argument.name);
    }
  }
  EXPECT_EQ(written, (std::vector<std::string>{"dk", "dv"}));
  attn_bundle_destroy(bundle);

  names[0] = "x";
  EXPECT_EQ(attn_supports(&args), ATTN_INVALID_ARGUMENT);
  EXPECT_TRUE(
      lastErrorHas("expected gradients of 'q', 'k', 'v', 'scale', got 'x'"))
      << attn_last_error();
}

TEST_F(CompileTest, survivesWhatLLVMGivesUpOn) {
  for (const char *name : {"first", "second"}) {
    std::string ir = unselectableIR(name);
    attn_compile_args args = compileArgs(ir);
    attn_bundle *bundle = nullptr;
    set("dump_dir", folder / "dump");
    EXPECT_EQ(attn_compile(&args, &bundle), ATTN_COMPILER_ERROR);
    EXPECT_TRUE(lastErrorHas("Cannot select") &&
                lastErrorHas("reproducer: llc") &&
                lastErrorHas((folder / "dump" / "attn-reproducer-").string()))
        << attn_last_error();
    set("dump_dir", "");
    std::string good = attentionIR(std::string("after_") + name);
    args = compileArgs(good);
    EXPECT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
    AttentionCall call;
    EXPECT_EQ(call.launch(bundle), ATTN_SUCCESS) << attn_last_error();
    call.expectRight();
    attn_bundle_destroy(bundle);
  }
  std::string found;
  for (auto &file : std::filesystem::directory_iterator(folder / "dump")) {
    if (file.path().extension() == ".ll") {
      found += read(file.path());
    }
  }
  EXPECT_NE(found.find("llvm.log2.f64"), std::string::npos);
}

// The address sanitizer needs more memory than this allows.
#if !__has_feature(address_sanitizer)
/// Bytecode that says it has 2^28 strings.
std::string greedyBytecode() {
  std::string version = "\x0d", end(1, '\0');
  std::string strings("\0\0\0\0\x10\0\0\0\0", 9);
  std::string bytecode = "ML\xefR" + version + "MLIR" + end;
  bytecode += end + "\x13" + strings; // section 0 of 9 bytes
  for (char section : {1, 2, 3, 4, 8}) {
    bytecode += std::string(1, section) + "\x01"; // of none
  }
  return bytecode;
}

/// The caller gets an error, and can go on.
bool survivesGreed() {
  struct rlimit limit = {rlim_t(2) << 30, rlim_t(2) << 30};
  ::setrlimit(RLIMIT_AS, &limit);
  std::string greedy = greedyBytecode(), good = attentionIR("after_greedy");
  attn_compile_args args = compileArgs(greedy);
  args.ir_size = greedy.size();
  attn_status status = attn_supports(&args);
  std::fprintf(stderr, "%s\n", attn_last_error());
  args = compileArgs(good);
  return status == ATTN_COMPILER_ERROR && attn_supports(&args) == ATTN_SUCCESS;
}

TEST_F(CompileTest, survivesWhatNeedsMoreMemoryThanThereIs) {
  EXPECT_EXIT(std::_Exit(survivesGreed() ? 0 : 1), testing::ExitedWithCode(0),
              "compiling needs more memory than there is");
}
#endif

TEST_F(CompileTest, hasNamesForTargetsAndBuild) {
  std::set<std::string> targets;
  size_t count = 0;
  for (; attn_target_name(count); ++count) {
    targets.insert(attn_target_name(count));
  }
  EXPECT_EQ(targets.size(), count);
  EXPECT_TRUE(targets.count("sm_90a") && targets.count("sm_100a"));
  EXPECT_EQ(attn_target_name(count + 1), nullptr);
  EXPECT_EQ(std::string(attn_compiler_build()).size(), 40u);
}

TEST_F(CompileTest, refusesAnAssemblerThatIsNone) {
  set("ptxas", "/nowhere/ptxas");
  std::string ir = attentionIR("unassembled");
  attn_compile_args args = compileArgs(ir);
  attn_bundle *bundle = nullptr;
  EXPECT_EQ(attn_compile(&args, &bundle), ATTN_INVALID_ARGUMENT);
  EXPECT_TRUE(lastErrorHas("/nowhere/ptxas (absent)")) << attn_last_error();
  const char *own = std::getenv("ATTN_PTXAS");
  set("ptxas", own ? own : "");
}

} // namespace
