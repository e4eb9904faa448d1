// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel says of its launches, as attributes that its launch plan is
// written from. The names of sizes are those of `args`.
#ifndef ATTN_DIALECT_LAUNCHCHECKS_H
#define ATTN_DIALECT_LAUNCHCHECKS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace attn {

/// What has to hold of each launch: a list of [expression, the integer that it
/// has to be, message]. An expression is an integer, the name of a size or of
/// an integer argument, `items` for the number of work items, or a list of an
/// operator of the launch plan and its operands. The runtime puts a size for
/// its name in braces in a message.
constexpr llvm::StringLiteral kChecksAttr = "attn.checks";
constexpr llvm::StringLiteral kItems = "items";

/// An operator of a launch plan's expressions. A variadic one takes `operands`
/// or more, and is computed from the left.
struct LaunchOperator {
  llvm::StringLiteral name;
  size_t operands;
  bool isVariadic;
  /// Of two operands, as the runtime computes it: in 64 bits, with quotients
  /// rounded down. None where the runtime refuses the launch. Null for
  /// `select`, which takes its second operand unless the first is 0.
  std::optional<int64_t> (*compute)(int64_t a, int64_t b);
};
llvm::ArrayRef<LaunchOperator> launchOperators();

/// No launch has so many work items, times the CTAs of a cluster, nor a
/// position so large: they are counted in 32 bits, and a block beyond the last
/// may still be counted.
constexpr int64_t kItemLimit = (int64_t(1) << 31) - (1 << 16);

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

/// Which keys a query sees by the built-in mask, for those who check what a
/// kernel computes: expressions of `first` and `last` in `i`, the query's
/// position. What is absent is open.
constexpr llvm::StringLiteral kKeysAttr = "attn.keys";
constexpr llvm::StringLiteral kFirstKey = "first", kLastKey = "last";
constexpr llvm::StringLiteral kQueryPosition = "i";

} // namespace attn

#endif // ATTN_DIALECT_LAUNCHCHECKS_H
