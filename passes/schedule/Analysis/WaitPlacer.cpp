// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a role that awaits its own MMAs waits for the values of channels. The
// waits are entries of its body, as they are in the loop that is emitted: at a
// `get`, or before the first entry of the list that reads the value, at that
// entry's shift. Values from outside the loop are waited for before it.
#include "BoundSchedule.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

namespace {

class WaitPlacer {
public:
  WaitPlacer(const BoundSchedule &bound, Instance &instance)
      : bound(bound), instance(instance) {}

  void place();

private:
  void placeBefore(const Entry &reader);
  bool isWaitedFor(int value, int step) const;
  /// Whether this is the first wait for the cycle that carries a value.
  bool isFirst(int value, Subtile t) {
    const Place &place = *bound.channelOf(value);
    int first = place.cycles[place.cycleOf(value)].front();
    return waited.insert({first, t}).second;
  }

  const BoundSchedule &bound;
  Instance &instance;
  SmallVector<Entry> loop;
  llvm::SmallDenseSet<std::pair<int, Subtile>> waited; // first of a cycle
};

} // namespace

/// Returns whether a step needs a wait for a value. Channels for some readers
/// alone and carried values in channels have no lowering; work items are read
/// where they begin.
bool WaitPlacer::isWaitedFor(int value, int step) const {
  const KernelValue &read = bound.kernel->values[value];
  const Place *home = bound.homeOf(value, step, instance);
  return home && home->channel && home == bound.channelOf(value) &&
         read.origin == Origin::Step && !read.isWork &&
         !bound.remat[read.producer];
}

void WaitPlacer::placeBefore(const Entry &reader) {
  for (int value : bound.kernel->steps[reader.target].reads) {
    if (!isWaitedFor(value, reader.target)) {
      continue;
    }
    for (Subtile t : bound.subtilesRead(reader.target, value, reader.subtile)) {
      if (!isFirst(value, t)) {
        continue;
      }
      Entry wait{Guard::Always, Act::Get, value, t};
      if (bound.kernel->values[value].perIteration()) {
        wait.shift = reader.shift;
        loop.push_back(wait);
      } else {
        instance.before.push_back(wait);
      }
    }
  }
}

void WaitPlacer::place() {
  for (const Entry &entry : instance.kv) {
    if (entry.act == Act::Get &&
        bound.kernel->values[entry.target].perIteration()) {
      isFirst(entry.target, entry.subtile);
    }
  }
  for (const Entry &entry : instance.kv) {
    if (entry.act == Act::Op) {
      placeBefore(entry);
    }
    loop.push_back(entry);
  }
  instance.kv = std::move(loop);
}

void BoundSchedule::placeWaits() {
  for (Instance &instance : instances) {
    if (awaitsProducts()) {
      WaitPlacer(*this, instance).place();
    }
  }
}
