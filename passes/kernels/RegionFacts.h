// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about the integers of a mask or row_keys region that hold for all
// positions, captures and launches.
#ifndef ATTN_PASSES_KERNELS_REGIONFACTS_H
#define ATTN_PASSES_KERNELS_REGIONFACTS_H

#include "attn/dialect/Attn.h"

namespace attn {

/// Numbers from `low` to `high`, both included.
struct Interval {
  int64_t low, high;

  bool contains(const Interval &other) const {
    return low <= other.low && other.high <= high;
  }
  bool isNatural() const { return low >= 0; }
};

/// Returns the numbers of an integer type; an index is computed as an i32.
Interval limitsOf(mlir::Type type);

// Returns the range of exact sums, if all of them fit 64 bits.
std::optional<Interval> add(Interval a, Interval b);
std::optional<Interval> multiply(Interval a, int64_t factor);

/// How a number, or a truth value as 0 or 1, changes when the query's position
/// grows. `Uniform`: it does not depend on it. `Any`: it may increase and
/// decrease. `Unknown`: it depends on floats, and another computation of it may
/// round differently.
enum class Direction { Uniform, Up, Down, Any, Unknown };

Direction reversed(Direction direction);
/// Returns the direction of a sum.
Direction joined(Direction a, Direction b);

/// Whether it is proven that a number does not decrease.
inline bool isOrdered(Direction direction) {
  return direction == Direction::Uniform || direction == Direction::Up;
}

/// Positions include some beyond the last query, since a tile may have them.
class RegionFacts {
public:
  enum class Of { Mask, RowKeys };
  explicit RegionFacts(mlir::Region &region, Of kind = Of::Mask);

  bool usesKey(mlir::Value value) const { return ofKey.contains(value); }
  /// Returns the direction of a value that does not use the key's position.
  Direction directionOf(mlir::Value value) const;
  /// Returns the numbers that an integer may be; an i1 is 0 or 1.
  Interval rangeOf(mlir::Value value) const;
  /// Whether an op of integers always has the exact mathematical result: it
  /// does not wrap, and does not divide by 0.
  bool isExact(mlir::Operation *op) const { return exact.contains(op); }

  mlir::Value getQuery() const { return query; }
  mlir::Value getKey() const { return key; }

private:
  void visit(mlir::Operation &op);
  std::optional<Interval> exactRange(mlir::Operation &op) const;
  Direction findDirection(mlir::Operation &op) const;
  Direction ofComparison(mlir::arith::CmpIOp compare) const;
  Direction ofChoice(mlir::arith::SelectOp select) const;

  mlir::Value query, key; // no key for `row_keys`
  llvm::DenseSet<mlir::Value> ofKey;
  llvm::DenseMap<mlir::Value, Direction> directions;
  llvm::DenseMap<mlir::Value, Interval> ranges;
  llvm::DenseSet<mlir::Operation *> exact;
};

/// Returns the number of a constant, which may be an index; nothing for other
/// values.
std::optional<int64_t> constantOf(mlir::Value value);

/// Whether it is proven that no number of a `row_keys` region decreases from
/// one query to the next.
bool areKeysOrdered(mlir::Region &rowKeys);
/// Whether this is proven for one of its numbers.
bool isKeyOrdered(mlir::Region &rowKeys, unsigned number);

} // namespace attn

#endif // ATTN_PASSES_KERNELS_REGIONFACTS_H
