// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_KERNELS_PASSES_H
#define ATTN_PASSES_KERNELS_PASSES_H

#include "attn/dialect/Attn.h"
#include "attn/dialect/Tile.h"
#include "attn/support/DefaultTarget.h"

namespace attn {

#define GEN_PASS_DECL
#include "attn/passes/kernels/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "attn/passes/kernels/Passes.h.inc"

} // namespace attn

#endif // ATTN_PASSES_KERNELS_PASSES_H
