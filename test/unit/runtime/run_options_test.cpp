// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "options.h"

#include <gtest/gtest.h>
#include <vector>

using namespace attn::run;

namespace {

std::string parse(std::vector<const char *> argv, Options &options) {
  std::string err;
  bool good = parseOptions(int(argv.size()), argv.data(), options, err);
  EXPECT_EQ(good, err.empty());
  return err;
}

std::string errorOf(std::vector<const char *> argv) {
  Options options;
  return parse(std::move(argv), options);
}

TEST(RunOptions, readsAll) {
  Options o;
  EXPECT_EQ(parse({"x.bundle", "--device=cuda:1", "--q=2x4096x16x128",
                   "--kv=2x300x4x128", "--check", "--bench", "--guard",
                   "--repeat=200", "--seed=7", "--scale=0.25", "--pad-strides",
                   "--broadcast-kv", "--inputs=spike-key:17", "--json=f"},
                  o),
            "");
  EXPECT_EQ(o.input, "x.bundle");
  EXPECT_EQ(o.device, "cuda");
  EXPECT_EQ(o.ordinal, 1);
  EXPECT_EQ(o.q, (Shape{2, 4096, 16, 128}));
  EXPECT_EQ(o.kv, (Shape{2, 300, 4, 128}));
  EXPECT_TRUE(o.check && o.bench && o.guard && o.padStrides && o.broadcastKv);
  EXPECT_EQ(o.inputs.spell(), "spike-key:17:200");
  EXPECT_EQ(o.repeat, 200);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.scale, 0.25);
  EXPECT_EQ(o.json, "f");
}

TEST(RunOptions, readsTheSimulators) {
  Options o;
  EXPECT_EQ(parse({"x", "--q=1x2x2x64", "--device=sim", "--sm-count=3",
                   "--seeds=4", "--schedule-seed=5"},
                  o),
            "");
  EXPECT_EQ(o.multiprocessors, 3);
  EXPECT_EQ(o.schedules, 4);
  EXPECT_EQ(o.scheduleSeed, 5u);
  EXPECT_EQ(errorOf({"x", "--q=1x2x2x64", "--device=sim", "--sm-count=0"}),
            "option '--sm-count': expected an integer of at least 1, got '0'");
  EXPECT_EQ(errorOf({"x", "--q=1x2x2x64", "--sm-count=3"}),
            "option '--sm-count': expected '--device=sim' beside it");
}

TEST(RunOptions, keysDefaultToQueries) {
  Options o;
  EXPECT_EQ(parse({"x", "--q=1x0x2x64"}, o), "");
  EXPECT_EQ(o.kv, (Shape{1, 0, 2, 64}));
}

