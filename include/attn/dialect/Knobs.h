// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The knobs of a schedule, as Knobs.td defines them.
#ifndef ATTN_DIALECT_KNOBS_H
#define ATTN_DIALECT_KNOBS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// The kind of a knob's values.
enum class KnobKind { Number, Power, Word, Share, Flag };

/// Where the text of a knob is: a field of #attn.config, a statement of
/// #attn.schedule, or the roles, places and bodies of the schedule.
enum class KnobHome { Config, Statement, Structure };

/// The allowed values of a knob. Words are numbered.
struct KnobDomain {
  KnobKind kind;
  int64_t least, most, step;
  llvm::StringRef text;

  bool allows(KnobValue value) const;
  /// Returns the values for messages: "a multiple of 16 in 16..256".
  std::string describe() const;
};

/// A condition: another knob has a value, or has another one (`differs`).
struct KnobCondition {
  Knob knob;
  KnobValue value;
  bool differs;

  bool holdsFor(KnobValue other) const { return (other == value) != differs; }
};

/// A record of Knobs.td, which documents the fields.
struct KnobInfo {
  uint32_t number;
  llvm::StringLiteral name;
  KnobKind kind;
  uint32_t least, most, step;
  llvm::StringLiteral described, words, usualText, meaning, conditionsText,
      neutralText, shortName;
  uint32_t shortAt;
  KnobHome home;
  uint32_t place, leastAllowed, mostAllowed, stepAllowed;
  llvm::StringLiteral describedAllowed, absentText;
  bool alwaysSaid;
  llvm::StringLiteral divides;
  bool follows;
  llvm::StringLiteral consumer, editableAt;

  Knob knob() const { return Knob(number); }
  /// The values that schedules are generated with, and those that the text may
  /// have.
  KnobDomain values() const { return {kind, least, most, step, described}; }
  KnobDomain allowed() const {
    return {kind, leastAllowed, mostAllowed, stepAllowed, describedAllowed};
  }
  KnobValue usual() const { return *read(usualText); }
  KnobValue neutral() const { return *read(neutralText); }
  KnobValue absent() const { return *read(absentText); }
  /// The conditions under which the knob has an effect.
  llvm::SmallVector<KnobCondition> conditions() const;
  /// Returns all words of its enum, by number.
  llvm::SmallVector<llvm::StringRef> listWords() const;

  /// Reads a value like "16", "first_block", "1/8" or "true".
  std::optional<KnobValue> read(llvm::StringRef text) const;
  std::string spell(KnobValue value) const;
  /// Returns the statement of a value: "knob exp2_soft 1 of 8".
  std::string state(KnobValue value) const;
};

const KnobInfo &infoOf(Knob knob);
/// Returns all knobs, by number.
llvm::ArrayRef<KnobInfo> allKnobs();

/// Checks the values of an attribute's `knobs`, and the conditions among them.
mlir::LogicalResult
verifyKnobs(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
            llvm::ArrayRef<Knob> knobs, llvm::ArrayRef<KnobValue> values);

} // namespace attn

#endif // ATTN_DIALECT_KNOBS_H
