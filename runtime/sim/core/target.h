// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The '.target' of a module, as far as instructions depend on it.

#ifndef ATTN_SIM_CORE_TARGET_H
#define ATTN_SIM_CORE_TARGET_H

#include "ptx/module.h"

#include <cstdint>
#include <string>

namespace attn::sim {

/// One bit each. PTX for a target up to sm_90 runs on all later chips; PTX for
/// a target with an "f" runs in its family, with an "a" only on its own chip.
enum Target : uint8_t {
  kUpToSm90 = 1 << 0,
  kSm90a = 1 << 1,
  kSm100 = 1 << 2,
  kSm100f = 1 << 3,
  kSm100a = 1 << 4,
  kSm103 = 1 << 5,
  kSm103f = 1 << 6,
  kSm103a = 1 << 7
};
using TargetSet = uint8_t;

constexpr TargetSet kEveryTarget = 0xff;
constexpr TargetSet kUpToHopper = kUpToSm90 | kSm90a;
constexpr TargetSet kBlackwell = kEveryTarget & ~kUpToHopper;
/// Features of sm_100 for its own family.
constexpr TargetSet kFamily100 = kSm100f | kSm100a | kSm103f | kSm103a;
/// Features of sm_103 for its own family.
constexpr TargetSet kFamily103 = kSm103f | kSm103a;

/// Reads a module's '.version' and '.target'. Returns "" or the error.
std::string readTarget(const ptx::Module &module, Target &target);

/// Explains why `what` is not available on `target`.
std::string notForTarget(const std::string &what, TargetSet targets,
                         Target target);

} // namespace attn::sim

#endif // ATTN_SIM_CORE_TARGET_H
