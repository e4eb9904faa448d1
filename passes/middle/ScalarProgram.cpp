// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarProgram.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static unsigned bitsOf(Value value) {
  return value.getType().isIndex() ? 64
                                   : value.getType().getIntOrFloatBitWidth();
}

/// Whether a value is an integer of at most 64 bits.
static bool isNumber(Value value) {
  return value.getType().isIndex() ||
         (value.getType().isSignlessInteger() && bitsOf(value) <= 64);
}

std::optional<ScalarProgram::Instruction::Kind>
ScalarProgram::kindOf(Operation *op) {
  using I = Instruction;
  using Result = std::optional<I::Kind>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](arith::AddIOp) { return I::Add; })
      .Case([](arith::SubIOp) { return I::Sub; })
      .Case([](arith::MulIOp) { return I::Mul; })
      .Case([](arith::DivSIOp) { return I::DivS; })
      .Case([](arith::DivUIOp) { return I::DivU; })
      .Case([](arith::CeilDivSIOp) { return I::CeilDivS; })
      .Case([](arith::CeilDivUIOp) { return I::CeilDivU; })
      .Case([](arith::FloorDivSIOp) { return I::FloorDivS; })
      .Case([](arith::RemSIOp) { return I::RemS; })
      .Case([](arith::RemUIOp) { return I::RemU; })
      .Case([](arith::MinSIOp) { return I::MinS; })
      .Case([](arith::MinUIOp) { return I::MinU; })
      .Case([](arith::MaxSIOp) { return I::MaxS; })
      .Case([](arith::MaxUIOp) { return I::MaxU; })
      .Case([](arith::AndIOp) { return I::And; })
      .Case([](arith::OrIOp) { return I::Or; })
      .Case([](arith::XOrIOp) { return I::Xor; })
      .Case([](arith::ShLIOp) { return I::ShL; })
      .Case([](arith::ShRSIOp) { return I::ShRS; })
      .Case([](arith::ShRUIOp) { return I::ShRU; })
      .Case([](arith::CmpIOp) { return I::Compare; })
      .Case([](arith::SelectOp) { return I::Select; })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [](auto) { return I::ExtendS; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [](auto) { return I::ExtendU; })
      .Default([](Operation *) { return Result(); });
}

unsigned ScalarProgram::append(Value value, Instruction instruction) {
  instructions.push_back(instruction);
  return numbers[value] = instructions.size() - 1;
}

unsigned ScalarProgram::add(Value value) {
  if (auto known = numbers.find(value); known != numbers.end()) {
    return known->second;
  }
  if (auto bounds = value.getDefiningOp<tile::BoundsOp>()) {
    Operation *yield = bounds.getBody().front().getTerminator();
    unsigned result = cast<OpResult>(value).getResultNumber();
    return numbers[value] = add(yield->getOperand(result));
  }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && isNumber(value)) {
    int64_t number = constant.getBitWidth() == 1 ? constant.getZExtValue()
                                                 : constant.getSExtValue();
    return append(value, {Instruction::Constant, {}, 64, 64, number});
  }
  Operation *op = value.getDefiningOp();
  auto kind = op ? kindOf(op) : std::nullopt;
  if (!kind || !isNumber(value) || !llvm::all_of(op->getOperands(), isNumber)) {
    inputs.push_back(value);
    return append(value, {Instruction::Input,
                          {},
                          64,
                          64,
                          static_cast<int64_t>(inputs.size() - 1)});
  }
  Instruction instruction{*kind};
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    instruction.operands[number] = add(operand);
  }
  instruction.operandBits = bitsOf(op->getOperand(0));
  instruction.bits = bitsOf(value);
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    instruction.immediate = static_cast<int64_t>(compare.getPredicate());
  }
  return append(value, instruction);
}

/// Returns the result before it is wrapped; nothing for a division by zero.
std::optional<int64_t> ScalarProgram::compute(const Instruction &instruction,
                                              ArrayRef<int64_t> values) {
  using I = Instruction;
  int64_t a = values[instruction.operands[0]],
          b = values[instruction.operands[1]];
  auto isUnsigned = [&](uint64_t number) {
    return number & llvm::maskTrailingOnes<uint64_t>(instruction.operandBits);
  };
  uint64_t ua = isUnsigned(a), ub = isUnsigned(b);
  auto shifted = [&](auto number) -> int64_t {
    return ub < instruction.operandBits ? number : 0;
  };
  auto quotient = [&](auto divide) -> std::optional<int64_t> {
    return b == 0 || (a == INT64_MIN && b == -1)
               ? std::nullopt
               : std::optional<int64_t>(divide());
  };
  switch (instruction.kind) {
  case I::Input:
  case I::Constant:
    break;
  case I::Add:
    return int64_t(uint64_t(a) + uint64_t(b));
  case I::Sub:
    return int64_t(uint64_t(a) - uint64_t(b));
  case I::Mul:
    return int64_t(uint64_t(a) * uint64_t(b));
  case I::DivS:
    return quotient([&] { return a / b; });
  case I::DivU:
    return quotient([&] { return int64_t(ua / ub); });
  case I::CeilDivS:
    return quotient([&] { return llvm::divideCeilSigned(a, b); });
  case I::CeilDivU:
    return quotient([&] { return int64_t(llvm::divideCeil(ua, ub)); });
  case I::FloorDivS:
    return quotient([&] { return llvm::divideFloorSigned(a, b); });
  case I::RemS:
    return quotient([&] { return a % b; });
  case I::RemU:
    return quotient([&] { return int64_t(ua % ub); });
  case I::MinS:
    return std::min(a, b);
  case I::MinU:
    return int64_t(std::min(ua, ub));
  case I::MaxS:
    return std::max(a, b);
  case I::MaxU:
    return int64_t(std::max(ua, ub));
  case I::And:
    return a & b;
  case I::Or:
    return a | b;
  case I::Xor:
    return a ^ b;
  case I::ShL:
    return shifted(uint64_t(a) << (ub & 63));
  case I::ShRS:
    return shifted(a >> (ub & 63));
  case I::ShRU:
    return shifted(ua >> (ub & 63));
  case I::Compare:
    return arith::applyCmpPredicate(
        static_cast<arith::CmpIPredicate>(instruction.immediate),
        APInt(64, instruction.operandBits == 1 ? ua : uint64_t(a)),
        APInt(64, instruction.operandBits == 1 ? ub : uint64_t(b)));
  case I::Select:
    return a ? b : values[instruction.operands[2]];
  case I::ExtendS:
    return instruction.operandBits == 1 ? -a : a;
  case I::ExtendU:
    return int64_t(ua);
  }
  llvm_unreachable("inputs and constants are not computed");
}

bool ScalarProgram::run(ArrayRef<int64_t> given,
                        SmallVectorImpl<int64_t> &values, bool *wraps) const {
  values.resize(instructions.size());
  for (auto [number, instruction] : llvm::enumerate(instructions)) {
    if (instruction.kind == Instruction::Constant) {
      values[number] = instruction.immediate;
    } else if (instruction.kind == Instruction::Input) {
      values[number] = given[instruction.immediate];
    } else {
      auto result = compute(instruction, values);
      if (!result) {
        return false;
      }
      values[number] = instruction.bits == 1
                           ? *result & 1
                           : llvm::SignExtend64(*result, instruction.bits);
      bool isSum = instruction.kind >= Instruction::Add &&
                   instruction.kind <= Instruction::Mul;
      if (wraps && isSum && values[number] != *result) {
        *wraps = true;
      }
    }
  }
  return true;
}
