// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "data_type.h"

using namespace attn::runtime;

namespace {
struct Row {
  DataType type;
  const char *name;
  uint8_t code;
  uint8_t bits;
};

constexpr Row kRows[] = {
    {DataType::BF16, "bf16", kDLBfloat, 16},
    {DataType::F16, "f16", kDLFloat, 16},
    {DataType::F32, "f32", kDLFloat, 32},
    {DataType::F64, "f64", kDLFloat, 64},
    {DataType::Bool, "bool", kDLBool, 8},
    {DataType::U8, "u8", kDLUInt, 8},
    {DataType::I8, "i8", kDLInt, 8},
    {DataType::I16, "i16", kDLInt, 16},
    {DataType::I32, "i32", kDLInt, 32},
    {DataType::I64, "i64", kDLInt, 64},
};

const Row &rowOf(DataType type) { return kRows[int(type)]; }
} // namespace

const char *attn::runtime::nameOf(DataType type) { return rowOf(type).name; }

bool attn::runtime::parseDataType(const std::string &name, DataType &type) {
  for (const Row &row : kRows) {
    if (name == row.name) {
      type = row.type;
      return true;
    }
  }
  return false;
}

DLDataType attn::runtime::toDLPack(DataType type) {
  return {rowOf(type).code, rowOf(type).bits, 1};
}

bool attn::runtime::isFloat(DataType type) {
  return rowOf(type).code == kDLFloat || rowOf(type).code == kDLBfloat;
}

int attn::runtime::sizeOf(DataType type) { return rowOf(type).bits / 8; }

std::string attn::runtime::describe(DLDataType type) {
  for (const Row &row : kRows) {
    if (sameType(type, toDLPack(row.type))) {
      return row.name;
    }
  }
  return "code " + std::to_string(type.code) + " bits " +
         std::to_string(type.bits) + " lanes " + std::to_string(type.lanes);
}
