// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of launch plans and their enums, generated from
// include/attn/dialect/PlanWords.td.

#ifndef ATTN_RUNTIME_LIB_PLAN_WORDS_H
#define ATTN_RUNTIME_LIB_PLAN_WORDS_H

#include <array>
#include <iterator>

namespace attn::runtime {

/// A word, and its number in the enum.
struct PlanWord {
  unsigned number;
  const char *word;
};

/// The word of a role, and whether several arguments may have it.
struct RoleWord {
  unsigned number;
  const char *word;
  bool mayRepeat;
};

namespace plan_words {
using Attn_KindWord = PlanWord;
using Attn_RoleWord = RoleWord;
using Attn_LayoutWord = PlanWord;
using Attn_ErrorBoundWord = PlanWord;
using Attn_GradientErrorBoundWord = PlanWord;
#define GET_KindWordTable_IMPL
#define GET_RoleWordTable_IMPL
#define GET_LayoutWordTable_IMPL
#define GET_ErrorBoundTable_IMPL
#define GET_GradientErrorBoundTable_IMPL
#include "plan_words.inc"
} // namespace plan_words

// Enums of the same namespace must not share names.
namespace kinds {
#define GET_PlanKind_DECL
#include "plan_words.inc"
} // namespace kinds
namespace roles {
#define GET_PlanRole_DECL
#include "plan_words.inc"
} // namespace roles
namespace layouts {
#define GET_PlanLayout_DECL
#include "plan_words.inc"
} // namespace layouts

/// The computation of a kernel.
using Kind = kinds::PlanKind;
/// What an argument is to the computation. Launching does not read it.
using Role = roles::PlanRole;
/// The order of the dims of Q, K, V and O.
using Layout = layouts::PlanLayout;

inline const char *nameOf(Kind kind) {
  return plan_words::KindWordTable[kind].word;
}
inline const char *nameOf(Role role) {
  return plan_words::RoleWordTable[role].word;
}

/// Bounds on the errors of O and LSE (docs/launch-plan.md):
/// `numerics[PlanNumerics::Flush]`. Tools use them; launches do not.
struct PlanNumerics
    : std::array<double, std::size(plan_words::ErrorBoundTable)> {
#define GET_ErrorBound_DECL
#include "plan_words.inc"
  PlanNumerics() { fill(0); }
  double &operator[](ErrorBound bound) { return at(bound); }
  double operator[](ErrorBound bound) const { return at(bound); }
};

/// Bounds on the errors of gradients, and of the statistics of rows
/// (docs/launch-plan.md).
struct PlanGradientNumerics
    : std::array<double, std::size(plan_words::GradientErrorBoundTable)> {
#define GET_GradientErrorBound_DECL
#include "plan_words.inc"
  PlanGradientNumerics() { fill(0); }
  double &operator[](GradientErrorBound bound) { return at(bound); }
  double operator[](GradientErrorBound bound) const { return at(bound); }
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_PLAN_WORDS_H
