// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Settings from the environment.

#include "Settings.h"

#include <cstdlib>
#include <gtest/gtest.h>

using attn::jit::Settings;

namespace {

struct SettingsTest : testing::Test {
  ~SettingsTest() override {
    for (const char *name :
         {"ATTN_CACHE_DIR", "ATTN_CACHE_READONLY_DIRS", "ATTN_DISABLE_CACHE",
          "ATTN_DISABLE_JIT", "ATTN_MAX_COMPILES", "ATTN_DUMP_DIR"}) {
      ::unsetenv(name);
    }
  }

  static Settings read() {
    llvm::Expected<Settings> settings = Settings::fromEnvironment();
    if (!settings) {
      ADD_FAILURE() << llvm::toString(settings.takeError());
      return {};
    }
    return *settings;
  }
};

TEST_F(SettingsTest, haveDefaults) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  Settings settings = read();
  EXPECT_EQ(settings.cacheDir, "/somewhere/attn");
  EXPECT_TRUE(settings.readonlyCacheDirs.empty());
  EXPECT_FALSE(settings.disableCache || settings.disableJit);
  EXPECT_EQ(settings.maxCompiles, UINT64_MAX);
  EXPECT_EQ(settings.dumpDir, "");
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(SettingsTest, comeFromTheEnvironment) {
  ::setenv("ATTN_CACHE_DIR", "/a", 1);
  ::setenv("ATTN_CACHE_READONLY_DIRS", "/b::/c", 1);
  ::setenv("ATTN_DISABLE_CACHE", "1", 1);
  ::setenv("ATTN_DISABLE_JIT", "0", 1);
  ::setenv("ATTN_MAX_COMPILES", "12", 1);
  ::setenv("ATTN_DUMP_DIR", "/d", 1);
  Settings settings = read();
  EXPECT_EQ(settings.cacheDir, "/a");
  EXPECT_EQ(settings.readonlyCacheDirs, (std::vector<std::string>{"/b", "/c"}));
  EXPECT_TRUE(settings.disableCache);
  EXPECT_FALSE(settings.disableJit);
  EXPECT_EQ(settings.maxCompiles, 12u);
  EXPECT_EQ(settings.dumpDir, "/d");
}

TEST_F(SettingsTest, nameTheVariableThatIsWrong) {
  ::setenv("ATTN_MAX_COMPILES", "many", 1);
  llvm::Expected<Settings> settings = Settings::fromEnvironment();
  ASSERT_FALSE(bool(settings));
  EXPECT_EQ(llvm::toString(settings.takeError()),
            "ATTN_MAX_COMPILES: expected 'max_compiles' to be a number, got "
            "'many'");
}

} // namespace
