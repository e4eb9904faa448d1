// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of a forward kernel's arguments and sizes. No other code uses them.
#ifndef ATTN_PASSES_TILING_ARGUMENTNAMES_H
#define ATTN_PASSES_TILING_ARGUMENTNAMES_H

#include "llvm/ADT/StringRef.h"

namespace attn::names {

constexpr llvm::StringLiteral q = "q", k = "k", v = "v", scale = "scale",
                              o = "o", lse = "lse";
/// Bounds of masks have their own names (Masks.td).
constexpr llvm::StringLiteral arguments[] = {q, k, v, scale, o, lse};

/// Batches; positions and heads of Q and O, and of K and V; head dims of Q and
/// K, and of V and O.
constexpr llvm::StringLiteral batches = "b", queries = "sq", keys = "sk",
                              queryHeads = "hq", keyHeads = "hk", dim = "d",
                              dimV = "dv";
constexpr llvm::StringLiteral sizes[] = {batches,  queries, keys, queryHeads,
                                         keyHeads, dim,     dimV};

} // namespace attn::names

#endif // ATTN_PASSES_TILING_ARGUMENTNAMES_H
