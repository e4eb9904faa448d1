// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_TARGET_SM90_H
#define ATTN_CODEGEN_TARGET_SM90_H

#include "mlir/IR/DialectRegistry.h"

namespace attn::codegen {

/// Adds Hopper to the chips that passes look up (attn/dialect/Chip.h).
void registerSm90(mlir::DialectRegistry &registry);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_SM90_H
