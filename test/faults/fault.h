// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults that can be planted in a kernel, at three levels.
#ifndef ATTN_FAULTS_FAULT_H
#define ATTN_FAULTS_FAULT_H

#include "attn/dialect/Ws.h"

namespace attn::faults {

/// One change of the IR. The list is made before any is planted.
struct Fault {
  /// The kind of change, in one word: "drop".
  std::string kind;
  /// The role and the part of its program: "wg loop".
  std::string place;
  /// The op and the object it is about: "release k".
  std::string object;
  /// Tells apart faults of one kind and place.
  std::string detail;
  /// The line of the input, 0 if it has none.
  unsigned line;
  std::function<void()> plant;
};
using Faults = std::vector<Fault>;

/// Changes of the schedule of a kernel whose steps are not yet in roles.
void addPlanFaults(tile::KernelOp kernel, Faults &faults);
/// Changes of modulo schedules: the loops that `attn-pipeline` expands.
void addLoopFaults(ws::ForOp loop, Faults &faults);
/// Changes of operations that synchronize or touch shared memory, of the
/// control flow around them, and of the objects they use.
void addProgramFaults(ws::KernelOp kernel, Faults &faults);

/// A fault of `op`, whose place and object follow from its position.
Fault faultAt(mlir::Operation *op, llvm::StringRef kind,
              const llvm::Twine &detail, std::function<void()> plant);
/// Whether `op` synchronizes or accesses what roles share.
bool isEvent(mlir::Operation *op);
/// Whether `op` is an event or contains one.
bool hasEvent(mlir::Operation *op);

} // namespace attn::faults

#endif // ATTN_FAULTS_FAULT_H
