// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why the compiler refuses a kernel, in a word for programs.
#ifndef ATTN_SUPPORT_REFUSAL_H
#define ATTN_SUPPORT_REFUSAL_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

namespace attn {

/// Words beside the names of the rules for schedules ("V13").
namespace refusal {
constexpr llvm::StringLiteral spill = "spill", serialized = "serialized",
                              sharedMemory = "shared_memory", other = "other";
} // namespace refusal

/// Adds the reason to a diagnostic whose text does not begin with it. `reason`
/// outlives the diagnostic.
inline void setReason(mlir::InFlightDiagnostic &diagnostic,
                      llvm::StringRef reason) {
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(reason);
}

/// Returns the rule with which a message begins ("V9: expected ..."), or "".
inline llvm::StringRef ruleOf(llvm::StringRef message) {
  auto [rule, rest] = message.split(':');
  bool isRule = rule.size() > 1 && rule.front() == 'V' &&
                llvm::all_of(rule.drop_front(), llvm::isDigit);
  return isRule && !rest.empty() ? rule : "";
}

/// Returns the reason in a diagnostic: its metadata, the rule that it reports,
/// or "other".
inline llvm::StringRef reasonOf(mlir::Diagnostic &diagnostic) {
  auto &metadata = diagnostic.getMetadata();
  if (!metadata.empty()) {
    return metadata.front().getAsString();
  }
  for (mlir::DiagnosticArgument &part : diagnostic.getArguments()) {
    using Kind = mlir::DiagnosticArgument::DiagnosticArgumentKind;
    if (part.getKind() == Kind::String && !ruleOf(part.getAsString()).empty()) {
      return ruleOf(part.getAsString());
    }
  }
  return refusal::other;
}

} // namespace attn

#endif // ATTN_SUPPORT_REFUSAL_H
