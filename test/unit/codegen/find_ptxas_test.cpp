// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/emit/FindPtxas.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace attn::codegen;

namespace {

/// A cache directory with an executable that is no assembler, where
/// scripts/setup puts one.
class FindPtxas : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("attn-ptxas", root));
    program = root;
    llvm::sys::path::append(program, "attn", "bin");
    ASSERT_FALSE(llvm::sys::fs::create_directories(program));
    llvm::sys::path::append(program, "ptxas");
    ASSERT_FALSE(llvm::sys::fs::create_link("/bin/true", program));
    setenv("XDG_CACHE_HOME", root.c_str(), /*overwrite=*/1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    EXPECT_FALSE(llvm::sys::fs::remove_directories(root));
  }

  llvm::SmallString<128> root, program;
};

TEST_F(FindPtxas, LooksWhereSetupPutsOneAfterAllOtherPlaces) {
  auto ask = [&](llvm::StringRef path) {
    return path == program ? "Cuda, release 12.8, V12.8.1" : "";
  };
  llvm::Expected<Ptxas> found = findPtxas("", ask);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->path, program.str().str());
}

TEST_F(FindPtxas, NamesThoseThatAreTooOld) {
  auto ask = [](llvm::StringRef) { return "Cuda, release 12.7, V12.7.1"; };
  llvm::Expected<Ptxas> found = findPtxas("", ask);
  ASSERT_FALSE(bool(found));
  std::string message = llvm::toString(found.takeError());
  EXPECT_NE(message.find(program.str().str() + " (12.7)"), std::string::npos);
  EXPECT_EQ(message.find("(absent)"), std::string::npos) << message;
}

TEST_F(FindPtxas, NamesTheOneThatWasAskedFor) {
  llvm::Expected<Ptxas> found = findPtxas("/nowhere/ptxas");
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(llvm::toString(found.takeError()),
            "expected ptxas 12.8 or newer, got: /nowhere/ptxas (absent)");
}

} // namespace
