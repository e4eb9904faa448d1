// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_UNIT_KERNELS_REGION_INTERPRETER_H
#define ATTN_TEST_UNIT_KERNELS_REGION_INTERPRETER_H

#include "attn/dialect/Attn.h"

namespace attn::test {

/// A capture: one number, or the elements of a tensor of rank 1.
using Capture = std::vector<int64_t>;

/// Computes what a region of integers yields, op by op, as attn.attention
/// defines them: all arithmetic wraps, nothing is undefined.
class RegionInterpreter {
public:
  RegionInterpreter(mlir::Region &region, llvm::ArrayRef<Capture> captures);

  /// `leading` are the arguments before the captures.
  llvm::SmallVector<int64_t, 2> run(llvm::ArrayRef<int64_t> leading);

private:
  int64_t compute(mlir::Operation &op);
  int64_t arithmetic(mlir::Operation &op, int64_t a, int64_t b);

  mlir::Region &region;
  llvm::ArrayRef<Capture> captures;
  llvm::DenseMap<mlir::Value, int64_t> values;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_KERNELS_REGION_INTERPRETER_H
