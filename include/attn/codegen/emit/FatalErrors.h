// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns LLVM's fatal errors, which end the process, into a return value.
#ifndef ATTN_CODEGEN_EMIT_FATALERRORS_H
#define ATTN_CODEGEN_EMIT_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace attn::codegen {

/// Runs `body`; returns the message of a fatal error, if one occurred. In that
/// case the data that `body` built is in an undefined state, and must be
/// neither used nor freed.
std::optional<std::string> catchFatalError(llvm::function_ref<void()> body);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_FATALERRORS_H