TEST(RunOptions, namesWhatIsWrong) {
  EXPECT_EQ(errorOf({"x", "--inputs=high"}),
            "option '--inputs': expected normal, spike-key:KEY, "
            "spike-key:KEY:UNITS, spike-key:KEY:UNITS:FACTOR, low, "
            "low:UNITS, alternating, infinite:KEY, nan:KEY, large-v, "
            "large:UNITS or large-runs:UNITS, got 'high'");
  EXPECT_EQ(errorOf({"x", "--random=2", "--inputs=low"}),
            "option '--random': expected no '--inputs' beside it");
  EXPECT_EQ(errorOf({"x", "--quiet"}), "unknown option '--quiet'; see --help");
  EXPECT_EQ(errorOf({"x", "-q"}), "unknown option '-q'; see --help");
  for (const char *shape : {"--q=", "--q", "--q=1x2x3", "--q=1x2x3x4x5",
                            "--q=1x2x3x0", "--q=1x-2x3x4", "--q=1x2x3x4 ",
                            "--q=axbxcxd", "--q=1x2x3x99999999999999999999"}) {
    EXPECT_NE(errorOf({"x", shape})
                  .find("option '--q': expected BATCHxSEQLENxHEADSxHEAD_DIM "
                        "such as 2x4096x16x128, got '"),
              std::string::npos)
        << shape;
  }
  EXPECT_EQ(errorOf({"x", "--check=1", "--q=1x1x1x64"}),
            "option '--check': expected no value, got '1'");
  EXPECT_EQ(errorOf({"x", "--seed=-1", "--q=1x1x1x64"}),
            "option '--seed': expected an integer of at least 0, got '-1'");
  EXPECT_EQ(errorOf({"x", "--scale=0", "--q=1x1x1x64"}),
            "option '--scale': expected a finite number greater than 0, got "
            "'0'");
  EXPECT_EQ(errorOf({"x", "--scalar=cap", "--q=1x1x1x64"}),
            "option '--scalar': expected NAME=VALUE, got 'cap'");
  EXPECT_EQ(errorOf({"x", "--tensor=ids=4x:normal", "--q=1x1x1x64"}),
            "option '--tensor': expected NAME=EXTENTS, NAME=CONTENT or "
            "NAME=EXTENTS:CONTENT, with extents such as 2x300 and normal, "
            "slopes, documents, integers:LEAST:MOST or a .npy file, got "
            "'ids=4x:normal'");
  EXPECT_EQ(errorOf({"x", "--device=tpu", "--q=1x1x1x64"}),
            "option '--device': expected cuda, cuda:N or sim, got 'tpu'");
  EXPECT_EQ(errorOf({"--q=1x1x1x64"}), "expected an input file; see --help");
  EXPECT_EQ(errorOf({"x"}), "expected option '--q' or '--random'; see --help");
  EXPECT_EQ(errorOf({"x", "y", "--q=1x1x1x64"}),
            "expected one input, got 'x' and 'y'");
  EXPECT_EQ(errorOf({"x", "--random=3", "--q=1x1x1x64"}),
            "option '--random': expected no '--q' or '--kv' beside it");
  EXPECT_EQ(errorOf({"x", "--q=1x1x1x64", "--kv=2x1x1x64"}),
            "option '--kv': expected the batch of '--q', 1, got 2");
  EXPECT_EQ(errorOf({"x", "--q=1x1x1x64", "--kv=1x1x1x128"}),
            "option '--kv': expected the head_dim of '--q', 64, got 128");
}

TEST(RunOptions, readsThoseOfTheSimulator) {
  Options o;
  EXPECT_EQ(parse({"x", "--q=1x1x1x64", "--device=sim", "--trace=a",
                   "--seeds=3", "--schedule-seed=4"},
                  o),
            "");
  EXPECT_EQ(o.trace, "a");
  EXPECT_EQ(o.schedules, 3);
  EXPECT_EQ(o.scheduleSeed, 4u);
  EXPECT_EQ(parse({"x.ptx", "--device=sim", "--launch=l"}, o = {}), "");
  EXPECT_EQ(o.launch, "l");
  EXPECT_EQ(
      parse({"x.mlir", "--q=1x1x1x64", "--device=sim", "--trace=b"}, o = {}),
      "");
  EXPECT_FALSE(o.instrument);
  EXPECT_EQ(errorOf({"x.attn", "--q=1x1x1x64", "--instrument"}),
            "option '--instrument': expected an input that ends in .mlir, got "
            "'x.attn'");
  EXPECT_EQ(errorOf({"x", "--q=1x1x1x64", "--device=sim", "--trace="}),
            "option '--trace': expected a value, got ''");
  for (const char *option : {"--q=1x1x1x64", "--kv=1x1x1x64", "--random=1",
                             "--check", "--guard", "--repeat=1", "--bench"}) {
    EXPECT_EQ(errorOf({"x.ptx", "--device=sim", "--launch=l", option}),
              "option '--launch': expected no problem and no check beside it: "
              "the file has them")
        << option;
  }
}

TEST(RunOptions, helpNeedsNoInput) { EXPECT_EQ(errorOf({"--help"}), ""); }

TEST(RunOptions, instrumentsWhatIsTracedOnAGpu) {
  Options o;
  EXPECT_EQ(parse({"x.mlir", "--q=1x1x1x64", "--trace=a"}, o), "");
  EXPECT_TRUE(o.instrument);
  EXPECT_EQ(parse({"x.mlir", "--q=1x1x1x64"}, o = {}), "");
  EXPECT_FALSE(o.instrument);
  // A bundle is compiled already: --trace does not instrument it.
  EXPECT_EQ(parse({"x.attn", "--q=1x1x1x64", "--trace=a"}, o = {}), "");
  EXPECT_FALSE(o.instrument);
}

} // namespace
