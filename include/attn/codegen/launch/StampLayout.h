// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a kernel's stamps in its workspace, for the code that writes
// them and for the launch plan, which tells readers.
//
//   offset   a header for each ring, 32 bytes:
//              at the role's begin  clock, SM, nanoseconds (64 bits)
//              at its end           clock, stamps, nanoseconds (64 bits)
//   first    event 0 of all rings, then event 1 of all rings, ...; each has
//            8 bytes:
//              clock, id (1 for the first of `names`; 0: not written)
//
// Each replica of a role in each CTA has a ring. Rings are ordered by CTA, with
// the last CTA of the grid at the end, then by role and replica.
#ifndef ATTN_CODEGEN_LAUNCH_STAMPLAYOUT_H
#define ATTN_CODEGEN_LAUNCH_STAMPLAYOUT_H

#include "attn/dialect/ItemMemory.h"

namespace attn::codegen {

struct StampLayout {
  static constexpr int64_t headerBytes = 32;
  static constexpr int64_t eventBytes = 8;
  static constexpr int64_t cursorBytes = ws::stampCursorBytes;
  /// The first bytes of a workspace belong to the counter of work items, of
  /// this launch or of another one of the call.
  static constexpr int64_t alignment = 256;

  /// The meaning of a stamp: the activity and its object, or "".
  using Name = std::pair<ws::Activity, llvm::StringRef>;

  /// Returns the layout of a kernel, or nothing if it has no stamps.
  static std::optional<StampLayout> of(ws::KernelOp kernel);

  static Name nameOf(ws::StampOp stamp) {
    return {stamp.getActivity(), stamp.getObject().value_or("")};
  }
  int64_t idOf(ws::StampOp stamp) const {
    return llvm::find(names, nameOf(stamp)) - names.begin() + 1;
  }
  /// Returns the number of the first replica of a role, among all replicas of
  /// its kernel.
  static int64_t firstInstanceOf(ws::RoleOp role);
  int64_t rings() const { return (ctas + 1) * instances; }
  int64_t first() const { return offset + rings() * headerBytes; }
  int64_t stride() const { return rings() * eventBytes; }
  int64_t end() const { return first() + events * stride(); }

  /// The size of the cursors at the end of the kernel's shared memory.
  int64_t sharedBytes() const { return instances * cursorBytes; }

  int64_t offset = 0;
  int64_t events = 0;
  int64_t ctas = 0;
  /// The number of replicas of all roles.
  int64_t instances = 0;
  llvm::SmallVector<Name> names;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_LAUNCH_STAMPLAYOUT_H
