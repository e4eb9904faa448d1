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
/// The element type of a tensor map as seen by tensor reductions; false if
/// there is none (sub-byte types).
bool reduceTypeOf(TensorType tensor, ReduceType &type);

/// Returns `memory` op `operand`, both as low bits. `ftz` matters for f32 add
/// only: true for global memory, false for shared (PTX ISA, "atom").
uint64_t applyReduce(ReduceOp op, ReduceType type, uint64_t memory,
                     uint64_t operand, bool ftz);

/// Element by element over `bytes`, a multiple of the element's size.
void applyReduceRange(ReduceOp op, ReduceType type, uint8_t *memory,
                      const uint8_t *operand, uint64_t bytes, bool ftz);

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_REDUCE_OP_H
