// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work items of a launch as expressions of its plan: their number, and the
// number of parts of those of the last wave.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H

#include "attn/dialect/Launch.h"

namespace attn::codegen {

class LaunchItems {
public:
  /// The costs of a block, of a part, and of merging another part,
  /// relative to one another.
  struct Costs {
    int64_t block = 2, part = 1, merging = 1;
  };

  /// Returns an error if they are not computed from sizes, or if their parts
  /// cannot be joined.
  static mlir::FailureOr<LaunchItems> of(ws::KernelOp kernel);

  /// Row blocks, heads and batches.
  llvm::ArrayRef<mlir::Attribute> extents() const { return loopExtents; }
  /// Their product, before any item is cut; an item of a cluster counts once.
  mlir::Attribute count() const { return whole; }
  /// The number that CTAs take: each part of an item counts.
  mlir::Attribute handedOut() const;
  bool areCut() const { return mostParts > 1; }
  /// The length along which items are cut.
  mlir::Attribute length() const { return cutLength; }
  /// Creates the values with which the plan decides which items are cut.
  void createCutValues(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The end of the memory in which parts hand over their values, if items are
  /// cut.
  mlir::Attribute joinedEnd() const;

private:
  explicit LaunchItems(llvm::SmallVector<mlir::Attribute> extents);

  llvm::SmallVector<mlir::Attribute> loopExtents;
  launch::Expressions make;
  mlir::Attribute whole;
  /// The length along which items are cut, in blocks of `blockRows` rows.
  mlir::Attribute cutLength;
  int64_t blockRows = 0, mostParts = 1;
  Costs costs;
  /// The bytes of a part's values, and where those of the first part begin.
  int64_t partBytes = 0, firstPart = 0;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H
