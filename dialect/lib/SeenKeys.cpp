// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys that a query sees under a mask, and the queries that see a key, as
// expressions of launch plans.
#include "attn/dialect/Launch.h"
#include "attn/dialect/Masks.h"

using namespace mlir;
using namespace attn;

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

/// Narrows a range by all bounds, whose sides are the texts `first` and `last`.
static OpenRange narrow(OpenRange range, MLIRContext *context,
                        MaskBounds bounds, StringLiteral MaskBound::*first,
                        StringLiteral MaskBound::*last) {
  launch::Expressions make(context);
  for (const MaskBound &bound : maskBounds(bounds)) {
    replaceBy(make, range.first, bound.*first);
    replaceBy(make, range.last, bound.*last);
  }
  return range;
}

OpenRange attn::seenKeys(MLIRContext *context, MaskKind mask,
                         MaskBounds bounds) {
  OpenRange keys;
  if (builtInMask(mask).causal) {
    keys.last = launch::Expressions(context).name(kDiagonal);
  }
  return narrow(keys, context, bounds, &MaskBound::first, &MaskBound::last);
}

OpenRange attn::seeingDiagonals(MLIRContext *context, MaskKind mask,
                                MaskBounds bounds) {
  OpenRange diagonals;
  if (builtInMask(mask).causal) {
    diagonals.first = launch::Expressions(context).name(kKey);
  }
  return narrow(diagonals, context, bounds, &MaskBound::firstDiagonal,
                &MaskBound::lastDiagonal);
}
