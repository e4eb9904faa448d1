// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Valid text with a few pieces replaced, which gets further than random bytes.

#ifndef ATTN_RUNTIME_FUZZ_EDIT_H
#define ATTN_RUNTIME_FUZZ_EDIT_H

#include <fuzzer/FuzzedDataProvider.h>
#include <string>

namespace attn::fuzz {

/// Returns `text` with up to four pieces replaced by `words` or random
/// characters.
template <size_t n>
std::string edit(FuzzedDataProvider &data, std::string text,
                 const char *const (&words)[n]) {
  for (int i = data.ConsumeIntegralInRange(1, 4); i > 0; --i) {
    size_t at = data.ConsumeIntegralInRange<size_t>(0, text.size());
    size_t count = data.ConsumeIntegralInRange<size_t>(0, 24);
    std::string piece = data.ConsumeBool() ? data.PickValueInArray(words)
                                           : data.ConsumeRandomLengthString(12);
    text.replace(at, std::min(count, text.size() - at), piece);
  }
  return text;
}

} // namespace attn::fuzz

#endif // ATTN_RUNTIME_FUZZ_EDIT_H
