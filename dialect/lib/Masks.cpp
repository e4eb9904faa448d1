// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Masks.h"
#include "attn/dialect/Launch.h"
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

/// Takes the next word off the text.
static StringRef takeWord(StringRef &text) {
  text = text.ltrim();
  StringRef word = text.take_until([](char c) { return c == ' ' || c == ')'; });
  text = text.drop_front(word.size());
  return word;
}

/// Reads an expression: a number, a name, or (operator operand...).
static Attribute readExpression(const launch::Expressions &make,
                                StringRef &text) {
  text = text.ltrim();
  if (!text.consume_front("(")) {
    StringRef word = takeWord(text);
    int64_t number;
    return word.getAsInteger(10, number) ? make.name(word)
                                         : make.number(number);
  }
  LaunchOp op = *symbolizeLaunchOp(takeWord(text));
  SmallVector<Attribute> operands;
  while (!text.consume_front(")")) {
    operands.push_back(readExpression(make, text));
  }
  return make.apply(op, operands);
}

/// Sets `expression` to the one that `text` spells, if there is a text.
static void replaceBy(const launch::Expressions &make, Attribute &expression,
                      StringRef text) {
  if (!text.empty()) {
    expression = readExpression(make, text);
  }
}

SeenKeys attn::seenKeys(MLIRContext *context, MaskKind mask,
                        MaskBounds bounds) {
  launch::Expressions make(context);
  SeenKeys keys;
  if (builtInMask(mask).causal) {
    keys.last = make.name(kDiagonal);
  }
  for (const MaskBound &bound : maskBounds(bounds)) {
    replaceBy(make, keys.first, bound.first);
    replaceBy(make, keys.last, bound.last);
  }
  return keys;
}

SeeingDiagonals attn::seeingDiagonals(MLIRContext *context, MaskKind mask,
                                      MaskBounds bounds) {
  launch::Expressions make(context);
  SeeingDiagonals diagonals;
  if (builtInMask(mask).causal) {
    diagonals.first = make.name(kKey);
  }
  for (const MaskBound &bound : maskBounds(bounds)) {
    replaceBy(make, diagonals.first, bound.firstDiagonal);
    replaceBy(make, diagonals.last, bound.lastDiagonal);
  }
  return diagonals;
}
