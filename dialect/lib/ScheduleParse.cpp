// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the text form of #attn.schedule. Items may come in any order.
#include "attn/dialect/Knobs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

namespace {

/// Reads the names, numbers and words of a schedule's items.
class TokenReader {
public:
  explicit TokenReader(AsmParser &parser) : parser(parser) {}

  /// "'a', 'b' or 'c'"
  static std::string listWords(ArrayRef<StringRef> words);

  ParseResult parseName(StringAttr &name, StringRef what);
  ParseResult parseNames(SmallVectorImpl<StringAttr> &names, StringRef what);
  ParseResult parseCount(int64_t &count, StringRef what);
  ParseResult parseBracketed(int64_t &count, StringRef what);
  template <typename Value>
  ParseResult parseWord(Value &value,
                        function_ref<std::optional<Value>(StringRef)> symbolize,
                        StringRef what);

  MLIRContext *ctx() { return parser.getContext(); }

protected:
  AsmParser &parser;
};

/// Parses the text between the braces of a schedule, item by item.
class ScheduleParser : private TokenReader {
public:
  explicit ScheduleParser(AsmParser &parser) : TokenReader(parser) {
    for (Knob knob : StatementsAttr::getKnobs()) {
      statements.push_back(infoOf(knob).absent());
    }
  }
  Attribute parse();

private:
  ParseResult parseItem(StringRef keyword, SMLoc loc);
  ParseResult parseSplit();
  ParseResult parseRole();
  ParseResult parsePlace(bool channel);
  ParseResult parsePlaceOptions(struct PlaceOptions &options);
  ParseResult parseEdge();
  ParseResult parseScope(Scope &scope);
  ParseResult parseTurn();
  ParseResult parseSync();
  ParseResult parseKnob();
  ParseResult parseValue(const KnobInfo &knob, KnobValue &value);
  ParseResult parseBody();
  ParseResult parseEntries(SmallVectorImpl<EntryAttr> &entries);
  ParseResult parseEntry(EntryAttr &entry);

  StringAttr name, machine;
  SplitAttr split;
  SmallVector<StringAttr> remat;
  SmallVector<RoleAttr> roles;
  SmallVector<PlaceAttr> places;
  SmallVector<EdgeAttr> edges;
  SmallVector<TurnAttr> turns;
  SmallVector<SyncAttr> syncs;
  SmallVector<BodyAttr> bodies;
  SmallVector<KnobValue> statements;
};

struct PlaceOptions {
  int64_t depth = 1;
  SmallVector<int64_t> parts;
  SmallVector<StringAttr> over;
  bool cross = false;
  SmallVector<StringAttr> only;
  bool fullImplied = false, freeImplied = false;
  Granularity granularity = Granularity::Warpgroup;
  Scope scope = Scope::Cta;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

ParseResult TokenReader::parseName(StringAttr &result, StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (failed(parser.parseOptionalKeywordOrString(&text)) || text.empty()) {
    return parser.emitError(loc) << "expected the name of " << what;
  }
  result = StringAttr::get(ctx(), text);
  return success();
}

ParseResult TokenReader::parseNames(SmallVectorImpl<StringAttr> &names,
                                    StringRef what) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parseName(names.emplace_back(), what);
  });
}

ParseResult TokenReader::parseCount(int64_t &count, StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  APInt value;
  OptionalParseResult parsed = parser.parseOptionalInteger(value);
  if (!parsed.has_value()) {
    return parser.emitError(loc) << "expected " << what << " as a number";
  }
  if (failed(*parsed)) {
    return failure();
  }
  // One limit on all counts keeps later arithmetic in range.
  constexpr int64_t limit = 1 << 20;
  if (value.isNegative() || value.getActiveBits() > 21 ||
      value.getSExtValue() > limit) {
    SmallString<32> text;
    value.toStringSigned(text);
    return parser.emitError(loc)
           << "expected " << what << " in 0.." << limit << ", got " << text;
  }
  count = value.getSExtValue();
  return success();
}

ParseResult TokenReader::parseBracketed(int64_t &count, StringRef what) {
  return failure(parseCount(count, what) || parser.parseRSquare());
}

std::string TokenReader::listWords(ArrayRef<StringRef> words) {
  std::string most = llvm::join(words.drop_back(), "', '");
  return ("'" + most + (most.empty() ? "" : "' or '") + words.back() + "'")
      .str();
}

