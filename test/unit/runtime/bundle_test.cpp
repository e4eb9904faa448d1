// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attn/runtime/bundle.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace attn::runtime;

namespace {

Bundle smallBundle() {
  Bundle bundle;
  bundle.plan = "{\"version\":1}";
  bundle.ptx = ".version 8.0\n";
  bundle.cubin = {'\x7f', 'E', 'L', 'F', 0, 1, 2};
  return bundle;
}

/// Reads a heap copy of exactly these bytes, so that a sanitizer sees any read
/// past the end.
bool readCopy(const std::vector<char> &image, Bundle &bundle,
              std::string &err) {
  std::vector<char> copy(image);
  copy.shrink_to_fit();
  return readBundle(copy.data(), copy.size(), bundle, err);
}

std::string errorOf(const std::vector<char> &image) {
  Bundle bundle;
  std::string err;
  EXPECT_FALSE(readCopy(image, bundle, err));
  return err;
}

TEST(Bundle, roundTrips) {
  Bundle bundle;
  std::string err;
  ASSERT_TRUE(readCopy(writeBundle(smallBundle()), bundle, err)) << err;
  EXPECT_EQ(bundle.plan, smallBundle().plan);
  EXPECT_EQ(bundle.ptx, smallBundle().ptx);
  EXPECT_EQ(bundle.cubin, smallBundle().cubin);
}

TEST(Bundle, leavesOutEmptySections) {
  Bundle only;
  only.plan = "{}";
  Bundle bundle;
  std::string err;
  ASSERT_TRUE(readCopy(writeBundle(only), bundle, err)) << err;
  EXPECT_TRUE(bundle.ptx.empty());
  EXPECT_TRUE(bundle.cubin.empty());
}

TEST(Bundle, sameContentGivesSameBytes) {
  EXPECT_EQ(writeBundle(smallBundle()), writeBundle(smallBundle()));
}

TEST(Bundle, refusesEverySingleBitFlip) {
  const std::vector<char> good = writeBundle(smallBundle());
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<char> bad = good;
      bad[i] = char(bad[i] ^ (1 << bit));
      Bundle bundle;
      std::string err;
      EXPECT_FALSE(readCopy(bad, bundle, err)) << "byte " << i;
      EXPECT_EQ(err.rfind("bundle: ", 0), 0u) << err;
    }
  }
}

TEST(Bundle, refusesEveryByteValueInHeaderAndTable) {
  const std::vector<char> good = writeBundle(smallBundle());
  for (size_t i = 0; i < 128; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::vector<char> bad = good;
      bad[i] = char(value);
      Bundle bundle;
      std::string err;
      EXPECT_EQ(readCopy(bad, bundle, err), bad == good) << "byte " << i;
    }
  }
}

TEST(Bundle, refusesEveryTruncation) {
  const std::vector<char> good = writeBundle(smallBundle());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(errorOf({good.begin(), good.begin() + size}), "") << size;
  }
}

TEST(Bundle, refusesTrailingBytes) {
  std::vector<char> bad = writeBundle(smallBundle());
  size_t size = bad.size();
  bad.push_back(0);
  EXPECT_EQ(errorOf(bad), "bundle: expected the file size to be " +
                              std::to_string(size) + ", got " +
                              std::to_string(size + 1));
}

/// Sets the u64 at `at` and makes the table's checksum right again, as an
/// attacker would.
std::vector<char> forge(size_t at, uint64_t value) {
  std::vector<char> image = writeBundle(smallBundle());
  std::memcpy(&image[at], &value, 8);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 32; i < 32 + 3 * 32; ++i) {
    hash = (hash ^ static_cast<unsigned char>(image[i])) * 0x100000001b3u;
  }
  std::memcpy(&image[24], &hash, 8);
  return image;
}

