// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source of the kernels of a bundle that was made with a plan alone.

#ifndef ATTN_RUNTIME_LIB_VARIANT_SOURCE_H
#define ATTN_RUNTIME_LIB_VARIANT_SOURCE_H

#include "attn/runtime/bundle.h"
#include "attn/runtime/internal/status.h"

#include <memory>

namespace attn::runtime {

/// Compiles variants. Several threads may ask at once, for the same variant
/// too.
class VariantSource {
public:
  virtual ~VariantSource() = default;

  /// Sets `code` to a bundle with the kernels of the plan's variant `index`.
  virtual Status makeVariant(size_t index,
                             std::shared_ptr<const Bundle> &code) = 0;

  /// Sets `code` to the bundle with the kernels of all variants.
  virtual Status makeAll(std::shared_ptr<const Bundle> &code) = 0;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_VARIANT_SOURCE_H