template <typename Value>
ParseResult
TokenReader::parseWord(Value &value,
                       function_ref<std::optional<Value>(StringRef)> symbolize,
                       StringRef what) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word))) {
    return parser.emitError(loc) << "expected " << what;
  }
  std::optional<Value> symbol = symbolize(word);
  if (!symbol) {
    return parser.emitError(loc)
           << "expected " << what << ", got '" << word << "'";
  }
  value = *symbol;
  return success();
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

Attribute ScheduleParser::parse() {
  SMLoc start = parser.getCurrentLocation();
  std::string text;
  if (parser.parseLess() || parser.parseString(&text) ||
      parser.parseKeyword("machine")) {
    return {};
  }
  name = StringAttr::get(ctx(), text);
  text.clear();
  if (parser.parseString(&text) || parser.parseLBrace()) {
    return {};
  }
  machine = StringAttr::get(ctx(), text);
  while (failed(parser.parseOptionalRBrace())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword))) {
      parser.emitError(loc) << "expected an item of the schedule or '}'";
      return {};
    }
    if (parseItem(keyword, loc)) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  auto emitError = [&] { return parser.emitError(start); };
  if (failed(verifyKnobs(emitError, StatementsAttr::getKnobs(), statements))) {
    return {};
  }
  return ScheduleAttr::getChecked(
      emitError, ctx(), name, machine, split, ArrayRef(remat), ArrayRef(roles),
      ArrayRef(places), ArrayRef(edges), ArrayRef(turns), ArrayRef(syncs),
      StatementsAttr::fromValues(ctx(), statements), ArrayRef(bodies));
}

ParseResult ScheduleParser::parseItem(StringRef keyword, SMLoc loc) {
  if (keyword == "split") {
    if (split) {
      return parser.emitError(loc) << "expected one 'split', got a second one";
    }
    return parseSplit();
  }
  if (keyword == "remat") {
    return parseNames(remat, "a step");
  }
  if (keyword == "role") {
    return parseRole();
  }
  if (keyword == "chan" || keyword == "hold") {
    return parsePlace(keyword == "chan");
  }
  if (keyword == "edge") {
    return parseEdge();
  }
  if (keyword == "turn") {
    return parseTurn();
  }
  if (keyword == "sync") {
    return parseSync();
  }
  if (keyword == "knob") {
    return parseKnob();
  }
  if (keyword == "body") {
    return parseBody();
  }
  return parser.emitError(loc)
         << "expected 'split', 'remat', 'role', 'chan', 'hold', 'edge', "
            "'turn', 'sync', 'knob' or 'body', got '"
         << keyword << "'";
}

ParseResult ScheduleParser::parseSplit() {
  StringAttr axis;
  int64_t count;
  SmallVector<StringAttr> whole, alsoValues, alsoAxes;
  if (parseName(axis, "an axis") ||
      parseCount(count, "a number of sub-tiles")) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("whole")) &&
      parseNames(whole, "a value")) {
    return failure();
  }
  auto parsePair = [&]() -> ParseResult {
    return failure(parseName(alsoValues.emplace_back(), "a value") ||
                   parser.parseColon() ||
                   parseName(alsoAxes.emplace_back(), "an axis"));
  };
  if (succeeded(parser.parseOptionalKeyword("also")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePair)) {
    return failure();
  }
  split = SplitAttr::get(ctx(), axis, count, whole, alsoValues, alsoAxes);
  return success();
}

ParseResult ScheduleParser::parseRole() {
  StringAttr roleName;
  int64_t replicas = 0, warps, regs;
  bool onLeader = false;
  if (parseName(roleName, "a role")) {
    return failure();
  }
  if (succeeded(parser.parseOptionalLSquare())) {
    SMLoc loc = parser.getCurrentLocation();
    if (parseBracketed(replicas, "a number of replicas")) {
      return failure();
    }
    if (replicas == 0) {
      return parser.emitError(loc) << "expected at least one replica of role '"
                                   << roleName.getValue() << "', got 0";
    }
  }
  if (parser.parseKeyword("warps") || parseCount(warps, "a number of warps") ||
      parser.parseKeyword("regs") ||
      parseCount(regs, "a number of registers")) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("on"))) {
    if (parser.parseKeyword("leader")) {
      return failure();
    }
    onLeader = true;
  }
  roles.push_back(
      RoleAttr::get(ctx(), roleName, replicas, warps, regs, onLeader));
  return success();
}

