// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trial.h"

#include <algorithm>

using namespace attn;
using namespace attn::mutation;

/// The simulator's last warning; unchanged kernels may cause none.
static std::string warning;

static void noteWarning(attn_log_level level, const char *message, void *) {
  if (level == ATTN_LOG_WARNING && warning.empty()) {
    warning = message;
  }
}

Trial::Trial(runtime::LaunchPlan plan, uint64_t multiprocessors)
    : plan(std::move(plan)) {
  gpu.setMultiprocessorCount(int64_t(multiprocessors));
  attn_set_log_callback(noteWarning, nullptr);
}

bool Trial::open(const runtime::Bundle &bundle) {
  attn_bundle_destroy(loaded);
  std::vector<char> image = runtime::writeBundle(bundle);
  if (attn_bundle_load(nullptr, image.data(), image.size(), &loaded)) {
    error = attn_last_error();
    return false;
  }
  if (!gpu.prepare(loaded)) {
    error = gpu.getError();
    return false;
  }
  for (Case &each : cases) {
    if (!each.session->restart(loaded)) {
      error = each.session->getError();
      return false;
    }
  }
  return true;
}

bool Trial::addProblem(const run::Options &shape, uint64_t schedules,
                       std::string &err) {
  Case added;
  added.session = std::make_unique<run::Session>(
      gpu, loaded, plan, run::makeProblem(plan, shape), shape.timeout);
  added.schedules = schedules;
  cases.push_back(std::move(added));
  if (!cases.back().session->prepare()) {
    err = cases.back().session->getError();
    return false;
  }
  return true;
}

bool Trial::isExpected(const Case &each) const {
  size_t output = 0;
  for (const run::HostTensor &tensor : each.session->getTensors()) {
    if (tensor.isOutput && (output >= each.expected.size() ||
                            tensor.bytes != each.expected[output++])) {
      return false;
    }
  }
  return true;
}

/// Runs one problem on one schedule. False if something is wrong.
bool Trial::runOnce(Case &each, uint64_t seed, Verdict &verdict) {
  run::Session &session = *each.session;
  verdict.seed = seed;
  gpu.setSchedule(seed);
  warning.clear();
  if (!session.launchAndDownload()) {
    verdict.by = "launch";
    verdict.message = session.getError();
  } else if (!warning.empty()) {
    verdict.by = "warning";
    verdict.message = warning;
  } else if (!session.checkGuards()) {
    verdict.by = "guard";
    verdict.message = session.getError();
  } else if (!isExpected(each)) {
    // Outputs that equal the original's bits have been compared with the
    // reference already.
    verdict.changed = true;
    verdict.message = session.check().failure;
    verdict.by = verdict.message.empty() ? "" : "value";
  }
  return verdict.by.empty();
}

Verdict Trial::runOriginal(uint64_t schedules) {
  Verdict verdict;
  for (verdict.problem = 0; verdict.problem < cases.size(); ++verdict.problem) {
    Case &each = cases[verdict.problem];
    for (uint64_t seed = 0; seed < schedules; ++seed) {
      if (!runOnce(each, seed, verdict)) {
        return verdict;
      }
      for (const run::HostTensor &tensor : each.session->getTensors()) {
        if (tensor.isOutput && seed == 0) {
          each.expected.push_back(tensor.bytes);
        }
      }
    }
  }
  return verdict;
}

Verdict Trial::runMutant(const runtime::Bundle &bundle, uint64_t begin,
                         uint64_t end, bool changed) {
  Verdict verdict;
  verdict.changed = changed;
  if (!open(bundle)) {
    verdict.by = "load";
    verdict.message = error;
    return verdict;
  }
  for (uint64_t seed = begin; seed < end; ++seed) {
    for (verdict.problem = 0; verdict.problem < cases.size();
         ++verdict.problem) {
      Case &each = cases[verdict.problem];
      if (seed < each.schedules && !runOnce(each, seed, verdict)) {
        return verdict;
      }
    }
  }
  return verdict;
}
