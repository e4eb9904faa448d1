// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work items of a launch as expressions of its plan: how many there are,
// and in how many parts those of the last wave are cut.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H

#include "attn/dialect/Ws.h"
#include "llvm/Support/JSON.h"

namespace attn::codegen {

class LaunchItems {
public:
  /// An error if they are not computed from sizes.
  static mlir::FailureOr<LaunchItems> of(ws::KernelOp kernel);

  /// Row blocks, heads and batches.
  llvm::ArrayRef<llvm::json::Value> extents() const { return loopExtents; }
  /// Their product: each item for all CTAs of a cluster, before any is cut.
  const llvm::json::Value &count() const { return whole; }
  /// As the CTAs take them: each part of one counts.
  llvm::json::Value handedOut() const;
  bool areCut() const { return mostParts > 1; }
  /// The length along which items are cut.
  const llvm::json::Value &length() const { return cutLength; }
  /// The values that the plan computes to decide which items are cut.
  llvm::json::Array cutValues() const;
  /// The bytes in which parts hand over what they have, `partBytes` each.
  llvm::json::Value partsBytes(int64_t partBytes) const;

private:
  explicit LaunchItems(llvm::SmallVector<llvm::json::Value> extents);

  llvm::SmallVector<llvm::json::Value> loopExtents;
  llvm::json::Value whole = nullptr;
  /// In blocks of so many rows.
  llvm::json::Value cutLength = nullptr;
  int64_t blockRows = 0, mostParts = 1;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHITEMS_H
