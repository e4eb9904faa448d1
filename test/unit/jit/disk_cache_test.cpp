// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache on disk alone: entries, trust, locks and full disks.

#include "CacheEntry.h"
#include "DiskCache.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn::jit;
using std::chrono::milliseconds;

namespace {

CacheKey keyOf(llvm::StringRef text) { return KeyBuilder(text).finish(); }

std::string take(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(CacheKey, knowsWhereFieldsEnd) {
  CacheKey a = KeyBuilder("t").add("ab").add("c").finish();
  CacheKey b = KeyBuilder("t").add("a").add("bc").finish();
  EXPECT_FALSE(a == b);
  EXPECT_EQ(a, KeyBuilder("t").add("ab").add("c").finish());
}

TEST(CacheEntry, saysWhatIsWrong) {
  CacheKey key = keyOf("k");
  std::string bytes = encodeEntry(key, "payload");
  llvm::Expected<llvm::StringRef> payload = decodeEntry(key, bytes);
  ASSERT_TRUE(bool(payload));
  EXPECT_EQ(*payload, "payload");
  auto reasonFor = [&](const std::string &damaged) {
    llvm::Expected<llvm::StringRef> got = decodeEntry(key, damaged);
    return got ? "" : take(got.takeError());
  };
  EXPECT_EQ(reasonFor(bytes.substr(0, 3)),
            "expected the size to be at least 88, got 3");
  EXPECT_EQ(reasonFor(bytes + "x"),
            "expected the payload's size to be 7, got 8");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= char(1 << bit % 8);
    EXPECT_NE(reasonFor(damaged), "") << bit;
  }
}

TEST(CacheTrust, isForOwnersAlone) {
  namespace fs = llvm::sys::fs;
  auto owned = [](uint32_t user, unsigned mode) {
    return fs::file_status(fs::file_type::regular_file, fs::perms(mode), 0, 1,
                           0, 0, 0, 0, 0, user, 0, 0);
  };
  EXPECT_EQ(distrust(owned(7, 0600), {7}), "");
  EXPECT_EQ(distrust(owned(7, 0644), {0, 7}), "");
  EXPECT_EQ(distrust(owned(8, 0600), {0, 7}), "it belongs to user 8");
  EXPECT_EQ(distrust(owned(7, 0620), {7}),
            "others than its owner may write to it");
  EXPECT_EQ(distrust(owned(7, 0602), {7}),
            "others than its owner may write to it");
}

class DiskCacheTest : public testing::Test {
protected:
  DiskCacheTest() {
    std::string name = std::filesystem::temp_directory_path() / "attn-XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~DiskCacheTest() override { std::filesystem::remove_all(folder); }

  DiskCache open() {
    return DiskCache({}, folder, "build",
                     [&](const std::string &message) { said = message; });
  }

  std::optional<std::string> lookup(const DiskCache &cache,
                                    const CacheKey &key) {
    return cache.lookup(key,
                        [&](const std::string &message) { said = message; });
  }

  /// The exit status of `body` in a process of its own.
  template <typename Body> static int inChild(Body body) {
    pid_t child = ::fork();
    if (child == 0) {
      ::_exit(body() ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }

  bool isEmpty() const {
    return std::filesystem::is_empty(std::filesystem::path(folder) / "build");
  }

  std::string folder, said;
};

TEST_F(DiskCacheTest, keepsEntries) {
  DiskCache cache = open();
  CacheKey key = keyOf("kept");
  EXPECT_FALSE(lookup(cache, key).has_value());
  {
    EntryLock lock = cache.lockEntry(key, milliseconds(0));
    ASSERT_TRUE(bool(lock));
    EXPECT_EQ(take(cache.publish(key, "payload")), "");
    EXPECT_EQ(take(cache.publish(key, "payload, again")), "");
  }
  EXPECT_EQ(lookup(cache, key), "payload, again");
  EXPECT_EQ(said, "");
}

TEST_F(DiskCacheTest, doesNotWaitForAPipe) {
  DiskCache cache = open();
  CacheKey key = keyOf("pipe");
  std::string path = folder + "/build/" + key.toHex() + ".attn";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(lookup(cache, key).has_value());
  EXPECT_EQ(said,
            "cache entry '" + path + "' is refused: it is no regular file");
}

TEST_F(DiskCacheTest, locksAgainstOtherProcesses) {
  DiskCache cache = open();
  CacheKey key = keyOf("locked");
  auto isFree = [&] { return bool(cache.lockEntry(key, milliseconds(0))); };
  {
    EntryLock lock = cache.lockEntry(key, milliseconds(0));
    EXPECT_NE(inChild(isFree), 0);
  }
  EXPECT_EQ(inChild(isFree), 0);
  EXPECT_TRUE(isEmpty());
}

TEST_F(DiskCacheTest, aKilledProcessKeepsNoLock) {
  DiskCache cache = open();
  CacheKey key = keyOf("orphaned");
  int status = inChild([&] {
    EntryLock lock = cache.lockEntry(key, milliseconds(0));
    ::kill(::getpid(), SIGKILL);
    return false;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(isEmpty());
  EXPECT_TRUE(bool(cache.lockEntry(key, milliseconds(0))));
  EXPECT_TRUE(isEmpty());
}

/// Four processes take turns with a file that only the lock protects.
TEST_F(DiskCacheTest, aLockIsHeldByOne) {
  DiskCache cache = open();
  CacheKey key = keyOf("fought for");
  std::string mark = folder + "/mark";
  auto takeTurns = [&] {
    bool good = true;
    for (int i = 0; i < 200; ++i) {
      EntryLock lock = cache.lockEntry(key, milliseconds(60000));
      good &= bool(lock) && ::mkdir(mark.c_str(), 0700) == 0 &&
              ::rmdir(mark.c_str()) == 0;
    }
    return good;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      ::_exit(takeTurns() ? 0 : 1);
    }
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(DiskCacheTest, aFullDiskIsAnErrorAndNothingElse) {
  int status = inChild([&] {
    DiskCache cache = open();
    CacheKey key = keyOf("large");
    EntryLock lock = cache.lockEntry(key, milliseconds(0));
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string reason = take(cache.publish(key, std::string(2000, 'x')));
    return reason.find("File too large") != std::string::npos &&
           !lookup(cache, key);
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(isEmpty());
}

TEST_F(DiskCacheTest, refusesWhatIsNoFile) {
  DiskCache cache = open();
  CacheKey key = keyOf("folder");
  std::filesystem::create_directory(folder + "/build/" + key.toHex() + ".attn");
  EXPECT_FALSE(lookup(cache, key).has_value());
  EXPECT_NE(said.find("' is refused: "), std::string::npos) << said;
}

} // namespace
