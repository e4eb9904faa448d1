// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer of a launch file, in host memory.

#ifndef ATTN_TOOLS_ATTN_RUN_LAUNCH_BUFFER_H
#define ATTN_TOOLS_ATTN_RUN_LAUNCH_BUFFER_H

#include "launch_file.h"

#include <cstdlib>
#include <memory>

namespace attn::run {

class LaunchBuffer {
public:
  /// Returns false with `err` set if memory is exhausted or the file is
  /// invalid.
  bool create(const BufferSpec &bufferSpec, std::string &err) {
    return createFrom(bufferSpec, bufferSpec.fill, err);
  }
  /// Like create(), with other values.
  bool createFrom(const BufferSpec &bufferSpec, const Values &values,
                  std::string &err);
  /// Resets its values.
  bool fill(std::string &err);

  uint8_t *data() { return bytes.get(); }
  const uint8_t *data() const { return bytes.get(); }
  size_t size() const { return size_t(spec->byteCount()); }
  double at(int64_t index) const;

  /// Returns the first element that is not within the tolerance of `want`, or
  /// "".
  std::string compare(const LaunchBuffer &want, double absolute,
                      double relative) const;

private:
  uint64_t bitsAt(int64_t index) const;

  struct Free {
    void operator()(uint8_t *memory) const { std::free(memory); }
  };
  const BufferSpec *spec = nullptr;
  Values values;
  std::unique_ptr<uint8_t, Free> bytes;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_LAUNCH_BUFFER_H
