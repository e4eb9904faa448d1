// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Request.h"
#include "BuildId.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/runtime/internal/versioned_struct.h"
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
  constexpr size_t first = sizeof(attn_compile_args);
  attn_compile_args given;
  if (Status status =
          runtime::readStruct(args, "attn_compile_args", first, given)) {
    return status;
  }
  if (!given.ir) {
    return invalidArgument("expected 'ir' to be a module, got null");
  }
  out.ir = readText(given.ir, given.ir_size);
  out.target = given.target ? given.target : "sm_90a";
  if (given.schedule) {
    out.schedule = readText(given.schedule, given.schedule_size);
  }
  if (given.instrument) {
    out.instrument = given.instrument;
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
