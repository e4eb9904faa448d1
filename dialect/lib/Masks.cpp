// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Masks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

// The tables and their lookup functions.
namespace attn {
using llvm::ArrayRef;
#define GET_MaskBoundTable_DECL
#define GET_BuiltInMaskTable_DECL
#define GET_MaskBoundTable_IMPL
#define GET_BuiltInMaskTable_IMPL
#include "attn/dialect/Masks.inc"
} // namespace attn

SmallVector<MaskBound> attn::maskBounds(MaskBounds kinds) {
  SmallVector<MaskBound> bounds;
  llvm::copy_if(MaskBoundTable, std::back_inserter(bounds),
                [&](const MaskBound &bound) {
                  return bitEnumContainsAll(kinds, bound.kind());
                });
  return bounds;
}

SmallVector<MaskBound> attn::maskBounds() {
  return llvm::to_vector(llvm::ArrayRef(MaskBoundTable));
}

const BuiltInMask &attn::builtInMask(MaskKind kind) {
  return *lookUpBuiltInMask(uint32_t(kind));
}

static bool hasWord(StringRef words, StringRef wanted) {
  return llvm::is_contained(llvm::split(words, ' '), wanted);
}

LogicalResult attn::verifyBounds(MaskKind kind, MaskBounds bounds,
                                 function_ref<InFlightDiagnostic()> emitError) {
  const BuiltInMask &mask = builtInMask(kind);
  for (const MaskBound &bound : maskBounds()) {
    bool isGiven = bitEnumContainsAll(bounds, bound.kind());
    if (hasWord(mask.needed, bound.name) && !isGiven) {
      return emitError() << "expected '" << bound.name << "' beside mask '"
                         << mask.name << "', got none";
    }
    if (isGiven && !hasWord(mask.needed, bound.name) &&
        !hasWord(mask.taken, bound.name)) {
      return emitError() << "expected no '" << bound.name << "' beside mask '"
                         << mask.name << "', got one";
    }
  }
  if (mask.needsAny && bounds == MaskBounds::None) {
    return emitError() << "expected one of the bounds '"
                       << llvm::join(llvm::split(mask.taken, ' '), "', '")
                       << "' beside mask '" << mask.name << "', got none";
  }
  return success();
}
