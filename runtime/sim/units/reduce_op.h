// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read-modify-write of one element: the operations of atom, red,
// cp.reduce.async.bulk and cp.reduce.async.bulk.tensor (PTX ISA).

#ifndef ATTN_SIM_UNITS_REDUCE_OP_H
#define ATTN_SIM_UNITS_REDUCE_OP_H

#include "units/tensor_map.h"

namespace attn::sim {

enum class ReduceOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

enum class ReduceType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  BF16,
  F32,
  F64
};

uint32_t reduceTypeBytes(ReduceType type);
/// Whether PTX has the operation for the type at all.
bool isReduceLegal(ReduceOp op, ReduceType type);
/// Whether results depend on the order of several such operations: sums of
/// floating-point numbers are rounded one by one.
bool isFloatSum(ReduceOp op, ReduceType type);
/// The element type of a tensor map as seen by tensor reductions; false if
/// there is none (sub-byte types).
bool reduceTypeOf(TensorType tensor, ReduceType &type);

/// The options on which sums depend, besides their type.
struct ReduceMode {
  /// Of f32: subnormal operands and results become zero.
  bool ftz = false;
  /// Of f64: whether the sum is made as in shared memory, by add.f64 on the
  /// operand and memory; else as in global memory. Their NaNs differ.
  bool inShared = false;
};

/// The mode of reductions of a tensor. On an H200 those of F32 and TF32 keep
/// subnormals, and those of TF32 all of an f32; TF32Ftz is taken to be F32Ftz.
ReduceMode reduceModeOf(TensorType tensor);

/// Returns `memory` op `operand`, both as low bits.
uint64_t applyReduce(ReduceOp op, ReduceType type, uint64_t memory,
                     uint64_t operand, ReduceMode mode = {});

/// Element by element over `bytes`, a multiple of the element's size.
void applyReduceRange(ReduceOp op, ReduceType type, uint8_t *memory,
                      const uint8_t *operand, uint64_t bytes,
                      ReduceMode mode = {});

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_REDUCE_OP_H
