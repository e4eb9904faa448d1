// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is compiled once, what is found in the cache, and which entries are not
// trusted.

#include "temporary_cache.h"

#include <sys/stat.h>

namespace {

using JitCacheTest = TemporaryCache;

TEST_F(JitCacheTest, compilesOnce) {
  std::string ir = attentionIR("once");
  attn_compile_args args = compileArgs(ir);
  attn_bundle *first = nullptr, *second = nullptr;
  attn_jit_counters before = countJit();
  ASSERT_EQ(attn_compile(&args, &first), ATTN_SUCCESS) << attn_last_error();
  ASSERT_EQ(attn_compile(&args, &second), ATTN_SUCCESS) << attn_last_error();
  attn_jit_counters after = countJit();
  EXPECT_EQ(first, second);
  EXPECT_EQ(after.compiles, before.compiles + 1);
  EXPECT_EQ(after.memory_hits, before.memory_hits + 1);
  EXPECT_GT(after.compile_seconds, before.compile_seconds);
  // A caller's bundle outlives the cache's.
  attn_bundle_destroy(first);
  attn_jit_clear();
  EXPECT_NE(std::string(attn_bundle_plan(second)), "");
  attn_bundle_destroy(second);
}

TEST_F(JitCacheTest, findsOnDiskWhatItCompiled) {
  std::string ir = attentionIR("on_disk");
  std::string compiled = compile(ir);
  attn_jit_clear();
  attn_jit_counters before = countJit();
  EXPECT_EQ(compile(ir), compiled);
  attn_jit_counters after = countJit();
  EXPECT_EQ(after.compiles, before.compiles);
  EXPECT_EQ(after.disk_hits, before.disk_hits + 1);
  // For the user alone, and with nothing left over.
  struct stat status;
  ASSERT_EQ(::stat((folder / "cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  for (auto &file : std::filesystem::recursive_directory_iterator(folder)) {
    EXPECT_TRUE(file.is_directory() || file.path().extension() == ".attn")
        << file.path();
  }
}

TEST_F(JitCacheTest, keysHoldAllThatTheBundleDependsOn) {
  std::string ir = attentionIR("key"), other = attentionIR("other_key");
  std::vector<attn_compile_args> all(6, compileArgs(ir));
  all[1].ir = other.c_str();
  all[2].target = "sm_100a";
  all[3].schedule = "module {}";
  all[4].instrument = "";
  all[5].instrument = "softmax";
  std::vector<std::string> keys;
  for (const attn_compile_args &args : all) {
    char key[65];
    ASSERT_EQ(attn_cache_key(&args, key), ATTN_SUCCESS) << attn_last_error();
    EXPECT_EQ(std::string(key).find_first_not_of("0123456789abcdef"),
              std::string::npos);
    EXPECT_EQ(std::strlen(key), 64u);
    keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

TEST_F(JitCacheTest, compilesAgainWhatIsDamaged) {
  std::string ir = attentionIR("damaged"), other = attentionIR("not_this");
  std::string compiled = compile(ir);
  compile(other);
  std::filesystem::path path = entryOf(ir, folder / "cache");
  std::string good = read(path), flipped = good;
  ASSERT_GT(good.size(), compiled.size());
  flipped.back() ^= 64;
  std::string damaged[] = {"", good.substr(0, good.size() - 1), flipped,
                           read(entryOf(other, folder / "cache"))};
  for (const std::string &bytes : damaged) {
    write(path, bytes);
    attn_jit_clear();
    attn_jit_counters before = countJit();
    EXPECT_EQ(compile(ir), compiled);
    attn_jit_counters after = countJit();
    EXPECT_EQ(after.compiles, before.compiles + 1);
    EXPECT_GE(after.refused_entries, before.refused_entries + 1);
    EXPECT_EQ(read(path), good);
  }
}

TEST_F(JitCacheTest, doesNotBelieveWhatOthersMayWrite) {
  std::string ir = attentionIR("open_to_all");
  compile(ir);
  std::filesystem::path path = entryOf(ir, folder / "cache");
  ::chmod(path.c_str(), 0666);
  attn_jit_clear();
  attn_jit_counters before = countJit();
  compile(ir);
  EXPECT_EQ(countJit().compiles, before.compiles + 1);
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(JitCacheTest, doesWithoutADirectoryThatOthersMayWrite) {
  std::filesystem::create_directory(folder / "open");
  ::chmod((folder / "open").c_str(), 0777);
  set("cache_dir", folder / "open");
  compile(attentionIR("no_directory"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "open"));
}

TEST_F(JitCacheTest, doesWithoutADirectoryThatCannotBe) {
  set("cache_dir", "/proc/attn");
  compile(attentionIR("nowhere"));
}

TEST_F(JitCacheTest, looksIntoReadonlyDirectories) {
  std::string ir = attentionIR("shipped"), missing = attentionIR("not_shipped");
  std::string compiled = compile(ir);
  std::filesystem::rename(folder / "cache", folder / "shipped");
  std::filesystem::path entry = entryOf(ir, folder / "shipped");
  std::filesystem::permissions(entry.parent_path(),
                               std::filesystem::perms(0500));
  set("cache_readonly_dirs",
      (folder / "absent").string() + ":" + (folder / "shipped").string());
  attn_jit_clear();
  attn_jit_counters before = countJit();
  EXPECT_EQ(compile(ir), compiled);
  EXPECT_EQ(countJit().compiles, before.compiles);
  // A missing entry goes to the directory that may be written.
  compile(missing);
  EXPECT_FALSE(std::filesystem::exists(entryOf(missing, folder / "shipped")));
  EXPECT_TRUE(std::filesystem::exists(entryOf(missing, folder / "cache")));
  // So does one that is damaged.
  std::string good = read(entry);
  std::filesystem::permissions(entry.parent_path(),
                               std::filesystem::perms(0700));
  write(entry, good.substr(1));
  attn_jit_clear();
  before = countJit();
  EXPECT_EQ(compile(ir), compiled);
  EXPECT_EQ(countJit().compiles, before.compiles + 1);
  EXPECT_EQ(read(entry), good.substr(1));
  EXPECT_EQ(read(entryOf(ir, folder / "cache")), good);
}

TEST_F(JitCacheTest, canBeDisabled) {
  set("disable_cache", "1");
  std::string ir = attentionIR("uncached");
  std::string compiled = compile(ir);
  attn_jit_clear();
  attn_jit_counters before = countJit();
  EXPECT_EQ(compile(ir), compiled);
  EXPECT_EQ(countJit().compiles, before.compiles + 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
}

TEST_F(JitCacheTest, compilesNothingWhereThatIsDisabled) {
  std::string cached = attentionIR("there"), missing = attentionIR("missing");
  std::string compiled = compile(cached);
  attn_jit_clear();
  set("disable_jit", "1");
  EXPECT_EQ(compile(cached), compiled);
  std::string key = keyOf(missing);
  attn_compile_args args = compileArgs(missing);
  attn_bundle *bundle = nullptr;
  EXPECT_EQ(attn_compile(&args, &bundle), ATTN_NOT_COMPILED);
  EXPECT_TRUE(lastErrorHas("compiling is disabled") && lastErrorHas(key))
      << attn_last_error();
}

TEST_F(JitCacheTest, compilesUpToALimit) {
  set("max_compiles", std::to_string(countJit().compiles + 1));
  compile(attentionIR("last_one"));
  std::string ir = attentionIR("one_too_many");
  std::string key = keyOf(ir);
  attn_compile_args args = compileArgs(ir);
  attn_bundle *bundle = nullptr;
  EXPECT_EQ(attn_compile(&args, &bundle), ATTN_NOT_COMPILED);
  EXPECT_TRUE(lastErrorHas("expected at most ") && lastErrorHas(key))
      << attn_last_error();
}

TEST_F(JitCacheTest, dumpsWhatItCompiles) {
  set("dump_dir", folder / "dump");
  std::string ir = attentionIR("dumped");
  compile(ir);
  std::string stem = folder / "dump" / keyOf(ir);
  EXPECT_EQ(read(stem + ".mlir"), ir);
  EXPECT_EQ(read(stem + ".ptx").find(".version"),
            read(stem + ".ptx").find('.'));
  EXPECT_EQ(read(stem + ".json").substr(0, 1), "{");
}

TEST_F(JitCacheTest, savesBundles) {
  std::string ir = attentionIR("saved");
  attn_compile_args args = compileArgs(ir);
  attn_bundle *bundle = nullptr, *loaded = nullptr;
  ASSERT_EQ(attn_compile(&args, &bundle), ATTN_SUCCESS) << attn_last_error();
  std::string path = folder / "saved.attn";
  ASSERT_EQ(attn_bundle_save(bundle, path.c_str()), ATTN_SUCCESS);
  EXPECT_EQ(read(path), imageOf(bundle));
  ASSERT_EQ(attn_bundle_load(path.c_str(), nullptr, 0, &loaded), ATTN_SUCCESS);
  AttentionCall call;
  EXPECT_EQ(call.launch(loaded), ATTN_SUCCESS) << attn_last_error();
  call.expectRight();
  EXPECT_EQ(attn_bundle_save(bundle, "/nowhere/saved.attn"), ATTN_IO_ERROR);
  attn_bundle_destroy(bundle);
  attn_bundle_destroy(loaded);
}

} // namespace
