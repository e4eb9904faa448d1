// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callers' errors in compiling: every misuse ends with its status and a message
// that names the argument, the rule and both values.

#include "temporary_cache.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace {

class CompileAbuse : public TemporaryCache {
protected:
  /// Expects the refusal from every function that takes the struct.
  void expectRefused(attn_status want, const std::string &message) {
    attn_bundle *bundle = reinterpret_cast<attn_bundle *>(1);
    char key[65] = "";
    EXPECT_EQ(attn_compile(given, &bundle), want);
    EXPECT_EQ(attn_last_error(), message);
    EXPECT_EQ(bundle, nullptr);
    EXPECT_EQ(attn_supports(given), want);
    EXPECT_EQ(attn_last_error(), message);
    EXPECT_EQ(attn_cache_key(given, key), want);
    EXPECT_EQ(attn_last_error(), message);
    attn_status each = ATTN_SUCCESS;
    EXPECT_EQ(attn_precompile(&given, 1, 1, &each), want);
    EXPECT_EQ(attn_last_error(), "item 0: " + message);
    EXPECT_EQ(each, want);
  }

  std::string ir = attentionIR("abused");
  struct {
    attn_compile_args known;
    unsigned char unknown[8] = {};
  } newer = {compileArgs(ir)};
  attn_compile_args &args = newer.known;
  const attn_compile_args *given = &args;
};

TEST_F(CompileAbuse, nullPointers) {
  char key[65] = "";
  const struct {
    std::function<attn_status()> abuse;
    std::string missing;
  } cases[] = {
      {[&] { return attn_compile(&args, nullptr); }, "bundle"},
      {[&] { return attn_cache_key(&args, nullptr); }, "key"},
      {[&] { return attn_jit_option(nullptr, ""); }, "name"},
      {[&] { return attn_jit_option("cache_dir", nullptr); }, "value"},
  };
  for (const auto &each : cases) {
    EXPECT_EQ(each.abuse(), ATTN_INVALID_ARGUMENT);
    EXPECT_EQ(attn_last_error(),
              "expected '" + each.missing + "' to be given, got null");
  }
  args.ir = nullptr;
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected 'ir' to be a module, got null");
  EXPECT_EQ(std::string(key), "");
}

TEST_F(CompileAbuse, sizesOfStructs) {
  const std::string rule =
      "expected attn_compile_args.size to be from 56 to 4096, got ";
  for (size_t size : {size_t(0), size_t(55), size_t(4097), SIZE_MAX}) {
    args.size = size;
    expectRefused(ATTN_INVALID_ARGUMENT, rule + std::to_string(size));
  }
  given = nullptr;
  expectRefused(ATTN_INVALID_ARGUMENT, rule + "a null struct");

  EXPECT_EQ(attn_jit_count(nullptr), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(), "expected attn_jit_counters.size to be from "
                                  "56 to 4096, got a null struct");
}

TEST_F(CompileAbuse, fieldsOfANewerCaller) {
  args.size = sizeof(newer);
  char key[65] = "", same[65] = "";
  EXPECT_EQ(attn_cache_key(&args, key), ATTN_SUCCESS) << attn_last_error();
  args.size = sizeof(args);
  EXPECT_EQ(attn_cache_key(&args, same), ATTN_SUCCESS);
  EXPECT_STREQ(key, same);
  args.size = sizeof(newer);
  newer.unknown[7] = 1;
  expectRefused(ATTN_UNSUPPORTED,
                "expected attn_compile_args to be zero from byte 80 on, which "
                "version " ATTN_VERSION
                " of the library does not know, got 1 at byte 87");
}

TEST_F(CompileAbuse, targets) {
  args.target = "sm_1";
  std::string targets = attn_target_name(0);
  for (size_t i = 1; attn_target_name(i); ++i) {
    targets += std::string(", ") + attn_target_name(i);
  }
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected 'target' to be one of " + targets + ", got 'sm_1'");
}

TEST_F(CompileAbuse, gradients) {
  const char *names[] = {"q", nullptr};
  args.num_gradients = 2;
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected 'gradients' to be 2 names, got null");
  args.gradients = names;
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected 'gradients[1]' to be a name, got null");
  args.num_gradients = 0;
  args.flags = ATTN_COMPILE_ANY_ORDER;
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected 'gradients' to be named beside "
                "ATTN_COMPILE_ANY_ORDER, got none");
  args.flags = 2;
  expectRefused(ATTN_INVALID_ARGUMENT,
                "expected 'flags' to be 0 or ATTN_COMPILE_ANY_ORDER, got 2");
}

TEST_F(CompileAbuse, lists) {
  EXPECT_EQ(attn_precompile(nullptr, 3, 1, nullptr), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected 'list' to be given since 'count' is 3, got null");
  EXPECT_EQ(attn_precompile(&given, SIZE_MAX, 1, nullptr),
            ATTN_INVALID_ARGUMENT);
  EXPECT_EQ(attn_last_error(), "expected 'count' to be at most 1048576, got " +
                                   std::to_string(SIZE_MAX));
}

TEST_F(CompileAbuse, options) {
  EXPECT_EQ(attn_jit_option("speed", "11"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected 'name' to be one of cache_dir, cache_readonly_dirs, "
               "disable_cache, disable_jit, max_compiles, dump_dir, ptxas, got "
               "'speed'");
  EXPECT_EQ(attn_jit_option("disable_jit", "yes"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected 'disable_jit' to be 0 or 1, got 'yes'");
  EXPECT_EQ(attn_jit_option("max_compiles", "-1"), ATTN_INVALID_ARGUMENT);
  EXPECT_STREQ(attn_last_error(),
               "expected 'max_compiles' to be a number, got '-1'");
}

TEST_F(CompileAbuse, modules) {
  for (const char *text : {"", "nonsense", "module {}", "ML\xefR"}) {
    args.ir = text;
    attn_bundle *bundle = nullptr;
    EXPECT_NE(attn_compile(&args, &bundle), ATTN_SUCCESS) << text;
    EXPECT_EQ(bundle, nullptr);
    EXPECT_STRNE(attn_last_error(), "");
  }
}

} // namespace
