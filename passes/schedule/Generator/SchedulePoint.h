// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters from which schedules of the forward kernel with consumer
// warpgroups are generated. A point has a value for each of them.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEPOINT_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEPOINT_H

#include "attn/dialect/Knobs.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace attn::generator {

using llvm::ArrayRef;
using llvm::StringRef;

class SchedulePoint {
public:
  /// Makes the point in which all parameters have their defaults.
  SchedulePoint();

  KnobValue &operator[](Knob knob) { return values[size_t(knob)]; }
  const KnobValue &operator[](Knob knob) const { return values[size_t(knob)]; }
  int64_t number(Knob knob) const { return (*this)[knob].number; }
  /// Returns the text of a value: "128", "over_q", "1/8".
  std::string spell(Knob knob) const {
    return infoOf(knob).spell((*this)[knob]);
  }

private:
  std::array<KnobValue, getMaxEnumValForKnob() + 1> values;
};

/// Returns all parameters: the knobs that a schedule may choose. In
/// enumerations of a space the last one varies fastest.
ArrayRef<const KnobInfo *> parameters();

/// Converts a value to the form that it has in requests and replies.
llvm::json::Value toJson(const KnobInfo &parameter, KnobValue value);

/// Makes an error from a message.
template <typename... Args>
llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Checks that the values of a point are allowed.
llvm::Error checkValues(const SchedulePoint &point);

/// Sets the parameters that `values` names.
llvm::Error setParameters(SchedulePoint &point,
                          const llvm::json::Object &values);

/// Returns the canonical point among those with the same schedule: a parameter
/// that has no effect gets a fixed value.
SchedulePoint makeCanonical(const SchedulePoint &point);

/// Returns a name that is unique among canonical points and is a valid symbol.
std::string nameOf(const SchedulePoint &point);

} // namespace attn::generator

#endif // ATTN_PASSES_SCHEDULE_SCHEDULEPOINT_H
