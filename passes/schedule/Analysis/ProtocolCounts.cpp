// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks totals over all roles: every step runs once (V2), and the ends of an
// edge run equally often (V15).
#include "ProtocolBuilder.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

/// Counts the runs of each instance of each step, whole or by part.
class Coverage {
public:
  explicit Coverage(const ProtocolBuilder &builder);

  void count(int step, int item, int iteration, Subtile t, int part) {
    ++runs[at(step, item, iteration, t) + part + 1];
  }
  /// Column 0: runs of the whole step; other columns: runs of its parts.
  ArrayRef<int> get(int step, int item, int iteration, Subtile t) const {
    return ArrayRef(runs).slice(at(step, item, iteration, t), width(step));
  }

private:
  int width(int step) const { return bound.partsListed[step].size() + 1; }
  int at(int step, int item, int iteration, Subtile t) const {
    return bases[step] +
           ((item * span + iteration + 1) * (bound.subtileCount + 1) + t + 1) *
               width(step);
  }

  const BoundSchedule &bound;
  int span;
  SmallVector<int> bases;
  std::vector<int> runs;
};

} // namespace

Coverage::Coverage(const ProtocolBuilder &builder)
    : bound(builder.bound), span(*llvm::max_element(builder.trips) + 1) {
  int size = 0;
  for (int step = 0, e = builder.kernel.steps.size(); step < e; ++step) {
    bases.push_back(size);
    size += (builder.trips.size() + 1) * span * (bound.subtileCount + 1) *
            width(step);
  }
  runs.assign(size, 0);
}

LogicalResult ProtocolBuilder::checkRuns(int step, int item, int iteration,
                                         Subtile t, ArrayRef<int> runs) const {
  const BitVector &parts = bound.partsListed[step];
  for (int part = -1, e = parts.size(); part < e; ++part) {
    int wanted = part < 0 ? parts.none() : parts[part];
    int got = runs[part + 1];
    if (got == wanted) {
      continue;
    }
    std::string name = quote(kernel.steps[step].name, t);
    if (part >= 0) {
      name += formatv(" part {0}", part);
    }
    if (iteration >= 0) {
      name += formatv(" of iteration {0}", iteration);
    }
    return reject(emitError, "V2",
                  formatv("expected {0} to run {1} for work item {2}, got {3} "
                          "runs",
                          name, wanted ? "once" : "in parts only", item, got));
  }
  return success();
}

/// Counts skipped blocks as done: the mask leaves nothing of them.
static void countSkipped(const Protocol &protocol, int index,
                         Coverage &coverage) {
  const Instance &instance = protocol.bound.instances[index];
  for (int item = 0, e = protocol.trips.size(); item < e; ++item) {
    int trips = protocol.trips[item];
    int first = protocol.skippedBy(instance, item),
        end = trips - protocol.skippedAtEnd(instance, item);
    for (const Entry &entry : instance.kv) {
      if (entry.act != Act::Op || entry.guard != Guard::Always) {
        continue;
      }
      for (int j = 0; j < trips; ++j) {
        if (j < first || j >= end) {
          coverage.count(entry.target, item, j, entry.subtile, entry.part);
        }
      }
    }
  }
}

LogicalResult ProtocolBuilder::checkCoverage() const {
  Coverage coverage(*this);
  for (int i = 0, e = bound.instances.size(); i < e; ++i) {
    for (const Item &item : protocol.items[i]) {
      const PlannedAct &act = *item.act;
      if (act.kind == PlannedAct::Run) {
        coverage.count(act.target, item.item, item.iteration, act.subtile,
                       act.part);
      }
    }
    countSkipped(protocol, i, coverage);
  }
  for (auto [s, step] : llvm::enumerate(kernel.steps)) {
    bool inLoop = step.region == LoopPosition::Loop;
    auto tiles = bound.subtiles(!bound.stepAxis(s).empty());
    for (auto [item, trip] : llvm::enumerate(trips)) {
      for (int j = inLoop ? 0 : -1; j < (inLoop ? trip : 0); ++j) {
        for (Subtile t : tiles) {
          if (!bound.remat[s] &&
              failed(checkRuns(s, item, j, t, coverage.get(s, item, j, t)))) {
            return failure();
          }
        }
      }
    }
  }
  return success();
}

LogicalResult ProtocolBuilder::checkBalance() const {
  for (auto [i, barrier] : llvm::enumerate(bound.barriers)) {
    if (barrier.kind != Barrier::EdgeBarrier) {
      continue;
    }
    int low = std::numeric_limits<int>::max(), high = -1;
    auto take = [&](int count) {
      low = std::min(low, count);
      high = std::max(high, count);
    };
    for (int source : bound.sources[i].set_bits()) {
      take(signalCount[i][source]);
    }
    if (bound.edges[barrier.owner].joins < 0) {
      for (int waiter : bound.waiters[i].set_bits()) {
        take(waitCount[i][waiter]);
      }
    }
    if (high > low) {
      return reject(
          emitError, "V15",
          formatv("expected all ends of {0} to cycle equally, got {1} "
                  "and {2} cycles",
                  bound.describeBarrier(i), low, high));
    }
  }
  return success();
}
