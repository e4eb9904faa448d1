// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stamps of an instrumented kernel: what each role did when, by the clock
// of its SM. The plan's report describes their layout in the workspace.

#ifndef ATTN_TOOLS_ATTN_RUN_STAMPS_H
#define ATTN_TOOLS_ATTN_RUN_STAMPS_H

#include "trace/timeline.h"

#include <string>
#include <vector>

namespace attn::run {

struct StampPlan {
  struct Name {
    std::string activity; // "wait", "mma", ...
    std::string object;   // the object, or ""
  };

  /// The kernel that records.
  std::string kernel;
  /// The offset of the first ring's header, in bytes.
  uint64_t offset = 0;
  /// The number of stamps that a ring keeps.
  uint64_t events = 0;
  /// The number of CTAs with stamps, without the last one of the grid.
  uint64_t ctas = 0;
  /// The names of the stamps' ids; the first id is 1.
  std::vector<Name> names;
  /// The rings of a CTA: the replicas of its roles.
  std::vector<std::string> roles;

  uint64_t ringCount() const { return (ctas + 1) * roles.size(); }
  /// The end of the stamps in the workspace, in bytes.
  uint64_t end() const;
};

/// Reads the report of a variant in a launch plan. Returns false if there are
/// no stamps, with `err` set if their description is invalid.
bool readStampPlan(const std::string &planText, size_t variant, StampPlan &plan,
                   std::string &err);

/// Decodes the stamps in a workspace, in cycles since the first CTA's begin.
/// The workspace must have been zero before the launch.
trace::Timeline decodeStamps(const StampPlan &plan,
                             const std::vector<unsigned char> &workspace);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_STAMPS_H
