// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators that are still zero when the first step scales them.

#ifndef ATTN_PASSES_PIPELINING_ZEROSCALING_H
#define ATTN_PASSES_PIPELINING_ZEROSCALING_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// +0 times a factor that is finite and not negative, whatever the scores,
/// is +0: drops such products from `loop`, an expanded streaming loop. The
/// generic folds do not, as they know too little of the factor.
void dropScalingOfZeros(mlir::scf::IfOp loop);

} // namespace attn

#endif // ATTN_PASSES_PIPELINING_ZEROSCALING_H
