// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scopes that instructions name, and the strong accesses that have them.

#ifndef ATTN_SIM_OPS_SCOPE_H
#define ATTN_SIM_OPS_SCOPE_H

#include "core/opcode_table.h"
#include "hazards/shadow.h"

#include <mutex>

namespace attn::sim {

/// Of an instruction that has one; nothing, .gpu and .sys are the device.
inline Scope scopeOf(const Match &match) {
  return match.has(".cta")       ? Scope::Cta
         : match.has(".cluster") ? Scope::Cluster
                                 : Scope::Device;
}

/// Returns a lock to hold during a strong access, or no lock for a weak one.
/// CTAs run on several threads: memory and what the access releases or acquires
/// must change together.
inline std::unique_lock<std::mutex> lockAccess(Scope scope) {
  static std::mutex mutex;
  return scope == Scope::None ? std::unique_lock<std::mutex>()
                              : std::unique_lock<std::mutex>(mutex);
}

} // namespace attn::sim

#endif // ATTN_SIM_OPS_SCOPE_H
