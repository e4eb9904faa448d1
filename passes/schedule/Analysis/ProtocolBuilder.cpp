// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unrolls plans, and finds the reads and writes of each act (V5).
#include "ProtocolBuilder.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

int Protocol::skippedBy(const Instance &instance, int item) const {
  if (skipped.right.empty() || !bound.skipsBlocks(instance) ||
      item >= int(trips.size())) {
    return 0;
  }
  int later = (bound.cluster - cta) * bound.subtileCount - 1 - instance.replica;
  return later == 0 ? 0 : std::min(trips[item], skipped.right[later - 1][item]);
}

int Protocol::skippedAtEnd(const Instance &instance, int item) const {
  if (skipped.left.empty() || !bound.skipsBlocks(instance) ||
      item >= int(trips.size())) {
    return 0;
  }
  int before = cta * bound.subtileCount + instance.replica;
  int rest = trips[item] - skippedBy(instance, item);
  return before == 0 ? 0 : std::min(rest, skipped.left[before - 1][item]);
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

CycleTable::CycleTable(const BoundSchedule &bound, ArrayRef<int> trips)
    : bound(bound), items(trips.size() + 1), span(2) {
  for (int trip : trips) {
    span = std::max(span, trip + 1);
  }
  int size = 0;
  for (const Place &place : bound.places) {
    for (int t = whole; t < bound.subtileCount; ++t) {
      ringOffsets.push_back(size);
      size += place.cycles.size() * items * span;
    }
  }
  counts.assign(ringOffsets.size(), 0);
  numbers.assign(size, -1);
}

int CycleTable::key(const Place &place, Subtile t,
                    ValueInstance instance) const {
  int cycle = place.cycleOf(instance.value);
  return ringOffsets[bound.ringOf(place, t)] +
         (cycle * items + instance.item) * span + instance.iteration + 1;
}

int CycleTable::numberOf(const Place &place, Subtile t,
                         ValueInstance instance) {
  int &number = numbers[key(place, t, instance)];
  if (number < 0) {
    number = counts[bound.ringOf(place, t)]++;
  }
  return number;
}

int CycleTable::find(const Place &place, Subtile t,
                     ValueInstance instance) const {
  return numbers[key(place, t, instance)];
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {

/// Unrolls the plan of one role.
class Unroller {
public:
  Unroller(const Protocol &protocol, int index, SmallVectorImpl<Item> &items)
      : protocol(protocol), instance(protocol.bound.instances[index]),
        plan(protocol.bound.plans[index]), trips(protocol.trips), items(items) {
  }

  void unroll();

private:
  void unrollOutside(const PlannedActs &acts, int last);
  void unrollLoop(int item);
  void unrollTimeStep(int item, int time, int times);
  void unrollEnd();
  void addAll(const PlannedActs &acts, int item, int iteration = -1) {
    for (const PlannedAct &act : acts) {
      items.push_back({&act, &acts, item, iteration});
    }
  }
  /// Iterations that the instance does not skip.
  int tripsOf(int item) const {
    return trips[item] - protocol.skippedBy(instance, item) -
           protocol.skippedAtEnd(instance, item);
  }

  const Protocol &protocol;
  const Instance &instance;
  const RolePlan &plan;
  ArrayRef<int> trips;
  SmallVectorImpl<Item> &items;
};

} // namespace

static int largestShift(const PlannedActs &acts) {
  int largest = 0;
  for (const PlannedAct &act : acts) {
    largest = std::max(largest, act.shift);
  }
  return largest;
}

/// Unrolls acts before and after the loop, in the work item `last` or, by their
/// shift, in one before it.
/// An await that ends all stores in flight also runs in the first iteration.
void Unroller::unrollOutside(const PlannedActs &acts, int last) {
  bool endsAll = protocol.bound.awaitsProducts() && last < int(trips.size());
  for (const PlannedAct &act : acts) {
    int item = last - act.shift;
    if (act.kind == PlannedAct::Await && endsAll) {
      item = std::max(item, 0);
    }
    if (item >= 0 && item < int(trips.size()) &&
        (act.guard != Guard::Nonempty || tripsOf(item) > 0)) {
      items.push_back({&act, &acts, item});
    }
  }
}

/// Unrolls one time step: `x + s` runs x for the iteration s time steps ago.
void Unroller::unrollTimeStep(int item, int time, int times) {
  int first = protocol.skippedBy(instance, item);
  for (const PlannedAct &act : plan.timeStep) {
    int iteration = time - act.shift;
    if (act.guard == Guard::Always) {
      if (iteration >= 0 && iteration < tripsOf(item)) {
        items.push_back({&act, &plan.timeStep, item, first + iteration});
      }
    } else if (time == (act.guard == Guard::Once ? 0 : times - 1)) {
      items.push_back({&act, &plan.timeStep, item});
    }
  }
  addAll(plan.timeStepEnds, item);
}

/// Unrolls the blocks that are skipped first, the time steps of the others, and
/// the blocks that are skipped last.
void Unroller::unrollLoop(int item) {
  for (int j = 0, e = protocol.skippedBy(instance, item); j < e; ++j) {
    addAll(plan.skipped, item, j);
  }
  int trip = tripsOf(item), times = trip + largestShift(plan.timeStep);
  if (trip == 0) {
    addAll(plan.empty, item);
  }
  for (int time = 0; trip > 0 && time < times; ++time) {
    if (time == trip) {
      addAll(plan.drain, item);
    }
    unrollTimeStep(item, time, times);
  }
  for (int j = protocol.skippedAtEnd(instance, item); j > 0; --j) {
    addAll(plan.skipped, item, trips[item] - j);
  }
  addAll(plan.loopEnds, item);
}

/// Unrolls the acts after the last item: if items are handed out, one more
/// cycle of their channel carries the item "none left".
void Unroller::unrollEnd() {
  const BoundSchedule &bound = protocol.bound;
  if (!bound.awaitsProducts()) {
    return;
  }
  int end = trips.size();
  addAll(plan.itemBegins, end);
  for (const PlannedAct &act : plan.before) {
    if (act.entry && act.entry->act == Act::Op &&
        bound.makesWork(act.entry->target)) {
      items.push_back({&act, &plan.before, end});
    }
  }
}

void Unroller::unroll() {
  int longest = std::max(largestShift(plan.before), largestShift(plan.after));
  int count = trips.size();
  for (int item = 0; item < count + std::max(longest, 1); ++item) {
    if (item < count) {
      addAll(plan.itemBegins, item);
    } else if (item == count) {
      unrollEnd();
    }
    unrollOutside(plan.before, item);
    if (item < count) {
      unrollLoop(item);
    }
    unrollOutside(plan.after, item);
    addAll(plan.itemEnds, std::min(item, count - 1));
  }
}

void ProtocolBuilder::unroll() {
  protocol.items.resize(bound.instances.size());
  for (int i = 0, e = bound.instances.size(); i < e; ++i) {
    Unroller(protocol, i, protocol.items[i]).unroll();
  }
}

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

ValueInstance ProtocolBuilder::writtenInstance(int value, int item,
                                               int iteration) const {
  return {value, item, kernel.values[value].perIteration() ? iteration : -1};
}

Engine ProtocolBuilder::engineOf(const Item &item) const {
  return item.act->kind == PlannedAct::Run
             ? kernel.steps[item.act->target].engine
             : Engine::Threads;
}

ArrayRef<int> ProtocolBuilder::valuesRead(const Item &item) const {
  const PlannedAct &act = *item.act;
  if (act.kind == PlannedAct::Run) {
    return kernel.steps[act.target].reads;
  }
  const Place &place = *bound.channelOf(act.target);
  return place.cycles[place.cycleOf(act.target)];
}

SmallVector<Site, 4> ProtocolBuilder::writtenSites(const Item &item) const {
  SmallVector<Site, 4> sites;
  const PlannedAct &act = *item.act;
  auto add = [&](const Place *place, Subtile t, int value) {
    ValueInstance instance = writtenInstance(value, item.item, item.iteration);
    sites.push_back({place, t, cycles.find(*place, t, instance), instance});
  };
  if (act.kind == PlannedAct::Put) {
    const Place *place = bound.channelOf(act.target);
    for (int value : valuesRead(item)) {
      add(place, act.subtile, value);
    }
    return sites;
  }
  const KernelStep &step = kernel.steps[act.target];
  for (int value : step.writes) {
    Subtile t = bound.axisOf(value).empty() ? whole : act.subtile;
    for (const Place *place : bound.targetsOf(value, step.engine)) {
      add(place, t, value);
    }
  }
  return sites;
}

LogicalResult ProtocolBuilder::readSites(const Instance &instance,
                                         const Item &item, int value,
                                         SmallVectorImpl<Site> &sites) const {
  const PlannedAct &act = *item.act;
  bool isStep = act.kind == PlannedAct::Run;
  int producer = kernel.values[value].producer;
  if (producer >= 0 && bound.remat[producer]) {
    return success();
  }
  const Place *home = bound.homeOf(value, isStep ? act.target : -1, instance);
  int end = item.item < int(trips.size())
                ? trips[item.item] - protocol.skippedAtEnd(instance, item.item)
                : 0;
  std::optional<ValueInstance> source =
      kernel.resolve(value, item.item, item.iteration,
                     protocol.skippedBy(instance, item.item), end);
  if (home && home->channel && isStep) {
    // A channel carries values under their own names.
    source = writtenInstance(value, item.item, item.iteration);
  }
  if (!source) {
    return success();
  }
  SmallVector<Subtile, 4> tiles;
  if (isStep) {
    tiles = bound.subtilesRead(act.target, value, act.subtile);
  } else {
    tiles = {bound.axisOf(value).empty() ? whole : act.subtile};
  }
  for (Subtile t : tiles) {
    if (!home) {
      if (!bound.computes(instance, value)) {
        return reject(emitError, "V5",
                      formatv("expected a channel or a shared hold to bring "
                              "'{0}' to role '{1}', got none",
                              kernel.values[value].name, instance.name));
      }
      sites.push_back({nullptr, t, -1, *source});
      continue;
    }
    int cycle = cycles.find(*home, t, *source);
    if (cycle < 0) {
      return reject(emitError, "V5",
                    formatv("expected something to write '{0}' to {1}, where "
                            "role '{2}' reads it, got nothing",
                            kernel.values[value].name, quote(home->name, t),
                            instance.name));
    }
    sites.push_back({home, t, cycle, *source});
  }
  return success();
}

SmallVector<int, 4> ProtocolBuilder::partsOf(const Place &place,
                                             int part) const {
  if (part >= 0 && part < place.parts) {
    return {part};
  }
  return llvm::to_vector<4>(llvm::seq(0, place.parts));
}

bool ProtocolBuilder::isLastPart(const Item &item) const {
  int part = item.act->part;
  return part < 0 ||
         part + 1 == int(bound.partsListed[item.act->target].size());
}

SmallVector<Signal, 4>
ProtocolBuilder::fullSignals(int instance, const Item &item,
                             ArrayRef<Site> sites) const {
  SmallVector<Signal, 4> result;
  Engine engine = engineOf(item);
  bool threads = engine == Engine::Threads;
  if (!threads && !isLastPart(item)) {
    return result;
  }
  // A copy arrives by itself, whoever issued it.
  int source = engine == Engine::Copy
                   ? int(bound.instances.size()) + item.act->target
                   : instance;
  for (const Site &site : sites) {
    const Place &place = *site.place;
    if (!place.hasFull) {
      continue;
    }
    for (int part : partsOf(place, threads ? item.act->part : -1)) {
      Signal signal{
          place.fullBarrier(site.subtile, site.cycle % place.depth, part),
          site.cycle / place.depth, source};
      bool known = llvm::any_of(result, [&](const Signal &other) {
        return other.barrier == signal.barrier && other.phase == signal.phase;
      });
      if (!known) {
        result.push_back(signal);
      }
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Numbering
//===----------------------------------------------------------------------===//

void ProtocolBuilder::numberCycles() {
  for (auto &items : protocol.items) {
    for (const Item &item : items) {
      if (item.writes()) {
        for (const Site &site : writtenSites(item)) {
          cycles.numberOf(*site.place, site.subtile, site.instance);
        }
      }
    }
  }
}

void ProtocolBuilder::expect(int barrier, int phase, int source) {
  auto &phases = protocol.expected[barrier];
  if (int(phases.size()) <= phase) {
    phases.resize(phase + 1);
  }
  if (!llvm::is_contained(phases[phase], source)) {
    phases[phase].push_back(source);
  }
}

/// Every write of a channel's cycle arrives on its full barrier, and every
/// consumer gives every cycle of a ring back.
void ProtocolBuilder::expectArrivals() {
  for (int i = 0, e = bound.instances.size(); i < e; ++i) {
    for (const Item &item : protocol.items[i]) {
      if (item.writes()) {
        for (const Signal &s : fullSignals(i, item, writtenSites(item))) {
          expect(s.barrier, s.phase, s.source);
        }
      }
    }
  }
  for (const Place &place : bound.places) {
    for (int t = whole; t < bound.subtileCount; ++t) {
      int ring = bound.ringOf(place, t);
      for (int cycle = 0; cycle < cycles.count(ring) && place.hasFree;
           ++cycle) {
        for (int consumer : bound.consumers[ring].set_bits()) {
          expect(place.freeBarrier(t, cycle % place.depth), cycle / place.depth,
                 consumer);
        }
      }
    }
  }
}

LogicalResult ProtocolBuilder::build() {
  unroll();
  numberCycles();
  protocol.expected.resize(bound.barriers.size());
  protocol.cellCount = bound.cellCount;
  SmallVector<int, 4> zeros(bound.instances.size(), 0);
  signalCount.assign(bound.barriers.size(), zeros);
  waitCount.assign(bound.barriers.size(), zeros);
  expectArrivals();
  protocol.programs.resize(bound.instances.size());
  for (int i = 0, e = bound.instances.size(); i < e; ++i) {
    if (failed(buildProgram(*this, i))) {
      return failure();
    }
  }
  return failure(failed(checkCoverage()) || failed(checkBalance()));
}

LogicalResult Protocol::derive(EmitError emitError) {
  return ProtocolBuilder(*this, emitError).build();
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static std::string describePoint(int item, int iteration) {
  std::string text = formatv(" (work item {0}", item);
  if (iteration >= 0) {
    text += formatv(", iteration {0}", iteration);
  }
  return text + ")";
}

std::string Protocol::describeItem(Point point) const {
  auto [instance, index] = point;
  int count = bound.instances.size();
  if (index < 0) {
    return "a commit of " + describeInstance(instance);
  }
  const Item &item = items[instance][index];
  const PlannedAct &act = *item.act;
  if (act.kind == PlannedAct::ReadItem) {
    return describeInstance(instance) + describePoint(item.item, -1);
  }
  std::string text;
  if (act.kind == PlannedAct::Run) {
    text = quote(bound.kernel->steps[act.target].name, act.subtile);
  } else {
    text = formatv("{0}({1})", stringifyAct(act.entry->act),
                   quote(bound.kernel->values[act.target].name, act.subtile));
  }
  return text + describePoint(item.item, item.iteration) +
         describeCta(instance / count);
}

std::string Protocol::describeTag(const Tag &tag) const {
  std::string text =
      tag.what >= 0
          ? quote(bound.kernel->values[tag.what].name, tag.subtile)
          : "a partial result of " +
                quote(bound.kernel->steps[-1 - tag.what].name, tag.subtile);
  return text + describePoint(tag.item, tag.iteration);
}

std::string Protocol::describeSource(int source) const {
  int instances = ctas * bound.instances.size();
  if (source < instances) {
    return describeInstance(source);
  }
  int steps = bound.kernel->steps.size(), copy = source - instances;
  return "the copy of " + quote(bound.kernel->steps[copy % steps].name) +
         describeCta(copy / steps);
}