TEST(Bundle, refusesForgedTables) {
  constexpr size_t entry = 32, offset = entry + 8, size = entry + 16;
  for (uint64_t value : {uint64_t(0), uint64_t(16), uint64_t(1) << 32,
                         ~uint64_t(0), ~uint64_t(15)}) {
    EXPECT_EQ(errorOf(forge(offset, value)),
              "bundle: expected section 0 offset to be 128, got " +
                  std::to_string(value));
  }
  for (uint64_t value : {uint64_t(1) << 32, ~uint64_t(0), ~uint64_t(0) - 127}) {
    EXPECT_NE(errorOf(forge(size, value)).find("section 0 size"),
              std::string::npos);
  }
  EXPECT_NE(errorOf(forge(size, 12)).find("section 0 checksum"),
            std::string::npos);
  EXPECT_NE(errorOf(forge(entry, 4)).find("section 0 kind"), std::string::npos);
  EXPECT_NE(errorOf(forge(entry + 32, 1)).find("section 1 kind"),
            std::string::npos);
}

TEST(Bundle, refusesBundleWithoutPlan) {
  Bundle bundle = smallBundle();
  bundle.plan.clear();
  EXPECT_EQ(errorOf(writeBundle(bundle)),
            "bundle: expected a plan section, got none");
}

TEST(Bundle, survivesRandomBytes) {
  uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::vector<char> bytes(round % 300);
    for (char &byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = char(state >> 24);
    }
    std::string magic = "ATTNBNDL";
    std::copy_n(magic.begin(), std::min(magic.size(), bytes.size()),
                bytes.begin());
    EXPECT_NE(errorOf(bytes), "");
  }
}

TEST(BundleFile, writesAndReads) {
  std::string path =
      testing::TempDir() + "attn_bundle_test_" + std::to_string(::getpid());
  std::string err;
  ASSERT_TRUE(writeBundleFile(smallBundle(), path, err)) << err;
  Bundle bundle;
  ASSERT_EQ(readBundleFile(path, bundle, err), BundleFault::None) << err;
  EXPECT_EQ(bundle.plan, smallBundle().plan);
  std::remove(path.c_str());
}

TEST(BundleFile, namesTheFileItCannotUse) {
  Bundle bundle;
  std::string err;
  EXPECT_EQ(readBundleFile("/nonexistent/x", bundle, err), BundleFault::File);
  EXPECT_EQ(err,
            "bundle: cannot open '/nonexistent/x': No such file or directory");
  EXPECT_FALSE(writeBundleFile(smallBundle(), "/nonexistent/x", err));
  EXPECT_EQ(err, "bundle: cannot create a temporary file beside "
                 "'/nonexistent/x': No such file or directory");
}

TEST(BundleFile, readsRegularFilesAlone) {
  std::string pipe =
      testing::TempDir() + "attn_bundle_pipe_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::pair<std::string, std::string> cases[] = {
      {"/dev/zero", "a character device"},
      {"/", "a directory"},
      {pipe, "a pipe"}};
  for (const auto &[path, kind] : cases) {
    Bundle bundle;
    std::string err;
    EXPECT_EQ(readBundleFile(path, bundle, err), BundleFault::File);
    EXPECT_EQ(err, "bundle: expected '" + path +
                       "' to be a regular file, got " + kind);
  }
  std::remove(pipe.c_str());
}

TEST(BundleFile, refusesHugeFiles) {
  std::string path =
      testing::TempDir() + "attn_bundle_huge_" + std::to_string(::getpid());
  std::ofstream(path) << "ATTNBNDL";
  ASSERT_EQ(::truncate(path.c_str(), int64_t(1) << 40), 0);
  Bundle bundle;
  std::string err;
  EXPECT_EQ(readBundleFile(path, bundle, err), BundleFault::Content);
  EXPECT_EQ(err, "bundle: expected the size of '" + path +
                     "' to be at most 268435456 bytes, got 1099511627776");
  std::remove(path.c_str());
}

} // namespace
