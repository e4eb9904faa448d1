// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's requirements on its launches, as attributes from which its launch
// plan is written. The names of sizes are those in `args`.
#ifndef ATTN_DIALECT_LAUNCHCHECKS_H
#define ATTN_DIALECT_LAUNCHCHECKS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// The preconditions of each launch: a list of dictionaries, each a
/// `LaunchCheck`. Their expressions are those of launch plans, over the names
/// of sizes and integer arguments, and `items` for the number of work items.
/// The runtime replaces names in braces in a message by their sizes.
constexpr llvm::StringLiteral kChecksAttr = "attn.checks";
constexpr llvm::StringLiteral kItems = "items";

/// `{expr = #launch.apply<mod(hq, hk)>, equals = 0, message = "..."}`: a launch
/// for which `expr` is another number than `equals` is refused.
struct LaunchCheck {
  mlir::Attribute expr;
  int64_t equals;
  mlir::StringAttr message;

  /// Returns nothing if `attr` is no such dictionary; its expression may be any
  /// attribute.
  static std::optional<LaunchCheck> from(mlir::Attribute attr);
  mlir::DictionaryAttr toAttr() const;

  bool operator==(const LaunchCheck &other) const {
    return expr == other.expr && equals == other.equals &&
           message == other.message;
  }
};

/// An operator of a launch plan's expressions. A variadic one takes at least
/// `operands` operands, and is evaluated from the left.
struct LaunchOperator {
  LaunchOp op;
  size_t operands;
  bool isVariadic;
  /// Evaluates two operands like the runtime: in 64 bits, with quotients
  /// rounded down. Returns nothing if the runtime refuses the launch. Null for
  /// `select`, which returns its second operand unless the first is 0.
  std::optional<int64_t> (*compute)(int64_t a, int64_t b);
};
llvm::ArrayRef<LaunchOperator> launchOperators();

const LaunchOperator &launchOperator(LaunchOp op);

/// The limit on the number of work items, times the CTAs of a cluster, and on
/// positions: they are counted in 32 bits, and a block beyond the last one may
/// still be counted.
constexpr int64_t kItemLimit = (int64_t(1) << 31) - (1 << 16);

/// The name of the number of multiprocessors in expressions of launch plans.
constexpr llvm::StringLiteral kMultiprocessors = "sm_count";

/// Whether `name` has another meaning in launch plans than a size or number of
/// the kernel, or would be read as a number.
bool isReservedName(llvm::StringRef name);

/// The keys that a query sees under the built-in mask, for programs that check
/// the results of a kernel: expressions for `first` and `last` in `i`, the
/// query's position. A missing expression means that the side is open.
constexpr llvm::StringLiteral kKeysAttr = "attn.keys";
constexpr llvm::StringLiteral kFirstKey = "first", kLastKey = "last";
constexpr llvm::StringLiteral kQueryPosition = "i";

} // namespace attn

#endif // ATTN_DIALECT_LAUNCHCHECKS_H
