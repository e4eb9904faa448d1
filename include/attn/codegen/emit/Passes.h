// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_EMIT_PASSES_H
#define ATTN_CODEGEN_EMIT_PASSES_H

#include "attn/codegen/emit/Losses.h"
#include "attn/dialect/Attn.h"
#include "attn/dialect/Nvx.h"
#include "attn/dialect/Tile.h"
#include "attn/dialect/Ws.h"

namespace attn::codegen {

#define GEN_PASS_DECL
#include "attn/codegen/emit/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "attn/codegen/emit/Passes.h.inc"

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_PASSES_H
