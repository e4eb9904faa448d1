// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel and its mutants on the simulator, on a few small problems and
// several schedules of each.

#ifndef ATTN_TEST_MUTATION_TRIAL_H
#define ATTN_TEST_MUTATION_TRIAL_H

#include "runner.h"
#include "session.h"
#include "sim_memory.h"

namespace attn::mutation {

class Trial final : public Runner {
public:
  /// The number of multiprocessors is small, so that a CTA gets several work
  /// items.
  Trial(runtime::LaunchPlan plan, uint64_t multiprocessors);
  Trial(const Trial &) = delete;
  ~Trial() override { attn_bundle_destroy(loaded); }

  /// Opens another kernel, with the arguments of the previous one.
  bool open(const runtime::Bundle &bundle);
  const std::string &getError() const { return error; }

  /// Adds a problem that is run on at most `schedules` schedules.
  bool addProblem(const run::Options &shape, uint64_t schedules,
                  std::string &err);

  /// Keeps the outputs for comparison.
  Verdict runOriginal(uint64_t schedules) override;
  Verdict runMutant(const runtime::Bundle &bundle, uint64_t begin, uint64_t end,
                    bool changed = false) override;

private:
  struct Case {
    std::unique_ptr<run::Session> session;
    uint64_t schedules = 0;
    /// The original's outputs.
    std::vector<std::vector<unsigned char>> expected;
  };

  bool runOnce(Case &each, uint64_t seed, Verdict &verdict);
  bool isExpected(const Case &each) const;

  run::SimGpu gpu;
  runtime::LaunchPlan plan;
  attn_bundle *loaded = nullptr;
  std::string error;
  std::vector<Case> cases;
};

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_TRIAL_H
