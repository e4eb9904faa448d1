// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The busy times of a unit that does one thing at a time.

#ifndef ATTN_SIM_TRACE_UNIT_SCHEDULE_H
#define ATTN_SIM_TRACE_UNIT_SCHEDULE_H

#include <cstdint>
#include <iterator>
#include <map>

namespace attn::sim {

class UnitSchedule {
public:
  /// Reserves the first free `length` steps from `earliest` on; returns the
  /// first of them. Requests may come in any order of time.
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
  /// The end of each busy span by its beginning.
  std::map<uint64_t, uint64_t> busy;
};

} // namespace attn::sim

#endif // ATTN_SIM_TRACE_UNIT_SCHEDULE_H
