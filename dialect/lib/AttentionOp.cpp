// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and verifier of attn.attention; labels are those of its
// description.
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/Masks.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// Parses one keyword of an enum; an EnumAttr's own form would print a space
/// first.
template <typename Attr, typename Enum>
static ParseResult parseEnum(OpAsmParser &parser, Attr &attr) {
  auto value = FieldParser<Enum>::parse(parser);
  if (failed(value)) {
    return failure();
  }
  attr = Attr::get(parser.getContext(), *value);
  return success();
}

ParseResult attn::parseMask(OpAsmParser &parser, MaskKindAttr &mask) {
  return parseEnum<MaskKindAttr, MaskKind>(parser, mask);
}
void attn::printMask(OpAsmPrinter &printer, Operation *, MaskKindAttr mask) {
  printer << stringifyMaskKind(mask.getValue());
}
ParseResult attn::parseLayout(OpAsmParser &parser, LayoutKindAttr &layout) {
  return parseEnum<LayoutKindAttr, LayoutKind>(parser, layout);
}
void attn::printLayout(OpAsmPrinter &printer, Operation *,
                       LayoutKindAttr layout) {
  printer << stringifyLayoutKind(layout.getValue());
}

/// Parses bounds: words with their values, in a fixed order.
ParseResult
attn::parseBounds(OpAsmParser &parser,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                  MaskBoundsAttr &kinds) {
  MaskBounds given = MaskBounds::None;
  for (const MaskBound &bound : maskBounds()) {
    if (failed(parser.parseOptionalKeyword(bound.name))) {
      continue;
    }
    if (parser.parseLParen() || parser.parseOperand(values.emplace_back()) ||
        parser.parseRParen()) {
      return failure();
    }
    given |= bound.kind();
  }
  kinds = MaskBoundsAttr::get(parser.getContext(), given);
  return success();
}
void attn::printBounds(OpAsmPrinter &printer, Operation *, ValueRange values,
                       MaskBoundsAttr kinds) {
  for (auto [bound, value] : llvm::zip(maskBounds(kinds.getValue()), values)) {
    printer << ' ' << bound.name << '(' << value << ')';
  }
}

/// Returns how a region takes part; `position` is the number of its argument
/// for the position of the query, and the next argument is that of the key.
static attn::RegionKind regionKind(Region &region, unsigned position) {
  if (region.empty()) {
    return attn::RegionKind::Absent;
  }
  llvm::SmallPtrSet<Value, 8> positional{region.getArgument(position),
                                         region.getArgument(position + 1)};
  for (Operation &op : region.front()) {
    bool depends = llvm::any_of(op.getOperands(), [&](Value operand) {
      return positional.contains(operand);
    });
    if (depends && isa<tensor::ExtractOp>(op)) {
      return attn::RegionKind::Gathering;
    }
    if (depends) {
      positional.insert(op.result_begin(), op.result_end());
    }
  }
  return attn::RegionKind::Present;
}

ProblemAttr AttentionOp::getProblem() {
  return ProblemAttr::get(
      getContext(), KernelKind::Fwd, getQuery().getType().getElementType(),
      getHeadDim(), getHeadDimV(), getLayout(), getMask(),
      regionKind(getScoreRegion(), 3), regionKind(getMaskRegion(), 2),
      getBoundKinds(), getRowKeysSides());
}

RowKeys AttentionOp::getRowKeysSides() {
  if (!hasRowKeys()) {
    return RowKeys::None;
  }
  Operation *yield = getRowKeys().front().getTerminator();
  auto isConstant = [&](unsigned result, int64_t value) {
    APInt constant;
    return matchPattern(yield->getOperand(result), m_ConstantInt(&constant)) &&
           constant.getSExtValue() == value;
  };
  return (isConstant(0, 0) && !hasPrefix() ? RowKeys::None : RowKeys::First) |
         (isConstant(1, kItemLimit) ? RowKeys::None : RowKeys::End);
}

Value AttentionOp::getBound(MaskBounds kind) {
  auto kinds = maskBounds(getBoundKinds());
  auto *found = llvm::find_if(
      kinds, [&](const MaskBound &bound) { return bound.kind() == kind; });
  return found == kinds.end() ? Value() : getBounds()[found - kinds.begin()];
}

namespace {
/// A tensor of the op, with its name in diagnostics.
struct Named {
  StringRef name;
  RankedTensorType type;
};
} // namespace

/// Checks that two dims are equal if both are static.
static LogicalResult expectDim(AttentionOp op, Named tensor, unsigned dim,
                               StringRef what, int64_t expected) {
  int64_t got = tensor.type.getDimSize(dim);
  if (ShapedType::isDynamic(got) || ShapedType::isDynamic(expected) ||
      got == expected) {
    return success();
  }
  return op.emitOpError("expected '")
         << tensor.name << "' " << what << " to be " << expected << ", got "
         << got;
}

