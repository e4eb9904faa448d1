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

/// A launch gives no thread more, on all chips. The machine's `highest` bounds
/// what a group of warps takes later.
constexpr int64_t kMostLaunchRegisters = 255;

/// Returns the registers of each thread when a CTA of `threads` is launched:
/// what roles share out among themselves later.
inline int64_t launchRegisters(MachineAttr machine, int64_t threads) {
  return roundDown(
      machine.getRegisters(),
      std::min(machine.getRegisterCount() / threads, kMostLaunchRegisters));
}

} // namespace attn

#endif // ATTN_DIALECT_REGISTERBUDGET_H
