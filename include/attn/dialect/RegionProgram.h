// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Score and mask regions as lists of words, for programs without MLIR.
#ifndef ATTN_DIALECT_REGIONPROGRAM_H
#define ATTN_DIALECT_REGIONPROGRAM_H

#include "attn/dialect/Attn.h"

namespace attn {

/// The discardable attribute of a kernel that holds describeRegions().
constexpr llvm::StringLiteral kRegionProgramsAttr = "attn.region_programs";

/// Returns {score = [...], mask = [...]}, each without the region that the op
/// lacks; null if it has neither. An op is a list of words: its type, its name
/// and its operands (docs/launch-plan.md). `captureNames` are those of the
/// kernel's arguments.
mlir::DictionaryAttr describeRegions(AttentionOp attention,
                                     llvm::ArrayRef<std::string> captureNames);

/// Whether an op of a region asks for an instruction that approximates it more
/// coarsely than the op itself is: `math.tanh` with `afn`. No other flag of an
/// op has a meaning in a region.
bool mayApproximate(mlir::Operation &op);

} // namespace attn

#endif // ATTN_DIALECT_REGIONPROGRAM_H
