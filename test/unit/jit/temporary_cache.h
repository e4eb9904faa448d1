// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache directory of its own for each test, and what is in it.

#ifndef ATTN_TEST_UNIT_JIT_TEMPORARY_CACHE_H
#define ATTN_TEST_UNIT_JIT_TEMPORARY_CACHE_H

#include "attention_call.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

class TemporaryCache : public testing::Test {
protected:
  TemporaryCache() {
    std::string name = (std::filesystem::temp_directory_path() / "attn-XXXXXX");
    folder = ::mkdtemp(name.data());
    set("cache_dir", folder / "cache");
  }

  ~TemporaryCache() override {
    for (const char *option :
         {"cache_dir", "cache_readonly_dirs", "disable_cache", "disable_jit",
          "max_compiles", "dump_dir"}) {
      set(option, "");
    }
    std::filesystem::remove_all(folder);
  }

  static void set(const char *option, const std::string &value) {
    EXPECT_EQ(attn_jit_option(option, value.c_str()), ATTN_SUCCESS)
        << attn_last_error();
  }

  /// The image of the compiled kernel; "" if it failed.
  static std::string compile(const std::string &ir) {
    attn_compile_args args = compileArgs(ir);
    attn_bundle *bundle = nullptr;
    EXPECT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
    std::string image = bundle ? imageOf(bundle) : "";
    attn_bundle_destroy(bundle);
    return image;
  }

  static std::string keyOf(const std::string &ir) {
    attn_compile_args args = compileArgs(ir);
    char key[65] = "";
    EXPECT_EQ(attn_cache_key(&args, key), ATTN_SUCCESS) << attn_last_error();
    return key;
  }

  /// Where the entry of a kernel is below `root`.
  static std::filesystem::path entryOf(const std::string &ir,
                                       const std::filesystem::path &root) {
    std::string build = std::string(attn_compiler_build()).substr(0, 16);
    return root / build / (keyOf(ir) + ".attn");
  }

  static std::string read(const std::filesystem::path &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  static void write(const std::filesystem::path &path,
                    const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  std::filesystem::path folder;
};

#endif // ATTN_TEST_UNIT_JIT_TEMPORARY_CACHE_H
