// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stamps of an instrumented kernel: when each role did what, by the clock
// of its SM. The compiler says in the plan's report where they lie in the
// workspace.

#ifndef ATTN_TOOLS_ATTN_RUN_STAMPS_H
#define ATTN_TOOLS_ATTN_RUN_STAMPS_H

#include "trace/timeline.h"

#include <string>
#include <vector>

namespace attn::run {

struct StampPlan {
  struct Name {
    std::string activity; // "wait", "mma", ...
    std::string object;   // of what, "" for nothing
  };

  /// Of the first ring's header, bytes.
  uint64_t offset = 0;
  /// Stamps kept of a ring.
  uint64_t events = 0;
  /// CTAs with stamps, beside the last of the grid.
  uint64_t ctas = 0;
  /// What a stamp's id says; the first one's is 1.
  std::vector<Name> names;
  /// The rings of a CTA: its roles' replicas.
  std::vector<std::string> roles;

  uint64_t ringCount() const { return (ctas + 1) * roles.size(); }
  /// The bytes of workspace that stamps and what stands before them take.
  uint64_t end() const;
};

/// Reads the report of a variant in a launch plan. False if there are no
/// stamps, and with `err` set if there are some that make no sense.
bool readStampPlan(const std::string &planText, size_t variant, StampPlan &plan,
                   std::string &err);

/// What the stamps in a workspace say, in cycles since the first CTA's begin.
/// The workspace was zero before the launch.
trace::Timeline decodeStamps(const StampPlan &plan,
                             const std::vector<unsigned char> &workspace);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_STAMPS_H
