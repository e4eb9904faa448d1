// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PASSES_VALUENAMES_H
#define ATTN_PASSES_VALUENAMES_H
#include "attn/dialect/Tile.h"
namespace attn {
/// Names by which a schedule's places refer to the results of a step.
llvm::SmallVector<llvm::StringRef> getResultNames(tile::StepOp step);
}
#endif
