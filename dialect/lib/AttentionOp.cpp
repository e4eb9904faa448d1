// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and verifier of attn.attention; labels are those of its
// description.
#include "AttentionChecks.h"
#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/Masks.h"
#include "attn/dialect/RegionProgram.h"
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

attn::RegionKind attn::regionKind(Region &region, unsigned position) {
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
      getBoundKinds(), getRowKeysSides(), hasDropout());
}

bool attn::hasPrefix(Region &rowKeys) {
  return !rowKeys.empty() && !rowKeys.front().empty() &&
         rowKeys.front().back().getNumOperands() == 3;
}

RowKeys attn::rowKeysSides(Region &rowKeys) {
  if (rowKeys.empty()) {
    return RowKeys::None;
  }
  Operation *yield = rowKeys.front().getTerminator();
  auto isConstant = [&](unsigned result, int64_t value) {
    APInt constant;
    return matchPattern(yield->getOperand(result), m_ConstantInt(&constant)) &&
           constant.getSExtValue() == value;
  };
  bool hasFirst = !isConstant(0, 0) || hasPrefix(rowKeys);
  return (hasFirst ? RowKeys::First : RowKeys::None) |
         (isConstant(1, kItemLimit) ? RowKeys::None : RowKeys::End) |
         (rowKeys.getArgument(2).use_empty() ? RowKeys::Alike : RowKeys::None);
}

Value AttentionOp::getBound(MaskBounds kind) {
  auto kinds = maskBounds(getBoundKinds());
  auto *found = llvm::find_if(
      kinds, [&](const MaskBound &bound) { return bound.kind() == kind; });
  return found == kinds.end() ? Value() : getBounds()[found - kinds.begin()];
}

LogicalResult attn::expectDims(Operation *op, ArrayRef<DimRule> rules) {
  for (const DimRule &rule : rules) {
    int64_t got = rule.tensor.dim(rule.dim);
    if (!ShapedType::isDynamic(got) && !ShapedType::isDynamic(rule.expected) &&
        got != rule.expected) {
      return op->emitOpError("expected '")
             << rule.tensor.name << "' " << rule.what << " to be "
             << rule.expected << ", got " << got;
    }
  }
  return success();
}

// C2
LogicalResult attn::verifyHeadDim(Operation *op, NamedTensor tensor) {
  int64_t dim = tensor.dim(3);
  if (ShapedType::isDynamic(dim)) {
    return op->emitOpError("expected '")
           << tensor.name << "' head dim to be static, got ?";
  }
  if (dim < 8 || dim > 256 || dim % 8 != 0) {
    return op->emitOpError("expected '")
           << tensor.name
           << "' head dim to be a multiple of 8 from 8 to 256, got " << dim;
  }
  return success();
}

// C6
LogicalResult attn::verifyHeads(Operation *op, int64_t heads,
                                int64_t keyHeads) {
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads)) {
    return success();
  }
  if (keyHeads == 0 ? heads != 0 : heads % keyHeads != 0) {
    return op->emitOpError("expected 'query' heads to be a multiple of 'key' "
                           "heads, got ")
           << heads << " and " << keyHeads;
  }
  return success();
}

// C16
LogicalResult attn::verifyElementTypes(Operation *op, Type wanted,
                                       ArrayRef<NamedTensor> tensors) {
  for (NamedTensor tensor : tensors) {
    if (tensor.type.getElementType() != wanted) {
      return op->emitOpError("expected '")
             << tensor.name << "' to have the element type of 'query', "
             << wanted << ", got " << tensor.type.getElementType();
    }
  }
  return success();
}

// C17
LogicalResult attn::verifyMaskBounds(Operation *op, MaskKind mask,
                                     MaskBounds kinds, size_t values) {
  // The custom form has one value for each kind; the generic form may have
  // another number.
  size_t wanted = maskBounds(kinds).size();
  if (values != wanted) {
    return op->emitOpError("expected a value for each of the ")
           << wanted << " bounds in 'bound_kinds', got " << values;
  }
  return verifyBounds(mask, kinds, [&] { return op->emitOpError(); });
}

// C21
LogicalResult attn::verifyRowKeys(Operation *op, Region &rowKeys,
                                  MaskKind mask) {
  if (!rowKeys.empty() && mask != MaskKind::None) {
    return op->emitOpError("expected mask 'none' beside 'row_keys', got '")
           << stringifyMaskKind(mask) << "'";
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

// C22
LogicalResult attn::verifyDropout(Operation *op, Value rate, Value state) {
  if (bool(rate) == bool(state)) {
    return success();
  }
  return op->emitOpError("expected 'dropout_rate' and 'dropout_state', or "
                         "neither, got only '")
         << (rate ? "dropout_rate" : "dropout_state") << "'";
}

LogicalResult attn::verifyUserMask(Operation *op) {
  Attribute problem = op->getAttr(kUserProblemAttr),
            mask = op->getAttr(kUserMaskAttr);
  if (problem && !isa<ProblemAttr>(problem)) {
    return op->emitOpError("expected '")
           << kUserProblemAttr << "' to be a problem, got " << problem;
  }
  if (mask && !problem) {
    return op->emitOpError("expected '")
           << kUserProblemAttr << "' beside '" << kUserMaskAttr << "'";
  }
  std::string malformed = mask ? whyNotMaskProgram(mask) : "";
  if (!malformed.empty()) {
    return op->emitOpError("expected '")
           << kUserMaskAttr << "' to be a program: " << malformed << ", got "
           << mask;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  NamedTensor query{"query", getQuery().getType()},
      key{"key", getKey().getType()}, value{"value", getValue().getType()},
      out{"out", getOut().getType()}, lse{"lse", getLse().getType()};
  if (failed(verifyHeadDim(*this, query)) ||
      failed(verifyHeadDim(*this, value)) ||
      failed(verifyElementTypes(*this, query.type.getElementType(),
                                {key, value, out})) ||
      failed(verifyMaskBounds(*this, getMask(), getBoundKinds(),
                              getBounds().size())) ||
      failed(verifyRowKeys(*this, getRowKeys(), getMask())) ||
      failed(verifyVariant(*this)) ||
      failed(verifyDropout(*this, getDropoutRate(), getDropoutState())) ||
      failed(verifyUserMask(*this))) {
    return failure();
  }
  unsigned s = getPositionDim(), h = getHeadsDim();
  const DimRule rules[] = {{key, 3, "head dim", query.dim(3)},   // C3
                           {key, 0, "batch size", query.dim(0)}, // C4
                           {value, 0, "batch size", query.dim(0)},
                           {value, s, "seqlen", key.dim(s)}, // C5
                           {value, h, "heads", key.dim(h)},
                           {out, 0, "batch size", query.dim(0)}, // C7
                           {out, s, "seqlen", query.dim(s)},
                           {out, h, "heads", query.dim(h)},
                           {out, 3, "head dim", value.dim(3)},
                           {lse, 0, "batch size", query.dim(0)}, // C8
                           {lse, 1, "heads", query.dim(h)},
                           {lse, 2, "seqlen", query.dim(s)}};
  if (failed(expectDims(*this, rules))) {
    return failure();
  }
  if (Value given = getSinks()) { // C23
    NamedTensor sinks{"sinks", cast<RankedTensorType>(given.getType())};
    if (failed(expectDims(*this, {{sinks, 0, "heads", query.dim(h)}}))) {
      return failure();
    }
  }
  if (ShapedType::isDynamic(out.dim(3))) {
    return emitOpError("expected 'out' head dim to be ")
           << value.dim(3) << ", got ?";
  }
  return verifyHeads(*this, query.dim(h), key.dim(h));
}
