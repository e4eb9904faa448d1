// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SchedulePoint.h"
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/ConfigLimits.h"
#include <numeric>

using namespace attn;
using namespace attn::generator;
namespace json = llvm::json;
using llvm::formatv;

static Domain number(int64_t least, int64_t most, int64_t step = 1) {
  return {Domain::Number, least, most, step};
}

static Domain word(std::initializer_list<StringRef> words) {
  return {Domain::Word, 0, 0, 1, words};
}

/// Returns the words of an enum of the dialect from `first` to `last`.
template <typename Enum>
static Domain wordsOf(StringRef (*stringify)(Enum), Enum first, Enum last) {
  Domain domain{Domain::Word};
  for (auto each = uint32_t(first); each <= uint32_t(last); ++each) {
    domain.words.push_back(stringify(Enum(each)));
  }
  return domain;
}

/// Parses a fraction in 0..1.
static std::optional<std::pair<int64_t, int64_t>> parseShare(StringRef text) {
  auto [left, right] = text.split('/');
  int64_t numerator, denominator;
  if (left.getAsInteger(10, numerator) || right.getAsInteger(10, denominator) ||
      numerator < 0 || denominator < 1 || numerator > denominator) {
    return std::nullopt;
  }
  return std::pair(numerator, denominator);
}

bool Domain::allows(const json::Value &value) const {
  if (kind == Flag) {
    return value.getAsBoolean().has_value();
  }
  if (kind == Word || kind == Share) {
    std::optional<StringRef> text = value.getAsString();
    return text && (kind == Word ? llvm::is_contained(words, *text)
                                 : parseShare(*text).has_value());
  }
  std::optional<int64_t> number = value.getAsInteger();
  return number && least <= *number && *number <= most &&
         (kind == Power ? llvm::isPowerOf2_64(*number) : *number % step == 0);
}

std::string Domain::describe() const {
  switch (kind) {
  case Number:
    if (step == 1) {
      return formatv("a whole number in {0}..{1}", least, most);
    }
    return formatv("a multiple of {0} in {1}..{2}", step, least, most);
  case Power:
    return formatv("a power of two up to {0}", most);
  case Word:
    return '"' + llvm::join(words, "\" or \"") + '"';
  case Share:
    return "a share as \"1/8\"";
  case Flag:
    return "true or false";
  }
  llvm_unreachable("all kinds are above");
}

json::Value Parameter::get(const SchedulePoint &point) const {
  return std::visit([&](auto member) { return json::Value(point.*member); },
                    field);
}

llvm::Error Parameter::set(SchedulePoint &point,
                           const json::Value &value) const {
  if (!domain.allows(value)) {
    return makeError("expected '{0}' to be {1}, got {2}", name,
                     domain.describe(), value);
  }
  if (auto *member = std::get_if<int64_t SchedulePoint::*>(&field)) {
    point.**member = *value.getAsInteger();
  } else if (auto *member = std::get_if<bool SchedulePoint::*>(&field)) {
    point.**member = *value.getAsBoolean();
  } else {
    point.*std::get<std::string SchedulePoint::*>(field) =
        value.getAsString()->str();
  }
  return llvm::Error::success();
}

