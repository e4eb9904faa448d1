// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of a request about schedules, read and checked.
#ifndef ATTN_PASSES_SCHEDULE_REQUESTFIELDS_H
#define ATTN_PASSES_SCHEDULE_REQUESTFIELDS_H

#include "ScheduleWriter.h"

namespace attn::generator {

/// The fields of a request. Each is read once; a field that is left over is
/// unknown.
class Fields {
public:
  explicit Fields(llvm::json::Object object) : object(std::move(object)) {}

  bool has(StringRef name) const { return object.get(name); }
  llvm::Error take(StringRef name, std::string &value) {
    return takeAs(name, "a string", value, [](const llvm::json::Value &from) {
      auto text = from.getAsString();
      return text ? std::optional(text->str()) : std::nullopt;
    });
  }
  llvm::Error take(StringRef name, int64_t &value) {
    return takeAs(
        name, "a whole number", value,
        [](const llvm::json::Value &from) { return from.getAsInteger(); });
  }
  llvm::Error take(StringRef name, llvm::SmallVector<std::string> &values);
  llvm::Error takeHeadDims(EntryHead &head);
  /// Reads the head of an entry; the defaults are `symbol` and the usual masks.
  llvm::Error takeHead(StringRef symbol, EntryHead &head);
  /// Returns the canonical point of the field "parameters"; missing parameters
  /// have their defaults.
  llvm::Expected<SchedulePoint> takePoint();
  llvm::Error expectNoMore() const;

private:
  template <typename Value, typename Read>
  llvm::Error takeAs(StringRef name, StringRef what, Value &value, Read read);

  llvm::json::Object object;
};

} // namespace attn::generator

#endif // ATTN_PASSES_SCHEDULE_REQUESTFIELDS_H
