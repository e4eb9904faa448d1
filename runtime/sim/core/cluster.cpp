// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/cluster.h"

#include "core/deadlock.h"

#include <algorithm>

using namespace attn::sim;

/// CTAs that never block may wait for a CTA that has not started.
static constexpr uint64_t kTurnsUntilStart = 64;
/// The number of turns left after another cluster has failed, in which this one
/// may also fail.
static constexpr uint64_t kTurnsAfterFailure = 1024;

Cluster::Cluster(const Program &program, const GridLaunch &launch,
                 const GlobalMemory &memory, const SimOptions &options,
                 uint64_t number)
    : number(number),
      ctaCount(launch.cluster[0] * launch.cluster[1] * launch.cluster[2]),
      random(~options.seed * 0x9e3779b97f4a7c15 + number),
      randomly(options.seed > 1), backward(options.seed == 1) {
  for (uint32_t rank = 0; rank < ctaCount; ++rank) {
    ctas.push_back(std::make_unique<Cta>(program, launch, memory, options,
                                         *this, number, rank));
    barrier.live += ctas.back()->threads;
  }
}

uint64_t Cluster::getInstructionCount() const {
  uint64_t sum = 0;
  for (const auto &cta : ctas) {
    sum += cta->getInstructionCount();
  }
  return sum;
}

void Cluster::mergeReports(Reports &to) const {
  for (const auto &cta : ctas) {
    to.merge(cta->reports.getReports());
  }
}

Cta *Cluster::findRank(uint32_t rank, std::string &problem) {
  if (rank >= size()) {
    problem = "expected a CTA rank below " + std::to_string(size()) + ", got " +
              std::to_string(rank) + ruleSuffix(Rule::Bounds);
    return nullptr;
  }
  Cta &cta = *ctas[rank];
  if (cta.hasStarted && !cta.isDone()) {
    return &cta;
  }
  problem = "the CTA of rank " + std::to_string(rank) +
            (cta.hasStarted
                 ? " may have exited" + ruleSuffix(Rule::ClusterExited)
                 : " may not have started" + ruleSuffix(Rule::ClusterStart));
  return nullptr;
}

void Cluster::completePhase() {
  if (barrier.arrived < barrier.live) {
    return;
  }
  barrier.arrived = 0;
  ++barrier.generation;
  if (observer) {
    observer->onClusterBarrier();
  }
  for (const auto &cta : ctas) {
    ++cta->changes;
  }
}

void Cluster::arrive(uint32_t count) {
  barrier.arrived += count;
  completePhase();
}

void Cluster::leave(uint32_t count, uint32_t arrived) {
  barrier.live -= count;
  barrier.arrived -= arrived;
  if (barrier.live != 0) {
    completePhase();
  }
}

bool Cluster::startOne() {
  if (started == size()) {
    return false;
  }
  std::vector<Cta *> waiting;
  for (const auto &cta : ctas) {
    if (!cta->hasStarted) {
      waiting.push_back(cta.get());
    }
  }
  size_t index = randomly   ? random.below(waiting.size())
                 : backward ? waiting.size() - 1
                            : 0;
  waiting[index]->hasStarted = true;
  ++started;
  turnsSinceStart = 0;
  return true;
}

/// Runs one CTA that can run for a while: in order, or any. Returns false if
/// none can.
bool Cluster::takeTurn() {
  size_t first = randomly && size() > 1 ? random.below(size()) : turn;
  for (size_t i = 0; i < size(); ++i) {
    size_t index = (first + i) % size();
    if (ctas[index]->hasStarted && ctas[index]->takeTurn()) {
      turn = (index + 1) % size();
      return true;
    }
  }
  return false;
}

bool Cluster::completeOne() {
  size_t first = randomly && size() > 1 ? random.below(size()) : 0;
  for (size_t i = 0; i < size(); ++i) {
    if (ctas[(first + i) % size()]->inFlight.completeOne()) {
      return true;
    }
  }
  return false;
}

std::string Cluster::findFailure() const {
  for (const auto &cta : ctas) {
    if (!cta->reports.getFailure().empty()) {
      return cta->reports.getFailure();
    }
  }
  return "";
}

std::string Cluster::describeDeadlock() const {
  Rule rule = Rule::Deadlock;
  std::string text;
  for (const auto &cta : ctas) {
    rule = rule == Rule::Deadlock ? findDeadlockRule(*cta) : rule;
    text += describeBlocked(*cta);
  }
  return "deadlock: no warp can run" + ruleSuffix(rule) + text;
}

void Cluster::finish() {
  if (!std::all_of(ctas.begin(), ctas.end(),
                   [](const auto &cta) { return cta->isDone(); })) {
    failure = describeDeadlock();
    return;
  }
  for (const auto &cta : ctas) {
    cta->registers.checkEnd(*cta);
  }
  if (observer && findFailure().empty()) {
    observer->onEnd();
  }
  failure = findFailure();
}

bool Cluster::mustStop(uint64_t firstFailed) {
  if (firstFailed == kNoneFailed) {
    return false;
  }
  return firstFailed < number || ++turnsSinceFailure > kTurnsAfterFailure;
}

bool Cluster::run(uint64_t firstFailed) {
  if (mustStop(firstFailed)) {
    return false;
  }
  bool start = started == 0 || ++turnsSinceStart > kTurnsUntilStart ||
               (randomly && size() > 1 && random.below(8) == 0);
  if (start) {
    startOne();
  }
  if (!takeTurn() && !startOne() && !completeOne()) {
    finish();
    return false;
  }
  failure = findFailure();
  return failure.empty();
}
