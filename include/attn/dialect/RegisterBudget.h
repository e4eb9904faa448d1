// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers that the roles of a kernel share.
#ifndef ATTN_DIALECT_REGISTERBUDGET_H
#define ATTN_DIALECT_REGISTERBUDGET_H

#include "attn/dialect/Attn.h"

namespace attn {

/// Returns the largest multiple of the granule that is at most `count`.
inline int64_t roundDown(RegisterInfoAttr registers, int64_t count) {
  return count / registers.getGranule() * registers.getGranule();
}

/// The largest number of registers of a thread at launch, on all chips. The
/// machine's `highest` limits what a group of warps gets later.
constexpr int64_t kMostLaunchRegisters = 255;

/// Returns the registers of each thread when a CTA of `threads` threads is
/// launched, which the roles redistribute later.
inline int64_t launchRegisters(MachineAttr machine, int64_t threads) {
  return roundDown(
      machine.getRegisters(),
      std::min(machine.getRegisterCount() / threads, kMostLaunchRegisters));
}

} // namespace attn

#endif // ATTN_DIALECT_REGISTERBUDGET_H
