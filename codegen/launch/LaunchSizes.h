// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of a launch, by their meaning.
#ifndef ATTN_CODEGEN_LAUNCH_LAUNCHSIZES_H
#define ATTN_CODEGEN_LAUNCH_LAUNCHSIZES_H

#include "attn/dialect/Ws.h"

namespace attn::codegen {

/// Each is an expression of the launch plan: the name of a size, or its number.
struct LaunchSizes {
  mlir::Attribute batches, queryHeads, queries, keys;

  /// Returns nothing if no arguments of `kernel` are the query and the key.
  static std::optional<LaunchSizes> of(ws::KernelOp kernel);
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_LAUNCHSIZES_H
