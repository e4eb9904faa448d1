// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs every file of test/sim/litmus/: broken kernels are reported under every
// schedule, by their rule and line alone, and correct ones under none.

#include "litmus_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

using namespace attn::sim;

static const std::filesystem::path kFolder = ATTN_LITMUS_FOLDER;

static std::vector<std::string> listNames() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".ptx") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// All reports: the failure, if there is one, and the rest.
static std::vector<std::string> collect(const GridResult &result) {
  std::vector<std::string> texts;
  if (!result.failure.empty()) {
    texts.push_back(result.failure);
  }
  for (const auto &[key, report] : result.reports.get()) {
    texts.push_back(report.text);
  }
  return texts;
}

/// Whether a report names this line, not only one that begins with the same
/// digits.
static bool namesLine(const std::string &text, unsigned line) {
  const std::string wanted = "PTX line " + std::to_string(line);
  for (size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + 1)) {
    size_t end = at + wanted.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') {
      return true;
    }
  }
  return false;
}

namespace {

class Litmus : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override { ASSERT_EQ(readLitmus(path(), file), "") << path(); }
  std::string path() const {
    return (kFolder / (GetParam() + ".ptx")).string();
  }

  LitmusFile file;
};

} // namespace

TEST_P(Litmus, isReportedAsExpected) {
  for (uint64_t seed = 0; seed < file.seeds; ++seed) {
    LitmusResult result = runLitmus(file, seed);
    ASSERT_EQ(result.problem, "") << path();
    std::vector<std::string> texts = collect(result.grid);
    EXPECT_EQ(texts.empty(), file.rule.empty())
        << path() << ", seed " << seed << ": expected "
        << (file.rule.empty() ? "no report" : file.rule);
    for (const std::string &text : texts) {
      EXPECT_NE(text.find("[" + file.rule + "]"), std::string::npos)
          << path() << ", seed " << seed << ": expected rule '" << file.rule
          << "', got\n"
          << text;
      EXPECT_TRUE(file.rule.empty() || namesLine(text, file.line))
          << path() << ", seed " << seed << ": expected line " << file.line
          << ", got\n"
          << text;
    }
    if (HasFailure()) {
      return; // the other schedules would say the same
    }
  }
}

TEST_P(Litmus, assembles) {
  const char *given = std::getenv("ATTN_PTXAS");
  std::string ptxas = given ? given : "ptxas";
  if (std::system((ptxas + " --version > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "no ptxas";
  }
  std::string begin = ".target ";
  size_t at = file.text.find(begin) + begin.size();
  std::string target = file.text.substr(at, file.text.find('\n', at) - at);
  std::string command =
      ptxas + " -arch=" + target + " -o /dev/null '" + path() + "' > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

INSTANTIATE_TEST_SUITE_P(, Litmus, testing::ValuesIn(listNames()),
                         [](const auto &each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// Rules that no small kernel of this target violates, and why.
static const std::set<std::string> kUntested = {
    "umma.group-mixed", // the assembler refuses such a kernel
};

TEST(LitmusSet, hasEachRule) {
  std::set<std::string> found;
  for (const std::string &name : listNames()) {
    LitmusFile file;
    readLitmus((kFolder / (name + ".ptx")).string(), file);
    found.insert(file.rule);
  }
  for (unsigned i = 0; i < kRules; ++i) {
    std::string id = getRuleInfo(Rule(i)).id;
    EXPECT_EQ(found.count(id), 1 - kUntested.count(id)) << id;
  }
}

TEST(LitmusSet, hasACorrectSiblingOfEachBrokenKernel) {
  std::vector<std::string> names = listNames();
  for (const std::string &name : names) {
    LitmusFile file;
    readLitmus((kFolder / (name + ".ptx")).string(), file);
    if (!file.rule.empty()) {
      std::string sibling = name.substr(0, name.rfind('-')) + "-ok";
      EXPECT_TRUE(std::count(names.begin(), names.end(), sibling)) << sibling;
    }
  }
}

TEST(LitmusSet, refusesAFileWithoutExpectation) {
  std::string path = testing::TempDir() + "litmus.ptx";
  auto read = [&](const std::string &text) {
    std::filesystem::remove(path);
    FILE *out = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), out);
    std::fclose(out);
    LitmusFile file;
    return readLitmus(path, file);
  };
  EXPECT_EQ(read("// expect: silent\n// launch: grid=1 block=1\n"), "");
  EXPECT_NE(read("// launch: grid=1 block=1\n"), "");
  EXPECT_NE(read("// expect: silent\n"), "");
  EXPECT_NE(read("// expect: no.rule line 3\n// launch: grid=1\n"), "");
  EXPECT_NE(read("// expect: race.shared\n// launch: grid=1\n"), "");
  EXPECT_NE(read("// expect: silent\n// launch: grid=one\n"), "");
}
