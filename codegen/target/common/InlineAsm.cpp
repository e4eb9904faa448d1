// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/codegen/target/InlineAsm.h"

using namespace mlir;
using namespace attn::codegen;

SmallVector<Value> attn::codegen::unpackElements(OpBuilder &builder,
                                                 Location loc, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    return {value};
  }
  SmallVector<Value> elements;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                           builder.getI32IntegerAttr(i));
    elements.push_back(
        LLVM::ExtractElementOp::create(builder, loc, value, index));
  }
  return elements;
}

/// The time that LLVM's scalarizer takes for a chain of insertions is the
/// square of its length. So a vector of more elements is joined from two
/// halves.
static constexpr unsigned kLongestChain = 8;

Value attn::codegen::packElements(OpBuilder &builder, Location loc, Type type,
                                  ValueRange elements) {
  auto whole = dyn_cast<VectorType>(type);
  if (!whole) {
    return elements.front();
  }
  unsigned count = elements.size(), half = count / 2;
  if (count > kLongestChain && count % 2 == 0) {
    auto part = VectorType::get(half, whole.getElementType());
    Value low = packElements(builder, loc, part, elements.take_front(half));
    Value high = packElements(builder, loc, part, elements.drop_front(half));
    return LLVM::ShuffleVectorOp::create(
        builder, loc, low, high, llvm::to_vector(llvm::seq<int32_t>(0, count)));
  }
  Value vector = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                           builder.getI32IntegerAttr(i));
    vector =
        LLVM::InsertElementOp::create(builder, loc, vector, element, index);
  }
  return vector;
}

static unsigned countElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

/// Returns the constraint letter of a register for `type`.
static StringRef getRegister(Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) {
    return cast<LLVM::LLVMPointerType>(type).getAddressSpace() == 3 ? "r" : "l";
  }
  if (type.isF32()) {
    return "f";
  }
  return type.isInteger(64) ? "l" : "r";
}

void InlineAsm::addResult(Type type) {
  resultStarts.push_back(elementTypes.size());
  resultTypes.push_back(type);
  elementTypes.append(countElements(type), getElementTypeOrSelf(type));
}

void InlineAsm::addReadWrite(Value value) {
  unsigned first = elementTypes.size();
  addResult(value.getType());
  for (auto [i, element] :
       llvm::enumerate(unpackElements(builder, loc, value))) {
    tied.push_back(element);
    tiedResults.push_back(first + i);
  }
}

void InlineAsm::addInput(Value value) {
  inputStarts.push_back(inputs.size());
  llvm::append_range(inputs, unpackElements(builder, loc, value));
}

std::string InlineAsm::result(unsigned group, unsigned element) const {
  return "$" + std::to_string(resultStarts[group] + element);
}

std::string InlineAsm::input(unsigned group, unsigned element) const {
  return "$" + std::to_string(elementTypes.size() + tied.size() +
                              inputStarts[group] + element);
}

SmallVector<Value> InlineAsm::create(StringRef text) {
  SmallVector<std::string> constraints;
  for (Type type : elementTypes) {
    constraints.push_back(("=" + getRegister(type)).str());
  }
  for (unsigned index : tiedResults) {
    constraints.push_back(std::to_string(index));
  }
  for (Value input : inputs) {
    constraints.push_back(getRegister(input.getType()).str());
  }
  constraints.push_back("~{memory}");

  Type type;
  if (elementTypes.size() == 1) {
    type = elementTypes.front();
  } else if (!elementTypes.empty()) {
    type = LLVM::LLVMStructType::getLiteral(builder.getContext(), elementTypes);
  }
  SmallVector<Value> operands(tied);
  operands.append(inputs);
  auto op = LLVM::InlineAsmOp::create(
      builder, loc, type ? TypeRange(type) : TypeRange(), operands, text,
      llvm::join(constraints, ","), /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());

  SmallVector<Value> elements, values;
  if (elementTypes.size() == 1) {
    elements.push_back(op.getRes());
  } else {
    for (unsigned i = 0, e = elementTypes.size(); i < e; ++i) {
      elements.push_back(
          LLVM::ExtractValueOp::create(builder, loc, op.getRes(), i));
    }
  }
  ArrayRef<Value> rest(elements);
  for (Type result : resultTypes) {
    unsigned count = countElements(result);
    values.push_back(
        packElements(builder, loc, result, rest.take_front(count)));
    rest = rest.drop_front(count);
  }
  return values;
}
