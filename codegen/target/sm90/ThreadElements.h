// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of global memory that a thread of a warpgroup reads and writes.
#ifndef ATTN_CODEGEN_SM90_THREADELEMENTS_H
#define ATTN_CODEGEN_SM90_THREADELEMENTS_H

#include "Patterns.h"

namespace attn::codegen {

/// A thread has two rows of a tile of 64, eight apart, and a quad shares them.
constexpr int64_t rowsPerThread = 2;

/// The number in its warpgroup's tile of this thread's row `i`.
mlir::Value threadRow(const Arithmetic &emit, int64_t i);

/// The column of this thread's element `i` of a vector of columns: it has two
/// of every eight, and more than `rowsPerThread` in all.
mlir::Value threadColumn(const Arithmetic &emit, int64_t i);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_SM90_THREADELEMENTS_H
