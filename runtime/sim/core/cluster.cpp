// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/cluster.h"

#include "core/deadlock.h"

#include <algorithm>

using namespace attn::sim;

/// After a cluster with a higher number has failed, a cluster gets this many
/// turns more: if it fails too, it is the one to report.
static constexpr uint64_t kTurnsAfterFailure = 1024;
/// One in so many requests to cancel a cluster fails on random schedules.
static constexpr unsigned kFailingRequests = 8;

Cluster::Cluster(const Program &program, const GridLaunch &launch,
                 const GlobalMemory &memory, const SimOptions &options,
                 ClusterQueue &queue, uint64_t number)
    : number(number),
      ctaCount(launch.cluster[0] * launch.cluster[1] * launch.cluster[2]),
      queue(queue), turns(options.seed, number) {
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

/// A request may fail although clusters wait. All fail on seed 1.
std::optional<uint64_t> Cluster::cancelNext(Cta &by) {
  return turns.isBackward() || by.chance(kFailingRequests) ? std::nullopt
                                                           : queue.take();
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

static std::string findFailure(const CtaTurns::Ctas &ctas) {
  for (const auto &cta : ctas) {
    if (!cta->reports.getFailure().empty()) {
      return cta->reports.getFailure();
    }
  }
  return "";
}

static std::string describeDeadlock(const CtaTurns::Ctas &ctas) {
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
    failure = describeDeadlock(ctas);
    return;
  }
  for (const auto &cta : ctas) {
    cta->registers.checkEnd(*cta);
  }
  if (observer && findFailure(ctas).empty()) {
    observer->onEnd();
  }
  failure = findFailure(ctas);
}

bool Cluster::mustStop(uint64_t firstFailed) {
  if (firstFailed == kNoneFailed) {
    return false;
  }
  return firstFailed < number || ++turnsSinceFailure > kTurnsAfterFailure;
}

void Cluster::setNeighbor(Cluster *cluster) {
  neighbor = cluster;
  for (const auto &cta : ctas) {
    if (TensorUnit *unit = cta->inFlight.findTensorUnit()) {
      unit->allocator.neighbor = nullptr;
    }
  }
  wake();
}

void Cluster::wake() {
  isStuck = false;
  for (const auto &cta : ctas) {
    ++cta->changes;
  }
}

/// Whether a warp waits for columns that the neighbor may give up.
static bool waitsForColumns(const CtaTurns::Ctas &ctas) {
  return std::any_of(ctas.begin(), ctas.end(), [](const auto &cta) {
    return waitsForTensorMemory(*cta);
  });
}

bool Cluster::run(uint64_t firstFailed) {
  if (mustStop(firstFailed)) {
    return false;
  }
  if (turns.mustStart(ctas)) {
    turns.startOne(ctas);
  }
  isStuck = !turns.takeTurn(ctas) && !turns.startOne(ctas) &&
            !turns.completeOne(ctas);
  if (isStuck) {
    if (neighbor && !neighbor->isStuck && waitsForColumns(ctas)) {
      return true;
    }
    finish();
    return false;
  }
  failure = findFailure(ctas);
  return failure.empty();
}