ArrayRef<Parameter> generator::parameters() {
  using P = SchedulePoint;
  static const Parameter all[] = {
      {"consumers", &P::consumers, number(1, 7),
       "warpgroups that compute, each on 64 rows of Q"},
      {"tile_n", &P::tileN, number(16, 256, 16), "keys of a block"},
      {"load_registers", &P::loadRegisters, number(24, 256, 8),
       "registers a thread that the loader has at least; the consumers share "
       "the rest"},
      {"loaders", &P::loaders, number(1, 2),
       "warps that load: one for all, or another for V"},
      {"k_depth", &P::kDepth, number(1, 16), "blocks of K in flight"},
      {"v_depth", &P::vDepth, number(0, 16),
       "blocks of V in flight, 0: as many as of K"},
      {"rings", &P::rings, word({"apart", "one"}),
       "K and V in rings of their own, or in one of as many blocks as both "
       "would have"},
      {"q_depth", &P::qDepth, number(1, 4), "tiles of Q in flight"},
      {"stage_o", &P::stageO, word({"own", "over_q", "over_v"}),
       "where O waits to be stored: in memory of its own, or in that of Q or "
       "V"},
      {"storer", &P::storer, word({"consumers", "warp"}),
       "who has O stored, and waits until it may be overwritten: the "
       "consumers, or a warp of its own"},
      {"stage_p", &P::stageP, wordsOf(stringifySpace, Space::Reg, Space::Smem),
       "where PV finds P: in registers or in shared memory"},
      {"cluster", &P::cluster, number(1, kMostCluster),
       "CTAs that load each block of K and V once"},
      {"pack_gqa",
       &P::packGqa,
       {Domain::Power, 1, AccessMap::mostPackedHeads},
       "query heads of one head of K and V in a tile, for launches of that "
       "group alone"},
      {"work", &P::work,
       wordsOf(stringifyWorkKind, WorkKind::Grid, WorkKind::Dynamic),
       "one CTA an item, items counted out, or handed out"},
      {"work_depth", &P::workDepth, number(1, 4),
       "items in flight, with work dynamic"},
      {"last_wave_parts", &P::lastWaveParts, number(1, kMostLastWaveParts),
       "parts of an item of the last wave at most, cut along the keys; with "
       "work dynamic, without clusters"},
      {"order", &P::order,
       wordsOf(stringifyWorkOrder, WorkOrder::Linear, WorkOrder::LongestFirst),
       "of the items"},
      {"section_mib", &P::sectionMib, number(0, kMostSectionMib),
       "K and V that a section of heads takes, with order longest_first; 0: "
       "one section"},
      {"launch", &P::launch,
       wordsOf(stringifyLaunch, Launch::Alone, Launch::Dependent),
       "whether CTAs start when the launch before has ended, or while it ends"},
      {"overlap", &P::overlap, word({"qk_first", "pv_first", "none"}),
       "which is issued first, QK of a block or PV of the one before; none: PV "
       "of a block comes before QK of the next"},
      {"rescale", &P::rescale, word({"after_pv", "before_pv"}),
       "when O is rescaled: once PV of the block before has ended, or before "
       "the next is issued"},
      {"row_max", &P::rowMax,
       wordsOf(stringifyRowMax, RowMax::Running, RowMax::Integer),
       "what exponentials are taken relative to"},
      {"rescale_threshold", &P::rescaleThreshold,
       number(0, kMostRescaleThreshold),
       "log2 of how far the row maximum may grow before O is rescaled"},
      {"exp2_soft",
       &P::exp2Soft,
       {Domain::Share},
       "share of the exponentials that polynomials compute"},
      {"exp2_degree", &P::exp2Degree, number(kLeastExp2Degree, kMostExp2Degree),
       "of these polynomials"},
      // `none` has no lowering.
      {"peel", &P::peel, wordsOf(stringifyPeel, Peel::First, Peel::FirstBranch),
       "what masks: all blocks, those of loops of their own, or a branch in "
       "each (in the first only where it seldom is masked)"},
      {"skip", &P::skip, wordsOf(stringifySkip, Skip::None, Skip::Right),
       "which blocks a consumer leaves out: those right of its own rows, where "
       "masked"},
      {"turn",
       &P::turn,
       {Domain::Flag},
       "whether consumers take turns on the tensor core"},
  };
  return all;
}

static const Parameter *findParameter(StringRef name) {
  auto *found = llvm::find_if(parameters(), [&](const Parameter &parameter) {
    return parameter.name == name;
  });
  return found == parameters().end() ? nullptr : found;
}

