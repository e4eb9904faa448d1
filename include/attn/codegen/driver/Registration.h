// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialects, passes and pipelines of every tool.
#ifndef ATTN_CODEGEN_DRIVER_REGISTRATION_H
#define ATTN_CODEGEN_DRIVER_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace attn {

/// Adds the project's dialects and the upstream ones that its passes use.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the project's passes and pipelines, and the upstream passes that
/// are useful with them, in MLIR's global registry.
void registerPasses();

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_REGISTRATION_H
