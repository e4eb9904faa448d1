// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scopes that instructions name.

#ifndef ATTN_SIM_OPS_SCOPE_H
#define ATTN_SIM_OPS_SCOPE_H

#include "core/opcode_table.h"
#include "hazards/shadow.h"

namespace attn::sim {

/// Of an instruction that has one; nothing, .gpu and .sys are the device.
inline Scope scopeOf(const Match &match) {
  return match.has(".cta")       ? Scope::Cta
         : match.has(".cluster") ? Scope::Cluster
                                 : Scope::Device;
}

} // namespace attn::sim

#endif // ATTN_SIM_OPS_SCOPE_H