llvm::Error generator::setParameters(SchedulePoint &point,
                                     const json::Object &values) {
  for (const auto &[name, value] : values) {
    const Parameter *parameter = findParameter(StringRef(name));
    if (!parameter) {
      auto names = llvm::map_range(
          parameters(), [](const Parameter &each) { return each.name.str(); });
      return makeError("expected a parameter of {0}, got '{1}'",
                       llvm::join(names, ", "), StringRef(name));
    }
    if (llvm::Error error = parameter->set(point, value)) {
      return error;
    }
  }
  return llvm::Error::success();
}

SchedulePoint generator::makeCanonical(const SchedulePoint &given) {
  const SchedulePoint defaults;
  SchedulePoint point = given;
  if (point.vDepth == 0) {
    point.vDepth = point.kDepth;
  }
  auto [numerator, denominator] = *parseShare(point.exp2Soft);
  int64_t divisor = std::gcd(numerator, denominator);
  point.exp2Soft =
      formatv("{0}/{1}", numerator / divisor, denominator / divisor);

  WorkKind work = *symbolizeWorkKind(given.work);
  if (work != WorkKind::Dynamic) {
    point.workDepth = defaults.workDepth;
  }
  if (!mayRunAgain(work)) {
    point.rowMax = stringifyRowMax(RowMax::Running);
  }
  if (!mayCutLastWave(work, given.cluster)) {
    point.lastWaveParts = 1;
  }
  if (given.stageO == "over_v" || given.skip == "right") {
    point.rings = "apart";
  }
  if (!mayHaveSections(*symbolizeWorkOrder(given.order))) {
    point.sectionMib = 0;
  }
  if (given.consumers == 1 || given.overlap == "none") {
    point.turn = false;
  }
  if (!maySkipBlocks(given.consumers)) {
    point.skip = stringifySkip(Skip::None);
  }
  if (given.overlap == "none") {
    point.rescale = "after_pv";
  }
  if (numerator == 0) {
    point.exp2Degree = defaults.exp2Degree;
  }
  return point;
}

namespace {
/// The spelling of a parameter in a name if it does not have its default.
struct ShortName {
  StringRef parameter, text;
};
} // namespace

static const ShortName shortNames[] = {
    {"rings", "ring_"},      {"loaders", "loaders"},
    {"stage_o", "o_"},       {"storer", "storer_"},
    {"stage_p", "p_"},       {"cluster", "cluster"},
    {"pack_gqa", "pack"},    {"last_wave_parts", "parts"},
    {"launch", ""},          {"overlap", "overlap_"},
    {"rescale", "rescale_"}, {"rescale_threshold", "threshold"},
    {"exp2_soft", "soft"},   {"exp2_degree", "degree"},
    {"peel", "peel_"},       {"skip", "skip_"},
    {"work_depth", "items"}, {"load_registers", "load"},
};

std::string generator::nameOf(const SchedulePoint &point) {
  std::string name =
      formatv("w{0}_n{1}_q{2}k{3}v{4}_{5}_{6}", point.consumers, point.tileN,
              point.qDepth, point.kDepth, point.vDepth, point.work,
              point.order == "linear" ? "linear" : "longest");
  if (point.sectionMib) {
    name += std::to_string(point.sectionMib);
  }
  name += "_" + (point.rowMax == "first_block" ? "first" : point.rowMax);
  if (!point.turn) {
    name += "_free";
  }
  for (auto [parameter, text] : shortNames) {
    const Parameter *found = findParameter(parameter);
    json::Value value = found->get(point);
    if (value == found->get(SchedulePoint())) {
      continue;
    }
    std::string spelled = value.getAsString() ? value.getAsString()->str()
                                              : formatv("{0}", value).str();
    auto [numerator, denominator] = StringRef(spelled).split('/');
    name += ("_" + text + numerator).str() +
            (denominator.empty() ? "" : "of" + denominator.str());
  }
  return name;
}
