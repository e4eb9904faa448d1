// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_TARGET_PASSES_H
#define ATTN_CODEGEN_TARGET_PASSES_H

#include "attn/dialect/Attn.h"
#include "attn/dialect/Nvx.h"
#include "attn/dialect/Tile.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

#define GEN_PASS_DECL
#include "attn/codegen/target/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "attn/codegen/target/Passes.h.inc"

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_PASSES_H
