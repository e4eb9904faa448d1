// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section "Compiling" of the C interface, on the examples with pieces
// replaced and on arbitrary bytes: every call must return, and every failure
// must have a message.

#include "attn/runtime/attn.h"
#include "edit.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

static void require(bool good) {
  if (!good) {
    std::abort();
  }
}

/// Returns whether a call succeeded; a failure must have a message.
static bool succeeded(attn_status status) {
  bool known = std::strcmp(attn_status_name(status), "unknown status") != 0;
  require(known && (status == ATTN_SUCCESS) == (*attn_last_error() == '\0'));
  return status == ATTN_SUCCESS;
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  require(succeeded(attn_jit_option("disable_cache", "1")));
  require(succeeded(attn_jit_option("ptxas", "none")));
  return 0;
}

/// The modules to damage, in the same order everywhere.
static const std::vector<std::string> &examples() {
  static const std::vector<std::string> all = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(EXAMPLES)) {
      if (entry.path().extension() == ".mlir") {
        paths.push_back(entry.path());
      }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const std::filesystem::path &path : paths) {
      std::ostringstream text;
      text << std::ifstream(path).rdbuf();
      texts.push_back(text.str());
    }
    return texts;
  }();
  return all;
}

static std::string anyModule(FuzzedDataProvider &data) {
  static const char *const words[] = {"bf16",
                                      "f16",
                                      "f32",
                                      "i32",
                                      "index",
                                      "none",
                                      "128",
                                      "0",
                                      "-1",
                                      "bhsd",
                                      "tensor<?xf32>",
                                      "?",
                                      "%q",
                                      "%k",
                                      "arith.addf",
                                      "window_top_left",
                                      "257",
                                      "causal_top_left",
                                      "arith.constant 1.0 : f32",
                                      "math.exp",
                                      "8",
                                      "9223372036854775807",
                                      "4096",
                                      "softcap",
                                      "attn.yield",
                                      "()",
                                      "{",
                                      "}"};
  if (data.ConsumeIntegralInRange(0, 7) == 0) {
    return data.ConsumeRemainingBytesAsString();
  }
  size_t last = examples().size() - 1;
  size_t which = data.ConsumeIntegralInRange<size_t>(0, last);
  return attn::fuzz::edit(data, examples()[which], words);
}

static void setOption(FuzzedDataProvider &data) {
  static const char *const names[] = {"disable_jit", "max_compiles", "speed"};
  std::string value = data.ConsumeRandomLengthString(4);
  (void)succeeded(attn_jit_option(data.PickValueInArray(names), value.c_str()));
  require(succeeded(attn_jit_option("disable_jit", "")));
  require(succeeded(attn_jit_option("max_compiles", "")));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  bool compiles = data.ConsumeIntegralInRange(0, 63) == 1;
  int spoiled = data.ConsumeIntegralInRange(0, 31);
  if (spoiled == 1) {
    setOption(data);
  }
  std::string schedule =
      spoiled == 2 ? data.ConsumeRandomLengthString(200) : "";
  std::string ir = anyModule(data);
  attn_compile_args args = {};
  args.size = spoiled == 3 ? size % 80 : sizeof(args);
  args.ir = ir.data();
  args.ir_size = ir.size();
  args.schedule = spoiled == 2 ? schedule.data() : nullptr;
  args.schedule_size = schedule.size();
  args.target = spoiled == 4 ? "sm_100a" : spoiled == 5 ? ir.c_str() : nullptr;
  args.instrument = spoiled == 6 ? "load,wg" : nullptr;

  bool supported = succeeded(attn_supports(&args));
  char key[65];
  (void)succeeded(attn_cache_key(&args, key));
  if (supported && compiles) {
    attn_bundle *bundle = nullptr;
    bool good = succeeded(attn_compile(&args, &bundle));
    require(good == (bundle != nullptr));
    attn_bundle_destroy(bundle);
  }
  attn_jit_clear();
  return 0;
}
