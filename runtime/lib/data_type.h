// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of a plan, and their names in DLPack.

#ifndef ATTN_RUNTIME_LIB_DATA_TYPE_H
#define ATTN_RUNTIME_LIB_DATA_TYPE_H

#include "attn/runtime/dlpack.h"

#include <string>

namespace attn::runtime {

enum class DataType { BF16, F16, F32, F64, Bool, U8, I8, I16, I32, I64 };

/// The plan's spelling, for example "bf16".
const char *nameOf(DataType type);
bool parseDataType(const std::string &name, DataType &type);
DLDataType toDLPack(DataType type);
bool isFloat(DataType type);
/// The size of one element in bytes.
int sizeOf(DataType type);
/// Returns a DLPack type as messages print it: "bf16", or "code 2 bits 8 lanes
/// 4".
std::string describe(DLDataType type);

inline bool sameType(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_DATA_TYPE_H