// C2
static LogicalResult verifyHeadDim(AttentionOp op, Named tensor) {
  int64_t dim = tensor.type.getDimSize(3);
  if (ShapedType::isDynamic(dim)) {
    return op.emitOpError("expected '")
           << tensor.name << "' head dim to be static, got ?";
  }
  if (dim < 8 || dim > 256 || dim % 8 != 0) {
    return op.emitOpError("expected '")
           << tensor.name
           << "' head dim to be a multiple of 8 from 8 to 256, got " << dim;
  }
  return success();
}

// C6
static LogicalResult verifyHeads(AttentionOp op) {
  unsigned headsDim = op.getHeadsDim();
  int64_t heads = op.getQuery().getType().getDimSize(headsDim);
  int64_t keyHeads = op.getKey().getType().getDimSize(headsDim);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads)) {
    return success();
  }
  if (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0) {
    return op.emitOpError("expected 'query' heads to be a multiple of 'key' "
                          "heads, got ")
           << heads << " and " << keyHeads;
  }
  return success();
}

// C16
static LogicalResult verifyElementTypes(AttentionOp op,
                                        ArrayRef<Named> tensors) {
  Type wanted = op.getQuery().getType().getElementType();
  for (Named tensor : tensors) {
    if (tensor.type.getElementType() != wanted) {
      return op.emitOpError("expected '")
             << tensor.name << "' to have the element type of 'query', "
             << wanted << ", got " << tensor.type.getElementType();
    }
  }
  return success();
}

// C17
static LogicalResult verifyMaskBounds(AttentionOp op) {
  // The custom form has one value for each kind; the generic form may have
  // another number.
  size_t kinds = maskBounds(op.getBoundKinds()).size();
  if (op.getBounds().size() != kinds) {
    return op.emitOpError("expected a value for each of the ")
           << kinds << " bounds in 'bound_kinds', got "
           << op.getBounds().size();
  }
  return verifyBounds(op.getMask(), op.getBoundKinds(),
                      [&] { return op.emitOpError(); });
}

// C21
static LogicalResult verifyRowKeys(AttentionOp op) {
  if (op.hasRowKeys() && op.getMask() != MaskKind::None) {
    return op.emitOpError("expected mask 'none' beside 'row_keys', got '")
           << stringifyMaskKind(op.getMask()) << "'";
  }
  return success();
}

// C18
static LogicalResult verifyVariant(AttentionOp op) {
  if (op.getVariant() && !op.getConfig()) {
    return op.emitOpError("expected a 'config' beside 'variant'");
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  Named query{"query", getQuery().getType()}, key{"key", getKey().getType()},
      value{"value", getValue().getType()}, out{"out", getOut().getType()},
      lse{"lse", getLse().getType()};
  if (failed(verifyHeadDim(*this, query)) ||
      failed(verifyHeadDim(*this, value)) ||
      failed(verifyElementTypes(*this, {key, value, out})) ||
      failed(verifyMaskBounds(*this)) || failed(verifyRowKeys(*this)) ||
      failed(verifyVariant(*this))) {
    return failure();
  }
  unsigned s = getPositionDim(), h = getHeadsDim();
  struct Rule {
    Named tensor;
    unsigned dim;
    StringRef what;
    int64_t expected;
  };
  auto dim = [](Named tensor, unsigned d) { return tensor.type.getDimSize(d); };
  const Rule rules[] = {{key, 3, "head dim", dim(query, 3)},   // C3
                        {key, 0, "batch size", dim(query, 0)}, // C4
                        {value, 0, "batch size", dim(query, 0)},
                        {value, s, "seqlen", dim(key, s)}, // C5
                        {value, h, "heads", dim(key, h)},
                        {out, 0, "batch size", dim(query, 0)}, // C7
                        {out, s, "seqlen", dim(query, s)},
                        {out, h, "heads", dim(query, h)},
                        {out, 3, "head dim", dim(value, 3)},
                        {lse, 0, "batch size", dim(query, 0)}, // C8
                        {lse, 1, "heads", dim(query, h)},
                        {lse, 2, "seqlen", dim(query, s)}};
  for (const Rule &rule : rules) {
    if (failed(expectDim(*this, rule.tensor, rule.dim, rule.what,
                         rule.expected))) {
      return failure();
    }
  }
  if (ShapedType::isDynamic(dim(out, 3))) {
    return emitOpError("expected 'out' head dim to be ")
           << dim(value, 3) << ", got ?";
  }
  return verifyHeads(*this);
}
