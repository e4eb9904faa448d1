// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs a kernel and its mutants.

#ifndef ATTN_TEST_MUTATION_RUNNER_H
#define ATTN_TEST_MUTATION_RUNNER_H

#include "attn/runtime/bundle.h"

#include <string>

namespace attn::mutation {

/// The outcome of one kernel.
struct Verdict {
  /// How the fault was noticed: "load" (the kernel is not accepted), "launch"
  /// (the simulator ends it), "warning" (other reports of the simulator),
  /// "guard" (it wrote where it may not) or "value" (the reference differs);
  /// empty if it was not.
  std::string by;
  std::string message;
  /// Whether some output differs from the original's in any bit.
  bool changed = false;
  size_t problem = 0;
  uint64_t seed = 0;
};

class Runner {
public:
  virtual ~Runner() = default;

  /// Runs the unchanged kernel on the schedules before `schedules`.
  virtual Verdict runOriginal(uint64_t schedules) = 0;
  /// Runs a mutant on the schedules [begin, end) until it is noticed. `changed`
  /// is what earlier schedules have shown.
  virtual Verdict runMutant(const runtime::Bundle &bundle, uint64_t begin,
                            uint64_t end, bool changed = false) = 0;
  /// Whether some problem reaches the trap in `bundle`.
  bool reachesTrap(const runtime::Bundle &bundle) {
    return !runMutant(bundle, 0, 1).by.empty();
  }
};

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_RUNNER_H
