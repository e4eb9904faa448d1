// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section "Compiling" of the C interface, on damaged modules and schedules:
// calls return, and those that fail say why. Seeds: examples/*.mlir.

#include "attn/runtime/attn.h"

#include <cstdlib>
#include <cstring>
#include <fuzzer/FuzzedDataProvider.h>

static void require(bool good) {
  if (!good) {
    std::abort();
  }
}

/// A call's status; one that fails has a message.
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

static void setOption(FuzzedDataProvider &data) {
  static const char *const names[] = {"disable_jit", "max_compiles", "speed"};
  std::string value = data.ConsumeRandomLengthString(4);
  (void)succeeded(attn_jit_option(data.PickValueInArray(names), value.c_str()));
  require(succeeded(attn_jit_option("disable_jit", "")));
  require(succeeded(attn_jit_option("max_compiles", "")));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  // The last bytes, which say little in a module, say how.
  FuzzedDataProvider data(bytes, size);
  bool compiles = data.ConsumeIntegralInRange(0, 63) == 1;
  int spoiled = data.ConsumeIntegralInRange(0, 31);
  if (spoiled == 1) {
    setOption(data);
  }
  std::string schedule = spoiled == 2 ? data.ConsumeRandomLengthString() : "";
  std::string ir = data.ConsumeRemainingBytesAsString();
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
