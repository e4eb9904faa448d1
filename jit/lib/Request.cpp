// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Request.h"
#include "BuildId.h"
#include "attn/passes/DataTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace attn;
using namespace attn::jit;
using runtime::invalidArgument;

static std::string readText(const char *text, size_t size) {
  return size ? std::string(text, size) : std::string(text);
}

static Status checkTarget(const std::string &target) {
  static const llvm::SmallVector<std::string> machines = listMachines();
  if (llvm::is_contained(machines, target)) {
    return {};
  }
  return invalidArgument("expected 'target' to be one of " +
                         llvm::join(machines, ", ") + ", got '" + target + "'");
}

Status Request::read(const attn_compile_args *args, Request &out) {
  // The first version's size.
  constexpr size_t least = sizeof(attn_compile_args);
  if (!args || args->size < least) {
    return invalidArgument(
        "expected attn_compile_args.size to be at least " +
        std::to_string(least) + ", got " +
        (args ? std::to_string(args->size) : std::string("a null struct")));
  }
  if (!args->ir) {
    return invalidArgument("expected 'ir' to be a module, got null");
  }
  out.ir = readText(args->ir, args->ir_size);
  out.target = args->target ? args->target : "sm_90a";
  if (args->schedule) {
    out.schedule = readText(args->schedule, args->schedule_size);
  }
  if (args->instrument) {
    out.instrument = args->instrument;
  }
  return checkTarget(out.target);
}

CacheKey Request::getKey(llvm::StringRef ptxas) const {
  KeyBuilder builder("attn bundle");
  builder.add(getBuildId()).add(ptxas).add(target).add(ir);
  for (const std::optional<std::string> *option : {&schedule, &instrument}) {
    builder.add(uint64_t(option->has_value())).add(option->value_or(""));
  }
  return builder.finish();
}
