// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a unit that does one thing at a time is busy.

#ifndef ATTN_SIM_TRACE_UNIT_SCHEDULE_H
#define ATTN_SIM_TRACE_UNIT_SCHEDULE_H

#include <cstdint>
#include <iterator>
#include <map>

namespace attn::sim {

class UnitSchedule {
public:
  /// Takes the first free `length` steps from `earliest` on; returns the first
  /// of them. Requests need not come in order of time.
  uint64_t reserve(uint64_t earliest, uint64_t length) {
    uint64_t begin = earliest;
    auto next = busy.upper_bound(earliest);
    if (next != busy.begin() && std::prev(next)->second > begin) {
      begin = std::prev(next)->second;
    }
    for (; next != busy.end() && next->first < begin + length; ++next) {
      begin = next->second;
    }
    busy[begin] = begin + length;
    return begin;
  }

private:
  /// The end of each busy span by its begin.
  std::map<uint64_t, uint64_t> busy;
};

} // namespace attn::sim

#endif // ATTN_SIM_TRACE_UNIT_SCHEDULE_H
