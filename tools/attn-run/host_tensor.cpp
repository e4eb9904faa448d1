// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "host_tensor.h"

#include <cstring>

using namespace attn;
using namespace attn::run;
using runtime::DataType;

int64_t HostTensor::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  return count;
}

int64_t HostTensor::offsetOf(int64_t index) const {
  int64_t offset = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    offset += index % shape[i] * strides[i];
    index /= shape[i];
  }
  return offset;
}

void HostTensor::layOut(int64_t pad, int broadcastDim) {
  strides.assign(shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (int(i) == broadcastDim) {
      continue;
    }
    strides[i] = stride;
    stride = stride * shape[i] + pad;
  }
}

void HostTensor::allocate() {
  int64_t extent = elementCount() > 0 ? 1 : 0;
  for (size_t i = 0; i < shape.size() && extent > 0; ++i) {
    extent += (shape[i] - 1) * strides[i];
  }
  size_t storage = size_t(extent) * size_t(runtime::sizeOf(dtype));
  bytes.assign(storage + 2 * kGuardBytes, kPoison);
}

template <typename T> static void put(unsigned char *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

template <typename T> static T load(const unsigned char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

void HostTensor::set(int64_t index, double value) {
  unsigned char *to = at(index);
  switch (dtype) {
  case DataType::BF16:
    return put(to, floatToBf16(float(value)));
  case DataType::F16:
    return put(to, floatToF16(float(value)));
  case DataType::F32:
    return put(to, float(value));
  case DataType::F64:
    return put(to, value);
  case DataType::Bool:
    return put(to, uint8_t(value != 0));
  case DataType::U8:
    return put(to, uint8_t(value));
  case DataType::I8:
    return put(to, int8_t(value));
  case DataType::I16:
    return put(to, int16_t(value));
  case DataType::I32:
    return put(to, int32_t(value));
  case DataType::I64:
    return put(to, int64_t(value));
  }
}

double HostTensor::get(int64_t index) const {
  const unsigned char *from = at(index);
  switch (dtype) {
  case DataType::BF16:
    return bf16ToFloat(load<uint16_t>(from));
  case DataType::F16:
    return f16ToFloat(load<uint16_t>(from));
  case DataType::F32:
    return load<float>(from);
  case DataType::F64:
    return load<double>(from);
  case DataType::Bool:
  case DataType::U8:
    return load<uint8_t>(from);
  case DataType::I8:
    return load<int8_t>(from);
  case DataType::I16:
    return load<int16_t>(from);
  case DataType::I32:
    return load<int32_t>(from);
  case DataType::I64:
    return double(load<int64_t>(from));
  }
  return 0;
}

int64_t HostTensor::getInteger(int64_t index) const {
  // All other integers are exact as doubles.
  return dtype == DataType::I64 ? load<int64_t>(at(index))
                                : int64_t(get(index));
}

std::vector<float> HostTensor::toFloats() const {
  std::vector<float> values(static_cast<size_t>(elementCount()));
  parallelFor(elementCount(), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      values[size_t(i)] = float(get(i));
    }
  });
  return values;
}

/// "element [0, 3, 1, 7] of 'o'".
static std::string elementName(const HostTensor &tensor, int64_t index) {
  std::string text;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    text = std::to_string(index % tensor.shape[i]) +
           (text.empty() ? "" : ", ") + text;
    index /= tensor.shape[i];
  }
  return "element [" + text + "] of '" + tensor.name + "'";
}

std::string HostTensor::checkPoison() const {
  size_t width = size_t(runtime::sizeOf(dtype));
  std::vector<unsigned char> rest = bytes;
  std::vector<unsigned char> poison(width, kPoison);
  for (int64_t i = 0; i < elementCount(); ++i) {
    size_t offset = size_t(at(i) - bytes.data());
    if (std::memcmp(&bytes[offset], poison.data(), width) == 0) {
      return elementName(*this, i) + " was not written";
    }
    std::memset(&rest[offset], kPoison, width);
  }
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == kPoison) {
      continue;
    }
    int64_t byte = int64_t(i) - int64_t(kGuardBytes);
    bool inside = byte >= 0 && i < rest.size() - kGuardBytes;
    return std::string(inside ? "padding" : "guard") + " byte " +
           std::to_string(byte) + " of '" + name +
           "' was written (byte 0 is its first element)";
  }
  return "";
}
