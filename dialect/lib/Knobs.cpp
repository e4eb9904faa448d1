// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Knobs.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/Exp2Poly.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

// The table and its look-up function.
namespace attn {
using llvm::ArrayRef;
#define GET_KnobTable_DECL
#define GET_KnobTable_IMPL
#include "attn/dialect/Knobs.inc"
} // namespace attn

// Other headers have these limits too.
static constexpr const KnobInfo &degreeInfo = KnobTable[int(Knob::Exp2Degree)];
static_assert(degreeInfo.least == exp2poly::kMinDegree &&
              degreeInfo.most == exp2poly::kMaxDegree);
static_assert(KnobTable[int(Knob::PackGqa)].most == AccessMap::mostPackedHeads);

const KnobInfo &attn::infoOf(Knob knob) { return *lookUpKnob(uint32_t(knob)); }

ArrayRef<KnobInfo> attn::allKnobs() { return KnobTable; }

bool KnobDomain::allows(KnobValue value) const {
  if (kind == KnobKind::Share) {
    return value.denominator >= 1 && value.number >= 0 &&
           value.number <= value.denominator;
  }
  constexpr int64_t noBound = std::numeric_limits<int32_t>::max();
  return least <= value.number && (most == noBound || value.number <= most) &&
         (step == 0 ? llvm::isPowerOf2_64(value.number)
                    : value.number % step == 0);
}

std::string KnobDomain::describe() const {
  std::string described = text.str();
  llvm::replace(described, '`', '"');
  return described;
}

SmallVector<StringRef> KnobInfo::listWords() const {
  SmallVector<StringRef> list;
  words.split(list, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return list;
}

SmallVector<KnobCondition> KnobInfo::conditions() const {
  SmallVector<StringRef> texts;
  conditionsText.split(texts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  SmallVector<KnobCondition> conditions;
  for (StringRef text : texts) {
    auto [left, value] = text.split('=');
    bool differs = left.consume_back("!");
    Knob other = *symbolizeKnob(left);
    conditions.push_back({other, *infoOf(other).read(value), differs});
  }
  return conditions;
}

std::optional<KnobValue> KnobInfo::read(StringRef text) const {
  int64_t number = 0, denominator = 1;
  switch (kind) {
  case KnobKind::Number:
  case KnobKind::Power:
    return text.getAsInteger(10, number) ? std::nullopt
                                         : std::optional(KnobValue(number));
  case KnobKind::Word: {
    SmallVector<StringRef> list = listWords();
    auto *found = llvm::find(list, text);
    return found == list.end() ? std::nullopt
                               : std::optional(KnobValue(found - list.begin()));
  }
  case KnobKind::Share: {
    auto [left, right] = text.split('/');
    bool isWrong =
        left.getAsInteger(10, number) || right.getAsInteger(10, denominator);
    return isWrong ? std::nullopt
                   : std::optional(KnobValue(number, denominator));
  }
  case KnobKind::Flag:
    return text == "true"    ? std::optional(KnobValue(1))
           : text == "false" ? std::optional(KnobValue(0))
                             : std::nullopt;
  }
  llvm_unreachable("all kinds are above");
}

std::string KnobInfo::spell(KnobValue value) const {
  switch (kind) {
  case KnobKind::Number:
  case KnobKind::Power:
    return std::to_string(value.number);
  case KnobKind::Word:
    return listWords()[value.number].str();
  case KnobKind::Share:
    return llvm::formatv("{0}/{1}", value.number, value.denominator);
  case KnobKind::Flag:
    return value.number ? "true" : "false";
  }
  llvm_unreachable("all kinds are above");
}

std::string KnobInfo::state(KnobValue value) const {
  std::string text = "knob " + name.str() + " ";
  return kind == KnobKind::Share
             ? text + std::to_string(value.number) + " of " +
                   std::to_string(value.denominator)
             : text + spell(value);
}

static std::optional<KnobValue> valueOf(Knob knob, ArrayRef<Knob> knobs,
                                        ArrayRef<KnobValue> values) {
  auto *found = llvm::find(knobs, knob);
  return found == knobs.end() ? std::nullopt
                              : std::optional(values[found - knobs.begin()]);
}

/// Checks that a knob has its neutral value unless its conditions on other
/// knobs of the attribute hold.
static LogicalResult
verifyConditions(function_ref<InFlightDiagnostic()> emitError,
                 const KnobInfo &info, KnobValue value, ArrayRef<Knob> knobs,
                 ArrayRef<KnobValue> values) {
  for (const KnobCondition &condition : info.conditions()) {
    std::optional<KnobValue> other = valueOf(condition.knob, knobs, values);
    if (other && !condition.holdsFor(*other) && value != info.neutral()) {
      const KnobInfo &otherInfo = infoOf(condition.knob);
      return emitError() << "expected '" << info.name << "' to be "
                         << info.neutralText << " where '" << otherInfo.name
                         << "' is " << otherInfo.spell(*other) << ", got "
                         << info.spell(value);
    }
  }
  return success();
}

LogicalResult attn::verifyKnobs(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Knob> knobs,
                                ArrayRef<KnobValue> values) {
  for (auto [knob, value] : llvm::zip(knobs, values)) {
    const KnobInfo &info = infoOf(knob);
    if (!info.allowed().allows(value)) {
      return emitError() << "expected '" << info.name << "' to be "
                         << info.allowed().describe() << ", got "
                         << info.spell(value);
    }
    if (failed(verifyConditions(emitError, info, value, knobs, values))) {
      return failure();
    }
    if (!info.divides.empty()) {
      int64_t whole =
          valueOf(*symbolizeKnob(info.divides), knobs, values)->number;
      if (whole % llvm::PowerOf2Ceil(value.number) != 0) {
        return emitError() << "expected '" << info.name
                           << "', rounded up to a power of two, to divide '"
                           << info.divides << "', got " << value.number
                           << " and " << whole;
      }
    }
  }
  return success();
}
