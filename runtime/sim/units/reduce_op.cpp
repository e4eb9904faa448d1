// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "units/reduce_op.h"
#include "units/packed_half.h"

using namespace attn::sim;

uint32_t attn::sim::reduceTypeBytes(ReduceType type) {
  switch (type) {
  case ReduceType::U8:
    return 1;
  case ReduceType::U16:
  case ReduceType::F16:
  case ReduceType::BF16:
    return 2;
  case ReduceType::U32:
  case ReduceType::S32:
  case ReduceType::F32:
    return 4;
  case ReduceType::U64:
  case ReduceType::S64:
  case ReduceType::F64:
    return 8;
  }
  return 0;
}

bool attn::sim::isReduceLegal(ReduceOp op, ReduceType type) {
  bool integer = type == ReduceType::U32 || type == ReduceType::S32 ||
                 type == ReduceType::U64 || type == ReduceType::S64;
  bool half = type == ReduceType::F16 || type == ReduceType::BF16;
  switch (op) {
  case ReduceOp::Add:
    return integer || half || type == ReduceType::F32 ||
           type == ReduceType::F64;
  case ReduceOp::Min:
  case ReduceOp::Max:
    return integer || half;
  case ReduceOp::Inc:
  case ReduceOp::Dec:
    return type == ReduceType::U32;
  case ReduceOp::And:
  case ReduceOp::Or:
  case ReduceOp::Xor:
    return integer;
  }
  return false;
}

bool attn::sim::isFloatSum(ReduceOp op, ReduceType type) {
  return op == ReduceOp::Add && type >= ReduceType::F16;
}

bool attn::sim::reduceTypeOf(TensorType tensor, ReduceType &type) {
  static const ReduceType kTypes[] = {
      ReduceType::U8,  ReduceType::U16,  ReduceType::U32, ReduceType::S32,
      ReduceType::U64, ReduceType::S64,  ReduceType::F16, ReduceType::F32,
      ReduceType::F64, ReduceType::BF16, ReduceType::F32, ReduceType::F32,
      ReduceType::F32};
  if (tensor > TensorType::TF32Ftz) {
    return false;
  }
  type = kTypes[int(tensor)];
  return true;
}

ReduceMode attn::sim::reduceModeOf(TensorType tensor) {
  ReduceMode mode;
  mode.ftz = tensor == TensorType::F32Ftz || tensor == TensorType::TF32Ftz;
  return mode;
}

/// Global memory keeps a NaN's bits, even a signaling one's, as an H200 does;
/// the operand's before its own.
static double addInGlobal(double memory, double operand) {
  return operand != operand ? operand
         : memory != memory ? memory
                            : addF64(memory, operand);
}

static uint64_t reduceInteger(ReduceOp op, ReduceType type, uint64_t memory,
                              uint64_t operand) {
  bool wide = reduceTypeBytes(type) == 8;
  bool isSigned = type == ReduceType::S32 || type == ReduceType::S64;
  auto asSigned = [&](uint64_t bits) {
    return wide ? int64_t(bits) : int64_t(int32_t(bits));
  };
  uint64_t mask = wide ? ~uint64_t(0) : 0xFFFFFFFF;
  memory &= mask;
  operand &= mask;
  bool less =
      isSigned ? asSigned(memory) < asSigned(operand) : memory < operand;
  switch (op) {
  case ReduceOp::Add:
    return (memory + operand) & mask;
  case ReduceOp::Min:
    return less ? memory : operand;
  case ReduceOp::Max:
    return less ? operand : memory;
  case ReduceOp::Inc:
    return memory >= operand ? 0 : memory + 1;
  case ReduceOp::Dec:
    return memory == 0 || memory > operand ? operand : memory - 1;
  case ReduceOp::And:
    return memory & operand;
  case ReduceOp::Or:
    return memory | operand;
  case ReduceOp::Xor:
    return memory ^ operand;
  }
  return memory;
}

uint64_t attn::sim::applyReduce(ReduceOp op, ReduceType type, uint64_t memory,
                                uint64_t operand, ReduceMode mode) {
  switch (type) {
  case ReduceType::F32:
    return toBits(addF32(f32FromBits(uint32_t(memory)),
                         f32FromBits(uint32_t(operand)),
                         {Rounding::RN, mode.ftz, false}));
  case ReduceType::F64:
    return toBits(mode.inShared
                      ? addF64(f64FromBits(operand), f64FromBits(memory))
                      : addInGlobal(f64FromBits(memory), f64FromBits(operand)));
  case ReduceType::F16:
  case ReduceType::BF16: {
    HalfType half = type == ReduceType::F16 ? HalfType::F16 : HalfType::BF16;
    auto a = uint16_t(memory);
    auto b = uint16_t(operand);
    return op == ReduceOp::Add   ? addHalf(half, a, b)
           : op == ReduceOp::Min ? minHalf(half, a, b)
                                 : maxHalf(half, a, b);
  }
  default:
    return reduceInteger(op, type, memory, operand);
  }
}

void attn::sim::applyReduceRange(ReduceOp op, ReduceType type, uint8_t *memory,
                                 const uint8_t *operand, uint64_t bytes,
                                 ReduceMode mode) {
  uint32_t size = reduceTypeBytes(type);
  for (uint64_t at = 0; at + size <= bytes; at += size) {
    uint64_t left = 0;
    uint64_t right = 0;
    std::memcpy(&left, memory + at, size);
    std::memcpy(&right, operand + at, size);
    uint64_t result = applyReduce(op, type, left, right, mode);
    std::memcpy(memory + at, &result, size);
  }
}
