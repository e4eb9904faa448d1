// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work items of a launch as expressions of its plan: their number, and the
// number of parts of those of the last wave.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

class LaunchItems {
public:
  /// Returns an error if they are not computed from sizes.
  static mlir::FailureOr<LaunchItems> of(ws::KernelOp kernel);

  /// Row blocks, heads and batches.
  llvm::ArrayRef<llvm::json::Value> extents() const { return loopExtents; }
  /// Their product, before any item is cut; an item of a cluster counts once.
  const llvm::json::Value &count() const { return whole; }
  /// The number that CTAs take: each part of an item counts.
  llvm::json::Value handedOut() const;
  bool areCut() const { return mostParts > 1; }
  /// The length along which items are cut.
  const llvm::json::Value &length() const { return cutLength; }
  /// The values with which the plan decides which items are cut.
  llvm::json::Array cutValues() const;
  /// The size of the memory in which parts hand over their values, `partBytes`
  /// bytes each.
  llvm::json::Value partsBytes(int64_t partBytes) const;

private:
  explicit LaunchItems(llvm::SmallVector<llvm::json::Value> extents);

  llvm::SmallVector<llvm::json::Value> loopExtents;
  llvm::json::Value whole = nullptr;
  /// In blocks of this many rows.
  llvm::json::Value cutLength = nullptr;
  int64_t blockRows = 0, mostParts = 1;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H
