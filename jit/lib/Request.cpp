// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Request.h"
#include "BuildId.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/runtime/internal/versioned_struct.h"
#include "attn/support/DefaultTarget.h"
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

static Status readGradients(const attn_compile_args &given,
                            std::optional<GradientRequest> &out) {
  if (given.flags & ~uint64_t(ATTN_COMPILE_ANY_ORDER)) {
    return invalidArgument("expected 'flags' to be 0 or "
                           "ATTN_COMPILE_ANY_ORDER, got " +
                           std::to_string(given.flags));
  }
  if (given.num_gradients == 0) {
    return given.flags
               ? invalidArgument("expected 'gradients' to be named beside "
                                 "ATTN_COMPILE_ANY_ORDER, got none")
               : Status();
  }
  if (!given.gradients) {
    return invalidArgument("expected 'gradients' to be " +
                           std::to_string(given.num_gradients) +
                           " names, got null");
  }
  out.emplace();
  out->anyOrder = given.flags & ATTN_COMPILE_ANY_ORDER;
  for (size_t i = 0; i < given.num_gradients; ++i) {
    if (!given.gradients[i]) {
      return invalidArgument("expected 'gradients[" + std::to_string(i) +
                             "]' to be a name, got null");
    }
    out->names.emplace_back(given.gradients[i]);
  }
  return {};
}

Status Request::read(const attn_compile_args *args, Request &out) {
  constexpr size_t first = offsetof(attn_compile_args, gradients);
  attn_compile_args given;
  if (Status status =
          runtime::readStruct(args, "attn_compile_args", first, given)) {
    return status;
  }
  if (!given.ir) {
    return invalidArgument("expected 'ir' to be a module, got null");
  }
  out.ir = readText(given.ir, given.ir_size);
  out.target = given.target ? given.target : kDefaultTarget;
  if (given.schedule) {
    out.schedule = readText(given.schedule, given.schedule_size);
  }
  if (given.instrument) {
    out.instrument = given.instrument;
  }
  if (Status status = readGradients(given, out.gradients)) {
    return status;
  }
  return checkTarget(out.target);
}

CacheKey Request::getKey(llvm::StringRef ptxas) const {
  KeyBuilder builder("attn bundle");
  builder.add(getBuildId()).add(ptxas).add(target).add(ir);
  for (const std::optional<std::string> *option : {&schedule, &instrument}) {
    builder.add(uint64_t(option->has_value())).add(option->value_or(""));
  }
  if (gradients) {
    builder.add(uint64_t(gradients->anyOrder));
    for (const std::string &name : gradients->names) {
      builder.add(name);
    }
  }
  return builder.finish();
}
