// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parameters from which schedules of the forward kernel with consumer
// warpgroups are generated. A point has a value for each of them.
#ifndef ATTN_PASSES_SCHEDULE_SCHEDULEPOINT_H
#define ATTN_PASSES_SCHEDULE_SCHEDULEPOINT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <variant>

namespace attn::generator {

using llvm::ArrayRef;
using llvm::StringRef;

/// parameters() documents the fields. The values here are the defaults.
struct SchedulePoint {
  int64_t consumers = 2;
  int64_t tileN = 128;
  int64_t loadRegisters = 24;
  int64_t loaders = 1;
  int64_t kDepth = 2, vDepth = 0;
  std::string rings = "apart";
  int64_t qDepth = 1;
  std::string stageO = "own", storer = "consumers", stageP = "reg";
  int64_t cluster = 1;
  int64_t packGqa = 1;
  std::string work = "grid";
  int64_t workDepth = 2;
  int64_t lastWaveParts = 1;
  std::string order = "linear";
  int64_t sectionMib = 0;
  std::string launch = "alone", overlap = "qk_first", rescale = "after_pv";
  std::string rowMax = "first_block";
  int64_t rescaleThreshold = 8;
  std::string exp2Soft = "0/1"; // a reduced fraction
  int64_t exp2Degree = 3;
  std::string peel = "first_branch", skip = "none";
  bool turn = true;
};

/// The allowed values of a parameter.
struct Domain {
  enum Kind { Number, Power, Word, Share, Flag } kind;
  int64_t least = 0, most = 0, step = 1;
  llvm::SmallVector<StringRef> words = {};

  bool allows(const llvm::json::Value &value) const;
  /// "a multiple of 16 in 16..256", for messages and pages.
  std::string describe() const;
};

struct Parameter {
  using Field =
      std::variant<int64_t SchedulePoint::*, std::string SchedulePoint::*,
                   bool SchedulePoint::*>;

  StringRef name;
  Field field;
  Domain domain;
  StringRef meaning;

  llvm::json::Value get(const SchedulePoint &point) const;
  /// Sets an allowed value, or returns an error.
  llvm::Error set(SchedulePoint &point, const llvm::json::Value &value) const;
};

/// Returns all parameters. In enumerations of a space the last one varies
/// fastest.
ArrayRef<Parameter> parameters();

/// Makes an error from a message.
template <typename... Args>
llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

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
