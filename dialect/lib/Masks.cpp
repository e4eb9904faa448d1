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

/// Reads an expression: a number, a word, or (operator operand...).
static Attribute readExpression(Builder &builder, StringRef &text) {
  text = text.ltrim();
  if (!text.consume_front("(")) {
    StringRef word =
        text.take_until([](char c) { return c == ' ' || c == ')'; });
    text = text.drop_front(word.size());
    int64_t number;
    return word.getAsInteger(10, number)
               ? Attribute(builder.getStringAttr(word))
               : builder.getI64IntegerAttr(number);
  }
  SmallVector<Attribute> list;
  while (!text.consume_front(")")) {
    list.push_back(readExpression(builder, text));
  }
  return builder.getArrayAttr(list);
}

/// Sets `expression` to the one that `text` spells, if there is a text.
static void replaceBy(Builder &builder, Attribute &expression, StringRef text) {
  if (!text.empty()) {
    expression = readExpression(builder, text);
  }
}

SeenKeys attn::seenKeys(MLIRContext *context, MaskKind mask,
                        MaskBounds bounds) {
  Builder builder(context);
  SeenKeys keys;
  if (builtInMask(mask).causal) {
    keys.last = builder.getStringAttr(kDiagonal);
  }
  for (const MaskBound &bound : maskBounds(bounds)) {
    replaceBy(builder, keys.first, bound.first);
    replaceBy(builder, keys.last, bound.last);
  }
  return keys;
}

SeeingDiagonals attn::seeingDiagonals(MLIRContext *context, MaskKind mask,
                                      MaskBounds bounds) {
  Builder builder(context);
  SeeingDiagonals diagonals;
  if (builtInMask(mask).causal) {
    diagonals.first = builder.getStringAttr(kKey);
  }
  for (const MaskBound &bound : maskBounds(bounds)) {
    replaceBy(builder, diagonals.first, bound.firstDiagonal);
    replaceBy(builder, diagonals.last, bound.lastDiagonal);
  }
  return diagonals;
}
