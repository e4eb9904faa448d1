// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SchedulePoint.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace attn;
using namespace attn::generator;
namespace json = llvm::json;
using llvm::formatv;
using llvm::SmallVector;

ArrayRef<const KnobInfo *> generator::parameters() {
  static const auto all = [] {
    SmallVector<const KnobInfo *> chosen;
    for (const KnobInfo &knob : allKnobs()) {
      if (!knob.follows) {
        chosen.push_back(&knob);
      }
    }
    return chosen;
  }();
  return all;
}

SchedulePoint::SchedulePoint() {
  for (const KnobInfo *parameter : parameters()) {
    (*this)[parameter->knob()] = parameter->usual();
  }
}

json::Value generator::toJson(const KnobInfo &parameter, KnobValue value) {
  switch (parameter.kind) {
  case KnobKind::Number:
  case KnobKind::Power:
    return value.number;
  case KnobKind::Flag:
    return value.number != 0;
  case KnobKind::Word:
  case KnobKind::Share:
    return parameter.spell(value);
  }
  llvm_unreachable("all kinds are above");
}

/// Reads a value of a request, if it has the parameter's kind.
static std::optional<KnobValue> fromJson(const KnobInfo &parameter,
                                         const json::Value &value) {
  switch (parameter.kind) {
  case KnobKind::Number:
  case KnobKind::Power: {
    std::optional<int64_t> number = value.getAsInteger();
    return number ? std::optional(KnobValue(*number)) : std::nullopt;
  }
  case KnobKind::Flag: {
    std::optional<bool> flag = value.getAsBoolean();
    return flag ? std::optional(KnobValue(*flag)) : std::nullopt;
  }
  case KnobKind::Word:
  case KnobKind::Share: {
    std::optional<StringRef> text = value.getAsString();
    return text ? parameter.read(*text) : std::nullopt;
  }
  }
  llvm_unreachable("all kinds are above");
}

static llvm::Error refuse(const KnobInfo &parameter, const json::Value &got) {
  return makeError("expected '{0}' to be {1}, got {2}", parameter.name,
                   parameter.values().describe(), got);
}

llvm::Error generator::checkValues(const SchedulePoint &point) {
  for (const KnobInfo *parameter : parameters()) {
    KnobValue value = point[parameter->knob()];
    if (!parameter->values().allows(value)) {
      return refuse(*parameter, toJson(*parameter, value));
    }
  }
  return llvm::Error::success();
}

llvm::Error generator::setParameters(SchedulePoint &point,
                                     const json::Object &values) {
  for (const auto &[key, value] : values) {
    std::optional<Knob> knob = symbolizeKnob(StringRef(key));
    if (!knob || infoOf(*knob).follows) {
      auto names = llvm::map_range(
          parameters(), [](const KnobInfo *each) { return each->name.str(); });
      return makeError("expected a parameter of {0}, got '{1}'",
                       llvm::join(names, ", "), StringRef(key));
    }
    const KnobInfo &info = infoOf(*knob);
    std::optional<KnobValue> known = fromJson(info, value);
    if (!known || !info.values().allows(*known)) {
      return refuse(info, value);
    }
    point[*knob] = *known;
  }
  return llvm::Error::success();
}

/// Reduces the shares.
static SchedulePoint reduce(SchedulePoint point) {
  for (const KnobInfo *parameter : parameters()) {
    if (parameter->kind == KnobKind::Share) {
      KnobValue &value = point[parameter->knob()];
      int64_t divisor = std::gcd(value.number, value.denominator);
      value = {value.number / divisor, value.denominator / divisor};
    }
  }
  return point;
}

SchedulePoint generator::makeCanonical(const SchedulePoint &point) {
  const SchedulePoint given = reduce(point);
  SchedulePoint canonical = given;
  if (given.number(Knob::VDepth) == 0) {
    canonical[Knob::VDepth] = given[Knob::KDepth];
  }
  for (const KnobInfo *parameter : parameters()) {
    if (!llvm::all_of(parameter->conditions(), [&](KnobCondition condition) {
          return condition.holdsFor(given[condition.knob]);
        })) {
      canonical[parameter->knob()] = parameter->neutral();
    }
  }
  return canonical;
}

std::string generator::nameOf(const SchedulePoint &point) {
  std::string name =
      formatv("w{0}_n{1}_q{2}k{3}v{4}_{5}_{6}", point.number(Knob::Consumers),
              point.number(Knob::TileN), point.number(Knob::QDepth),
              point.number(Knob::KDepth), point.number(Knob::VDepth),
              point.spell(Knob::Work),
              StringRef(point.spell(Knob::Order)).split('_').first);
  if (point.number(Knob::SectionMib)) {
    name += point.spell(Knob::SectionMib);
  }
  name += "_" + (point[Knob::RowMax] == RowMax::FirstBlock
                     ? "first"
                     : point.spell(Knob::RowMax));
  if (!point.number(Knob::Turn)) {
    name += "_free";
  }
  SmallVector<const KnobInfo *> others(parameters());
  llvm::sort(others, [](const KnobInfo *a, const KnobInfo *b) {
    return std::pair(a->shortAt, a->number) < std::pair(b->shortAt, b->number);
  });
  for (const KnobInfo *knob : others) {
    KnobValue value = point[knob->knob()];
    if (knob->shortAt == 0 || value == knob->usual()) {
      continue;
    }
    std::string spelled = knob->spell(value);
    auto [number, denominator] = StringRef(spelled).split('/');
    bool isApart = knob->kind == KnobKind::Word && !knob->shortName.empty();
    name += ("_" + knob->shortName + (isApart ? "_" : "") + number).str() +
            (denominator.empty() ? "" : "of" + denominator.str());
  }
  return name;
}
