// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes regions as lists of words. attn-run defines their meaning
// (tools/attn-run/region_ops.cpp).
#include "attn/dialect/RegionProgram.h"

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
