// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx_trial.h"

#include "attn/runtime/attn.h"
#include "ptx_launch.h"

#include <memory>

using namespace attn;
using namespace attn::mutation;

/// The simulator's last warning.
static std::string warning;

static void noteWarning(attn_log_level level, const char *message, void *) {
  if (level == ATTN_LOG_WARNING && warning.empty()) {
    warning = message;
  }
}

namespace {

/// A problem of one kernel.
struct Case {
  explicit Case(const std::string &launch) : run(options, err) {
    options.launch = launch;
  }

  run::Options options;
  std::string err;
  run::PtxRun run;
};

} // namespace

PtxTrial::PtxTrial(const runtime::Bundle &bundle,
                   std::vector<std::string> launches)
    : original(bundle), launches(std::move(launches)) {
  attn_set_log_callback(noteWarning, nullptr);
}

static bool runOnce(Case &each, uint64_t seed, Verdict &verdict) {
  warning.clear();
  verdict.seed = seed;
  if (!each.run.launch(seed)) {
    verdict.by = "launch";
    verdict.message = each.err;
  } else if (!warning.empty()) {
    verdict.by = "warning";
    verdict.message = warning;
  } else if (!each.run.checkOutputs(/*isFirst=*/false)) {
    verdict.by = "value";
    verdict.message = each.err;
  }
  return verdict.by.empty();
}

Verdict PtxTrial::runOriginal(uint64_t schedules) {
  return runMutant(original, 0, schedules);
}

Verdict PtxTrial::runMutant(const runtime::Bundle &bundle, uint64_t begin,
                            uint64_t end, bool) {
  Verdict verdict;
  std::vector<std::unique_ptr<Case>> cases;
  for (const std::string &launch : launches) {
    cases.push_back(std::make_unique<Case>(launch));
    if (!cases.back()->run.prepare(bundle.ptx)) {
      verdict.by = "load";
      verdict.message = cases.back()->err;
      return verdict;
    }
  }
  for (uint64_t seed = begin; seed < end; ++seed) {
    for (verdict.problem = 0; verdict.problem < cases.size();
         ++verdict.problem) {
      if (!runOnce(*cases[verdict.problem], seed, verdict)) {
        return verdict;
      }
    }
  }
  return verdict;
}