ParseResult ScheduleParser::parsePlace(bool channel) {
  StringAttr placeName;
  SmallVector<ArrayAttr> cycles;
  Space space;
  PlaceOptions options;
  if (parseName(placeName, "a place") || parser.parseEqual()) {
    return failure();
  }
  do {
    SmallVector<Attribute> values;
    do {
      StringAttr value;
      if (parseName(value, "a value")) {
        return failure();
      }
      values.push_back(value);
    } while (succeeded(parser.parseOptionalPlus()));
    cycles.push_back(ArrayAttr::get(ctx(), values));
  } while (succeeded(parser.parseOptionalVerticalBar()));
  if (parser.parseKeyword("in") ||
      parseWord<Space>(space, symbolizeEnum<Space>,
                       "'reg', 'smem' or 'tmem'") ||
      parsePlaceOptions(options)) {
    return failure();
  }
  places.push_back(PlaceAttr::get(
      ctx(), placeName, channel, cycles, space, options.depth, options.parts,
      options.over, options.cross, options.only, options.fullImplied,
      options.freeImplied, options.granularity, options.scope));
  return success();
}

ParseResult ScheduleParser::parsePlaceOptions(PlaceOptions &options) {
  if (succeeded(parser.parseOptionalKeyword("depth")) &&
      parseCount(options.depth, "a depth")) {
    return failure();
  }
  auto parsePart = [&]() -> ParseResult {
    return failure(parseCount(options.parts.emplace_back(), "a numerator") ||
                   parser.parseKeyword("of") ||
                   parseCount(options.parts.emplace_back(), "a denominator"));
  };
  if (succeeded(parser.parseOptionalKeyword("parts")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parsePart)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("over"))) {
    do {
      if (parseName(options.over.emplace_back(), "a place")) {
        return failure();
      }
    } while (succeeded(parser.parseOptionalPlus()));
    if (options.over.size() == 1 && succeeded(parser.parseOptionalLSquare())) {
      if (parser.parseKeyword("cross") || parser.parseRSquare()) {
        return failure();
      }
      options.cross = true;
    }
  }
  if (succeeded(parser.parseOptionalKeyword("for")) &&
      parseNames(options.only, "a step")) {
    return failure();
  }
  options.fullImplied = succeeded(parser.parseOptionalKeyword("full_implied"));
  options.freeImplied = succeeded(parser.parseOptionalKeyword("free_implied"));
  if (succeeded(parser.parseOptionalKeyword("gran")) &&
      parseWord<Granularity>(options.granularity, symbolizeEnum<Granularity>,
                             "'thread', 'warp' or 'wg'")) {
    return failure();
  }
  return parseScope(options.scope);
}

ParseResult ScheduleParser::parseScope(Scope &scope) {
  if (failed(parser.parseOptionalKeyword("scope"))) {
    return success();
  }
  return parseWord<Scope>(scope, symbolizeEnum<Scope>,
                          "'cta', 'cluster' or 'pair'");
}

ParseResult ScheduleParser::parseEdge() {
  StringAttr edgeName, joins;
  int64_t part = 0, credits = 0;
  if (parseName(edgeName, "an edge")) {
    return failure();
  }
  bool perSubtile = succeeded(parser.parseOptionalKeyword("split"));
  if (succeeded(parser.parseOptionalKeyword("joins")) &&
      (parseName(joins, "a channel") || parser.parseColon() ||
       parseCount(part, "a part"))) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("credits")) &&
      parseCount(credits, "a number of credits")) {
    return failure();
  }
  Scope scope = Scope::Cta;
  if (parseScope(scope)) {
    return failure();
  }
  edges.push_back(
      EdgeAttr::get(ctx(), edgeName, perSubtile, joins, part, credits, scope));
  return success();
}

ParseResult ScheduleParser::parseTurn() {
  StringAttr turnName, ring;
  if (parseName(turnName, "a turn") || parser.parseKeyword("ring") ||
      parseName(ring, "a role")) {
    return failure();
  }
  bool unprimed = succeeded(parser.parseOptionalKeyword("unprimed"));
  turns.push_back(TurnAttr::get(ctx(), turnName, ring, unprimed));
  return success();
}

ParseResult ScheduleParser::parseSync() {
  StringAttr syncName, ring;
  if (parseName(syncName, "a rendezvous") || parser.parseKeyword("ring") ||
      parseName(ring, "a role")) {
    return failure();
  }
  syncs.push_back(SyncAttr::get(ctx(), syncName, ring));
  return success();
}

