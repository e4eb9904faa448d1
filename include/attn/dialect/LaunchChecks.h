// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel says of its launches, as attributes that its launch plan is
// written from. The names of sizes are those of `args`.
#ifndef ATTN_DIALECT_LAUNCHCHECKS_H
#define ATTN_DIALECT_LAUNCHCHECKS_H

#include "llvm/ADT/StringRef.h"

namespace attn {

/// What has to hold of each launch: a list of [expression, the integer that it
/// has to be, message]. An expression is an integer, the name of a size or of
/// an integer argument, `items` for the number of work items, or a list of an
/// operator of the launch plan and its operands. The runtime puts a size for
/// its name in braces in a message.
constexpr llvm::StringLiteral kChecksAttr = "attn.checks";
constexpr llvm::StringLiteral kItems = "items";

/// The multiprocessors of the device, as expressions of launch plans name them.
constexpr llvm::StringLiteral kMultiprocessors = "sm_count";

/// Whether launch plans use `name` for something else than a size or number of
/// the kernel, or would read it as a number.
bool isReservedName(llvm::StringRef name);

/// The names of the sizes that conditions on launches compare, by the
/// condition's words, and of `heads` and `batches`, whose product with
/// `seqlen_q` are its `rows`.
constexpr llvm::StringLiteral kSizesAttr = "attn.sizes";
constexpr llvm::StringLiteral kHeads = "heads", kBatches = "batches";

} // namespace attn

#endif // ATTN_DIALECT_LAUNCHCHECKS_H
