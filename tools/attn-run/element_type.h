// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of a launch file's buffers and scalars.

#ifndef ATTN_TOOLS_ATTN_RUN_ELEMENT_TYPE_H
#define ATTN_TOOLS_ATTN_RUN_ELEMENT_TYPE_H

#include <cstdint>
#include <string>

namespace attn::run {

/// One row of the table of types; compare by address.
struct ElementType {
  const char *name;
  unsigned bytes;
  bool isFloat;
  bool isSigned;
  /// The name in .npy files; types that numpy lacks use an integer of their
  /// size.
  const char *npy;
};

/// Returns null if there is no such type.
const ElementType *findElementType(const std::string &name);
/// "'u8', 's8', ...".
std::string listElementTypes();

/// The bits of `value` in `type`: integers wrap, floats round.
uint64_t toBits(const ElementType &type, double value);
double fromBits(const ElementType &type, uint64_t bits);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_ELEMENT_TYPE_H
