// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why the compiler refuses a kernel, in a word for programs: metadata of its
// diagnostics.
#ifndef ATTN_SUPPORT_REFUSAL_H
#define ATTN_SUPPORT_REFUSAL_H

#include "mlir/IR/Diagnostics.h"

namespace attn {

/// Words beside the names of the rules for schedules ("V13").
namespace refusal {
constexpr llvm::StringLiteral spill = "spill", serialized = "serialized",
                              sharedMemory = "shared_memory", other = "other";
} // namespace refusal

/// Adds the reason to a diagnostic. `reason` outlives it.
inline void setReason(mlir::InFlightDiagnostic &diagnostic,
                      llvm::StringRef reason) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(reason);
}

/// Returns the reason in a diagnostic, or "other".
inline llvm::StringRef reasonOf(mlir::Diagnostic &diagnostic) {
  auto &metadata = diagnostic.getMetadata();
  return metadata.empty() ? llvm::StringRef(refusal::other)
                          : metadata.front().getAsString();
}

} // namespace attn

#endif // ATTN_SUPPORT_REFUSAL_H
