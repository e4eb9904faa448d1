// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The section "Compiling" of the C interface: argument checks, and statuses
// instead of errors.
#include "BuildId.h"
#include "Compilation.h"
#include "ForPython.h"
#include "Jit.h"
#include "attn/codegen/emit/GiveUp.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/runtime/internal/for_compiler.h"
#include "attn/runtime/internal/versioned_struct.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <cstring>

using namespace attn;
using namespace attn::jit;
using runtime::invalidArgument;

/// Hands `status` to the caller.
static attn_status report(const Status &status) {
  return attn_internal_report(status.getCode(), status.getMessage().c_str());
}

/// Reads the caller's request, and checks that the loaded runtime has the same
/// version.
static Status readRequest(const attn_compile_args *args, Request &request) {
  if (std::strcmp(attn_version(), ATTN_VERSION) != 0) {
    return {ATTN_COMPILER_ERROR,
            std::string("expected libattn_runtime.so to be version ") +
                ATTN_VERSION + " as libattn_jit.so is, got " + attn_version()};
  }
  return Request::read(args, request);
}

extern "C" attn_status attn_compile(const attn_compile_args *args,
                                    attn_bundle **bundle) {
  if (!bundle) {
    return report(invalidArgument("expected 'bundle' to be given, got null"));
  }
  *bundle = nullptr;
  Request request;
  if (Status status = readRequest(args, request)) {
    return report(status);
  }
  return report(Jit::get().compile(request, *bundle));
}

extern "C" attn_status
attn_internal_compile_ahead(const attn_compile_args *args,
                            attn_bundle **bundle) {
  codegen::CompilesAhead ahead;
  return attn_compile(args, bundle);
}

extern "C" void attn_internal_give_up_ahead(void) { codegen::giveUpAhead(); }

extern "C" attn_status attn_supports(const attn_compile_args *args) {
  Request request;
  if (Status status = readRequest(args, request)) {
    return report(status);
  }
  return report(Jit::get().supports(request));
}

extern "C" attn_status attn_explain(const attn_compile_args *args,
                                    const char **text) {
  static thread_local std::string decisions;
  if (!text) {
    return report(invalidArgument("expected 'text' to be given, got null"));
  }
  *text = nullptr;
  Request request;
  if (Status status = readRequest(args, request)) {
    return report(status);
  }
  if (Status status = explainRequest(request, decisions)) {
    return report(status);
  }
  *text = decisions.c_str();
  return report({});
}

/// Compiles one item of a list with all of its variants, only to fill the
/// caches.
static Status precompile(const attn_compile_args *args) {
  Request request;
  if (Status status = readRequest(args, request)) {
    return status;
  }
  attn_bundle *bundle = nullptr;
  Status status = Jit::get().compile(request, bundle);
  if (!status) {
    size_t size = 0; // of the whole bundle
    attn_status code = attn_bundle_serialize(bundle, nullptr, 0, &size);
    status = code == ATTN_SUCCESS ? Status() : Status(code, attn_last_error());
  }
  attn_bundle_destroy(bundle);
  return status;
}

extern "C" attn_status attn_precompile(const attn_compile_args *const *list,
                                       size_t count, size_t threads,
                                       attn_status *statuses) {
  constexpr size_t most = 1 << 20;
  if (count > most) {
    return report(invalidArgument("expected 'count' to be at most " +
                                  std::to_string(most) + ", got " +
                                  std::to_string(count)));
  }
  if (count > 0 && !list) {
    return report(invalidArgument("expected 'list' to be given since 'count' "
                                  "is " +
                                  std::to_string(count) + ", got null"));
  }
  std::vector<Status> results(count);
  {
    unsigned useful = unsigned(std::min(threads, count));
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(useful));
    for (size_t i = 0; i < count; ++i) {
      pool.async([&, i] { results[i] = precompile(list[i]); });
    }
    pool.wait();
  }
  Status first;
  for (size_t i = 0; i < count; ++i) {
    if (statuses) {
      statuses[i] = results[i].getCode();
    }
    if (results[i] && !first) {
      first = {results[i].getCode(),
               "item " + std::to_string(i) + ": " + results[i].getMessage()};
    }
  }
  return report(first);
}

extern "C" attn_status attn_cache_key(const attn_compile_args *args,
                                      char key[65]) {
  if (!key) {
    return report(invalidArgument("expected 'key' to be given, got null"));
  }
  Request request;
  CacheKey value;
  if (Status status = readRequest(args, request)) {
    return report(status);
  }
  if (Status status = Jit::get().getKey(request, value)) {
    return report(status);
  }
  std::strcpy(key, value.toHex().c_str());
  return report({});
}

extern "C" attn_status attn_jit_count(attn_jit_counters *counters) {
  constexpr size_t first = sizeof(attn_jit_counters);
  return report(runtime::writeStruct(Jit::get().count(), "attn_jit_counters",
                                     first, counters));
}

extern "C" attn_status attn_jit_option(const char *name, const char *value) {
  if (!name || !value) {
    return report(invalidArgument("expected '" +
                                  std::string(name ? "value" : "name") +
                                  "' to be given, got null"));
  }
  return report(Jit::get().setOption(name, value));
}

extern "C" void attn_jit_clear(void) { Jit::get().clear(); }

extern "C" const char *attn_target_name(size_t index) {
  static const llvm::SmallVector<std::string> names = listMachines();
  return index < names.size() ? names[index].c_str() : nullptr;
}

extern "C" const char *attn_compiler_build(void) {
  return getBuildId().c_str();
}
