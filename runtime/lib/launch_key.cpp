// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch_key.h"

#include <cstring>

using namespace attn::runtime;

template <typename T> static uint64_t bitsOf(const T &value) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

bool LaunchKey::add(uint64_t word) {
  if (count == kMostWords) {
    return false;
  }
  words[count++] = word;
  return true;
}

/// Packs eight characters into a word; the last word has a zero byte.
bool LaunchKey::addName(const char *const *names, size_t index) {
  const char *at = names ? names[index] : "";
  uint64_t word = 0;
  for (int shift = 0; at && *at; ++at) {
    word |= uint64_t(static_cast<unsigned char>(*at)) << shift;
    shift = (shift + 8) % 64;
    if (shift == 0) {
      if (!add(word)) {
        return false;
      }
      word = 0;
    }
  }
  return at && add(word);
}

bool LaunchKey::addTensor(const DLTensor *tensor) {
  if (!tensor || tensor->ndim < 0 || tensor->ndim > kMaxTensorRank ||
      !tensor->shape) {
    return false;
  }
  uint64_t form = bitsOf(tensor->dtype) << 32 | uint64_t(tensor->ndim) << 1 |
                  uint64_t(tensor->strides != nullptr);
  bool fits = add(form) && add(bitsOf(tensor->device));
  for (int i = 0; i < tensor->ndim; ++i) {
    fits = fits && add(uint64_t(tensor->shape[i])) &&
           (!tensor->strides || add(uint64_t(tensor->strides[i])));
  }
  return fits;
}

bool LaunchKey::read(uint64_t bundle, const Device &device,
                     const attn_launch_args &args) {
  count = 0;
  if ((args.num_tensors && !args.tensors) ||
      (args.num_scalars && !args.scalars)) {
    return false;
  }
  uint64_t named = uint64_t(args.tensor_names != nullptr) << 1 |
                   uint64_t(args.scalar_names != nullptr);
  bool fits = add(bundle) && add(bitsOf(&device)) && add(bitsOf(args.device)) &&
              add(args.num_tensors) && add(args.num_scalars) && add(named);
  for (size_t i = 0; fits && i < args.num_tensors; ++i) {
    fits = addName(args.tensor_names, i) && addTensor(args.tensors[i]);
  }
  for (size_t i = 0; fits && i < args.num_scalars; ++i) {
    fits = addName(args.scalar_names, i) && add(bitsOf(args.scalars[i]));
  }
  return fits;
}

uint64_t LaunchKey::getHash() const {
  // Independent products, of words that are distinguished by their index. Small
  // integers as doubles differ only in their highest bits.
  uint64_t hash = 0;
  for (int i = 0; i < count; ++i) {
    hash ^= (words[i] + uint64_t(i)) * 0x9e3779b97f4a7c15U;
  }
  return hash;
}
