// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The location of an error in PTX text, and its description.

#ifndef ATTN_SIM_PTX_DIAGNOSTIC_H
#define ATTN_SIM_PTX_DIAGNOSTIC_H

#include <cstdint>
#include <string>

namespace attn::sim {

/// A place in PTX text; both count from 1.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Diagnostic {
  Position at;
  std::string message;

  /// Stores an error, unless there is one. Returns false.
  bool fail(Position where, const std::string &text) {
    if (message.empty()) {
      at = where;
      message = text;
    }
    return false;
  }

  /// "12:5: expected ';', got '}'"; without a place, the message alone.
  std::string text() const {
    return at.line == 0 ? message
                        : std::to_string(at.line) + ":" +
                              std::to_string(at.column) + ": " + message;
  }
};

} // namespace attn::sim

#endif // ATTN_SIM_PTX_DIAGNOSTIC_H
