// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes regions as lists of words. attn-run defines their meaning
// (tools/attn-run/region_ops.cpp).
#include "attn/dialect/RegionProgram.h"
#include "attn/dialect/ScoreOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

namespace {

class ProgramWriter {
public:
  explicit ProgramWriter(MLIRContext *context) : builder(context) {}

  /// `positions` are the names of the arguments before the captures.
  ArrayAttr write(Region &region, ArrayRef<StringRef> positions,
                  ArrayRef<std::string> captureNames);

private:
  ArrayAttr describe(Operation &op);
  ArrayAttr words(ArrayRef<std::string> texts) {
    SmallVector<StringRef> refs(texts.begin(), texts.end());
    return builder.getStrArrayAttr(refs);
  }

  Builder builder;
  DenseMap<Value, std::string> names;
};

} // namespace

bool attn::mayApproximate(Operation &op) {
  auto tanh = dyn_cast<math::TanhOp>(op);
  return tanh && arith::bitEnumContainsAll(tanh.getFastmath(),
                                           arith::FastMathFlags::afn);
}

static std::string spellType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Writes floats by their bits: no digit is lost, and infinities have a
/// spelling.
static std::string spellConstant(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    SmallString<20> digits;
    number.getValue().bitcastToAPInt().toStringUnsigned(digits, 16);
    return ("0x" + digits).str();
  }
  return std::to_string(cast<IntegerAttr>(value).getValue().getSExtValue());
}

/// Returns the op's name, with the attributes that change its meaning.
static std::string spellName(Operation &op) {
  std::string name = op.getName().stripDialect().str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return (Twine(name) + "." + stringifyEnum(compare.getPredicate())).str();
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    return (Twine(name) + "." + stringifyEnum(compare.getPredicate())).str();
  }
  return mayApproximate(op) ? name + ".afn" : name;
}

ArrayAttr ProgramWriter::describe(Operation &op) {
  Value result = op.getResult(0);
  SmallVector<std::string> texts{spellType(result.getType()), spellName(op)};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    texts.push_back(spellConstant(constant.getValue()));
  }
  for (Value operand : op.getOperands()) {
    texts.push_back(names.at(operand));
  }
  return words(texts);
}

ArrayAttr ProgramWriter::write(Region &region, ArrayRef<StringRef> positions,
                               ArrayRef<std::string> captureNames) {
  Block &block = region.front();
  for (auto [number, argument] : llvm::enumerate(block.getArguments())) {
    names[argument] = number < positions.size()
                          ? positions[number].str()
                          : "@" + captureNames[number - positions.size()];
  }
  SmallVector<Attribute> lines;
  for (Operation &op : block.without_terminator()) {
    names[op.getResult(0)] = "%" + std::to_string(lines.size());
    lines.push_back(describe(op));
  }
  Value result = block.getTerminator()->getOperand(0);
  lines.push_back(
      words({spellType(result.getType()), "yield", names.at(result)}));
  return builder.getArrayAttr(lines);
}

template <typename Op>
static DictionaryAttr describe(Op attention,
                               ArrayRef<std::string> captureNames) {
  const StringRef positions[] = {"s", "b", "h", "i", "j"};
  ArrayRef<StringRef> all(positions);
  NamedAttrList programs;
  auto add = [&](StringRef name, Region &region, ArrayRef<StringRef> leading) {
    if (!region.empty()) {
      programs.append(name, ProgramWriter(attention.getContext())
                                .write(region, leading, captureNames));
    }
  };
  add("score", attention.getScoreRegion(), all);
  if (Attribute users = attention->getAttr(kUserMaskAttr)) {
    programs.append("mask", users);
  } else {
    add("mask", attention.getMaskRegion(), all.drop_front());
  }
  return programs.empty() ? DictionaryAttr()
                          : programs.getDictionary(attention.getContext());
}

DictionaryAttr attn::describeRegions(AttentionOp attention,
                                     ArrayRef<std::string> captureNames) {
  return describe(attention, captureNames);
}

DictionaryAttr attn::describeRegions(AttentionBwdOp attention,
                                     ArrayRef<std::string> captureNames) {
  return describe(attention, captureNames);
}

//===----------------------------------------------------------------------===//
// Programs that others wrote.
//===----------------------------------------------------------------------===//

/// Whether a word is a value before op number `line`: a position, a capture or
/// the result of an op.
static bool isValueBefore(StringRef word, size_t line) {
  if (word.consume_front("@")) {
    return !word.empty();
  }
  if (word.consume_front("%")) {
    size_t number;
    return !word.getAsInteger(10, number) && number < line;
  }
  return llvm::is_contained({"b", "h", "i", "j"}, word);
}

static bool isNameOfOp(StringRef name) {
  if (name == "constant" || name == "extract") {
    return true;
  }
  StringRef op = name.split('.').first;
  return lookUpScoreOp(("arith." + op).str()) ||
         lookUpScoreOp(("math." + op).str());
}

/// Returns what `words`, op number `line` of a program, should be, or an empty
/// text if they are valid.
static std::string whyNotLine(ArrayRef<StringRef> words, size_t line,
                              bool isLast) {
  constexpr StringLiteral types[] = {"f16", "bf16", "f32", "f64", "i1",
                                     "i8",  "i16",  "i32", "i64", "index"};
  if (words.size() < 3) {
    return "a type, a name and an operand";
  }
  bool isYield = words[1] == "yield";
  if (!llvm::is_contained(types, words[0]) || (isYield && words[0] != "i1")) {
    return isYield ? "'yield' of an 'i1'" : "a type of numbers first";
  }
  if (isYield != isLast || (!isYield && !isNameOfOp(words[1]))) {
    return isLast ? "'yield' at the end" : "the name of an op of regions";
  }
  if (words[1] == "constant") {
    return words.size() == 3 ? "" : "one constant";
  }
  for (StringRef word : words.drop_front(2)) {
    if (!isValueBefore(word, line)) {
      return llvm::formatv("a position, '@' and a capture, or '%' and the "
                           "number of an earlier op, not '{0}'",
                           word);
    }
  }
  return isYield && words.size() != 3 ? "one operand of 'yield'" : "";
}

std::string attn::whyNotMaskProgram(Attribute program) {
  auto lines = dyn_cast<ArrayAttr>(program);
  if (!lines || lines.empty()) {
    return "expected a list of ops";
  }
  for (auto [number, line] : llvm::enumerate(lines)) {
    auto list = dyn_cast<ArrayAttr>(line);
    bool areWords = list && llvm::all_of(list, llvm::IsaPred<StringAttr>);
    SmallVector<StringRef> words;
    if (areWords) {
      llvm::append_range(words, list.getAsValueRange<StringAttr>());
    }
    std::string wanted =
        areWords ? whyNotLine(words, number, number + 1 == lines.size())
                 : "a list of words";
    if (!wanted.empty()) {
      return llvm::formatv("expected {0} in op {1}", wanted, number);
    }
  }
  return "";
}
