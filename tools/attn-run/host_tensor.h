// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strided tensor between two guard bands, in host memory.

#ifndef ATTN_TOOLS_ATTN_RUN_HOST_TENSOR_H
#define ATTN_TOOLS_ATTN_RUN_HOST_TENSOR_H

#include "launch_plan.h"
#include "numbers.h"
#include "parallel.h"

#include <string>
#include <vector>

namespace attn::run {

/// The value of every byte outside the elements, and of every byte of an output
/// before it is written: in all float types a NaN that no instruction produces.
constexpr unsigned char kPoison = 0xff;
/// Bytes of guard before and after the elements.
constexpr size_t kGuardBytes = 4096;

struct HostTensor {
  std::string name;
  std::optional<runtime::Role> role;
  runtime::DataType dtype = runtime::DataType::F32;
  bool isOutput = false;
  /// Whether launches add to the elements of the output, which then begin with
  /// 0.
  bool isAccumulated = false;
  std::vector<int64_t> shape;
  /// In elements.
  std::vector<int64_t> strides;
  /// Guard, storage, guard.
  std::vector<unsigned char> bytes;

  int64_t elementCount() const;
  /// The offset in elements of element `index`, counted row major.
  int64_t offsetOf(int64_t index) const;
  unsigned char *at(int64_t index) {
    return bytes.data() + kGuardBytes +
           size_t(offsetOf(index)) * size_t(runtime::sizeOf(dtype));
  }
  const unsigned char *at(int64_t index) const {
    return const_cast<HostTensor *>(this)->at(index);
  }

  /// Sets row-major strides: packed, or with `pad` elements of padding at the
  /// end of every dim except the first. `broadcastDim`, unless -1, gets stride
  /// 0.
  void layOut(int64_t pad, int broadcastDim);
  /// Allocates `bytes`, filled with poison.
  void allocate();
  /// Stores `value`, converted to the tensor's type.
  void set(int64_t index, double value);
  double get(int64_t index) const;
  /// The element of a tensor of integers.
  int64_t getInteger(int64_t index) const;

  /// Sets every element to `value(index)`, in parallel.
  template <typename Value> void fill(const Value &value) {
    parallelFor(elementCount(), 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        set(i, value(i));
      }
    });
  }
  /// All elements as floats, row major.
  std::vector<float> toFloats() const;

  /// Returns the first fault in the bytes of an output, or "": a changed guard
  /// or padding byte, or an element that is still poison.
  std::string checkPoison() const;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_HOST_TENSOR_H
