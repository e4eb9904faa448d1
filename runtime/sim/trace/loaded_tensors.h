// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tensors the bytes of shared memory were loaded from.

#ifndef ATTN_SIM_TRACE_LOADED_TENSORS_H
#define ATTN_SIM_TRACE_LOADED_TENSORS_H

#include <cstdint>
#include <iterator>
#include <map>
#include <string>

namespace attn::sim {

class LoadedTensors {
public:
  void add(uint64_t address, uint64_t bytes, std::string name) {
    loaded[address] = {address + bytes, std::move(name)};
  }
  /// Empty if that is not known.
  std::string nameAt(uint64_t address) const {
    auto after = loaded.upper_bound(address);
    if (after == loaded.begin() || std::prev(after)->second.end <= address) {
      return "";
    }
    return std::prev(after)->second.name;
  }

private:
  struct Load {
    uint64_t end = 0;
    std::string name;
  };

  /// The last load of each range, by its first byte.
  std::map<uint64_t, Load> loaded;
};

} // namespace attn::sim

#endif // ATTN_SIM_TRACE_LOADED_TENSORS_H
