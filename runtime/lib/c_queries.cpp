// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface: versions, the names of statuses, and a bundle's arguments.

#include "attn/runtime/internal/versioned_struct.h"
#include "c_handle.h"

#include <cstddef>

using namespace attn::runtime;

static_assert(ATTN_MAX_RANK == kMaxTensorRank, "one limit, two spellings");

extern "C" const char *attn_version(void) { return ATTN_VERSION; }

extern "C" int32_t attn_version_number(void) { return ATTN_VERSION_NUMBER; }

extern "C" const char *attn_status_name(attn_status status) {
  switch (status) {
#define NAME_OF(each)                                                          \
  case each:                                                                   \
    return #each;
    NAME_OF(ATTN_SUCCESS)
    NAME_OF(ATTN_INVALID_ARGUMENT)
    NAME_OF(ATTN_INVALID_BUNDLE)
    NAME_OF(ATTN_NO_DEVICE)
    NAME_OF(ATTN_DEVICE_ERROR)
    NAME_OF(ATTN_UNSUPPORTED)
    NAME_OF(ATTN_COMPILER_ERROR)
    NAME_OF(ATTN_NOT_COMPILED)
    NAME_OF(ATTN_IO_ERROR)
#undef NAME_OF
  }
  return "unknown status";
}

static DLDataType typeOf(const PlanArg &arg) {
  switch (arg.kind) {
  case ArgKind::Tensor:
    return toDLPack(arg.dtype);
  case ArgKind::F32:
    return toDLPack(DataType::F32);
  case ArgKind::I32:
    return toDLPack(DataType::I32);
  case ArgKind::I64:
    return toDLPack(DataType::I64);
  }
  return {};
}

static attn_access accessOf(const PlanArg &arg) {
  return arg.access == Access::Read    ? ATTN_ACCESS_READ
         : arg.access == Access::Write ? ATTN_ACCESS_WRITE
                                       : ATTN_ACCESS_READ_WRITE;
}

static attn_role roleOf(const PlanArg &arg) {
  if (!arg.role) {
    return ATTN_ROLE_NONE;
  }
  switch (*arg.role) {
  case Role::Query:
    return ATTN_ROLE_QUERY;
  case Role::Key:
    return ATTN_ROLE_KEY;
  case Role::Value:
    return ATTN_ROLE_VALUE;
  case Role::Scale:
    return ATTN_ROLE_SCALE;
  case Role::Bound:
    return ATTN_ROLE_BOUND;
  case Role::Capture:
    return ATTN_ROLE_CAPTURE;
  case Role::Output:
    return ATTN_ROLE_OUTPUT;
  case Role::Lse:
    return ATTN_ROLE_LSE;
  case Role::OutputGradient:
    return ATTN_ROLE_OUTPUT_GRADIENT;
  case Role::LseGradient:
    return ATTN_ROLE_LSE_GRADIENT;
  case Role::Delta:
    return ATTN_ROLE_DELTA;
  case Role::Lse2:
    return ATTN_ROLE_LSE2;
  case Role::PartialSums:
    return ATTN_ROLE_PARTIAL_SUMS;
  case Role::CaptureGradient:
    return ATTN_ROLE_CAPTURE_GRADIENT;
  case Role::QueryGradient:
    return ATTN_ROLE_QUERY_GRADIENT;
  case Role::KeyGradient:
    return ATTN_ROLE_KEY_GRADIENT;
  case Role::ValueGradient:
    return ATTN_ROLE_VALUE_GRADIENT;
  case Role::QueryGradientSums:
    return ATTN_ROLE_QUERY_GRADIENT_SUMS;
  case Role::DropoutRate:
    return ATTN_ROLE_DROPOUT_RATE;
  case Role::DropoutState:
    return ATTN_ROLE_DROPOUT_STATE;
  case Role::Sinks:
    return ATTN_ROLE_SINKS;
  case Role::Turns:
    return ATTN_ROLE_TURNS;
  case Role::SeeingQueries:
    return ATTN_ROLE_SEEING_QUERIES;
  }
  return ATTN_ROLE_NONE;
}

static attn_argument describeArgument(const LaunchPlan &plan,
                                      const PlanArg &arg) {
  attn_argument out = {};
  out.name = arg.name.c_str();
  out.kind = arg.isTensor() ? ATTN_ARGUMENT_TENSOR : ATTN_ARGUMENT_SCALAR;
  out.access = accessOf(arg);
  out.dtype = typeOf(arg);
  out.rank = int32_t(arg.dims.size());
  for (size_t i = 0; i < arg.dims.size(); ++i) {
    const PlanDim &dim = arg.dims[i];
    out.dims[i] = dim.isSymbol ? -1 : dim.value;
    out.dim_names[i] =
        dim.isSymbol ? plan.symbols.getName(int(dim.value)).c_str() : nullptr;
  }
  out.role = roleOf(arg);
  out.alignment = arg.isTensor() ? size_t(addressAlignment(arg)) : 0;
  return out;
}

extern "C" attn_status attn_bundle_argument_count(const attn_bundle *bundle,
                                                  size_t *count) {
  if (Status status = checkGiven({{"bundle", bundle}, {"count", count}})) {
    return report(status);
  }
  *count = bundle->loaded->getPlan().args.size();
  return report({});
}

extern "C" attn_status attn_bundle_argument(const attn_bundle *bundle,
                                            size_t index,
                                            attn_argument *argument) {
  if (Status status =
          checkGiven({{"bundle", bundle}, {"argument", argument}})) {
    return report(status);
  }
  const LaunchPlan &plan = bundle->loaded->getPlan();
  if (index >= plan.args.size()) {
    return report(invalidArgument("expected 'index' to be below " +
                                  std::to_string(plan.args.size()) + ", got " +
                                  std::to_string(index)));
  }
  // The fields of the first version of the struct.
  constexpr size_t first = offsetof(attn_argument, role);
  return report(writeStruct(describeArgument(plan, plan.args[index]),
                            "attn_argument", first, argument));
}