ParseResult ScheduleParser::parseKnob() {
  SMLoc loc = parser.getCurrentLocation();
  ArrayRef<Knob> knobs = StatementsAttr::getKnobs();
  StringRef word;
  auto *found = knobs.end();
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    found = llvm::find_if(
        knobs, [&](Knob knob) { return stringifyKnob(knob) == word; });
  }
  if (found == knobs.end()) {
    return parser.emitError(loc)
           << "expected knob "
           << listWords(llvm::map_to_vector(knobs, stringifyKnob));
  }
  return parseValue(infoOf(*found), statements[found - knobs.begin()]);
}

ParseResult ScheduleParser::parseValue(const KnobInfo &knob, KnobValue &value) {
  if (knob.kind == KnobKind::Share) {
    return failure(parseCount(value.number, "a numerator") ||
                   parser.parseKeyword("of") ||
                   parseCount(value.denominator, "a denominator"));
  }
  if (knob.kind == KnobKind::Number || knob.kind == KnobKind::Power) {
    return parseCount(value.number, "a value of '" + knob.name.str() + "'");
  }
  SmallVector<StringRef> words = knob.kind == KnobKind::Flag
                                     ? SmallVector<StringRef>{"false", "true"}
                                     : knob.listWords();
  auto symbolize = [&](StringRef word) { return knob.read(word); };
  return parseWord<KnobValue>(value, symbolize, listWords(words));
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

ParseResult ScheduleParser::parseBody() {
  StringAttr role;
  int64_t replica = -1;
  if (parseName(role, "a role") ||
      (succeeded(parser.parseOptionalLSquare()) &&
       parseBracketed(replica, "a replica")) ||
      parser.parseLBrace()) {
    return failure();
  }
  SmallVector<EntryAttr> lists[3];
  StringLiteral words[3] = {"before", "kv", "after"};
  while (failed(parser.parseOptionalRBrace())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    auto *it = failed(parser.parseOptionalKeyword(&word))
                   ? std::end(words)
                   : llvm::find(words, word);
    if (it == std::end(words)) {
      return parser.emitError(loc)
             << "expected 'before', 'kv', 'after' or '}' in the body of role '"
             << role.getValue() << "'";
    }
    SmallVector<EntryAttr> &list = lists[it - words];
    if (!list.empty()) {
      return parser.emitError(loc) << "expected one list '" << word
                                   << "' in a body, got a second one";
    }
    if (parseEntries(list)) {
      return failure();
    }
  }
  bodies.push_back(
      BodyAttr::get(ctx(), role, replica, lists[0], lists[1], lists[2]));
  return success();
}

ParseResult ScheduleParser::parseEntries(SmallVectorImpl<EntryAttr> &entries) {
  if (parser.parseLBrace()) {
    return failure();
  }
  while (failed(parser.parseOptionalRBrace())) {
    if (parseEntry(entries.emplace_back())) {
      return failure();
    }
  }
  return success();
}

ParseResult ScheduleParser::parseEntry(EntryAttr &entry) {
  StringAttr target;
  Guard guard = Guard::Always;
  Act act = Act::Op;
  int64_t subtile = -1, part = -1, shift = 0;
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  bool named = succeeded(parser.parseOptionalKeyword(&word));
  std::optional<Guard> guardWord;
  if (named && (guardWord = symbolizeGuard(word))) {
    guard = *guardWord;
    if (parser.parseColon()) {
      return failure();
    }
    loc = parser.getCurrentLocation();
    named = succeeded(parser.parseOptionalKeyword(&word));
  }
  if (named) {
    target = StringAttr::get(ctx(), word);
  } else if (parseName(target, "a step or an action")) {
    return failure();
  }
  bool called = named && succeeded(parser.parseOptionalLParen());
  if (called) {
    std::optional<Act> symbol = symbolizeAct(word);
    if (!symbol || *symbol == Act::Op) {
      return parser.emitError(loc)
             << "expected 'await', 'get', 'put', 'sig', 'commit', 'wait', "
                "'take', 'give' or 'sync' before '(', got '"
             << word << "'";
    }
    act = *symbol;
    if (parseName(target, "what '" + word.str() + "' acts on")) {
      return failure();
    }
  }
  if (succeeded(parser.parseOptionalLSquare()) &&
      parseBracketed(subtile, "a sub-tile")) {
    return failure();
  }
  if (called && parser.parseRParen()) {
    return failure();
  }
  if (!called && succeeded(parser.parseOptionalColon()) &&
      parseCount(part, "a part")) {
    return failure();
  }
  if (succeeded(parser.parseOptionalPlus()) && parseCount(shift, "a shift")) {
    return failure();
  }
  entry = EntryAttr::get(ctx(), guard, act, target, subtile, part, shift);
  return success();
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  return ScheduleParser(parser).parse();
}
