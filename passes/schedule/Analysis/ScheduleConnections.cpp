// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the roles at the ends of each place and edge (V5, V6), and checks that
// the operands of MMAs are where the machine can read them (V20).
#include "attn/passes/schedule/ScheduleRules.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class Connector {
public:
  Connector(BoundSchedule &bound, EmitError emitError)
      : bound(bound), kernel(*bound.kernel), emitError(emitError) {}

  LogicalResult connect();

private:
  LogicalResult connectEntry(int index, const Entry &entry);
  void connectStep(int index, const Entry &entry);
  void connectWork();
  void connectWaiters();
  LogicalResult checkOperands(const Instance &instance, const Entry &entry);
  LogicalResult checkOperand(const Instance &instance, int step, int value,
                             ArrayRef<Space> spaces);
  LogicalResult checkRead(int index, const Entry &read);
  LogicalResult checkEntry(int index, const Entry &entry);
  LogicalResult checkEdges();
  LogicalResult checkChannels();

  BoundSchedule &bound;
  const KernelModel &kernel;
  EmitError emitError;
};

} // namespace

static std::string spell(ArrayRef<Space> spaces) {
  std::string text;
  for (Space space : spaces) {
    text += (text.empty() ? "'" : " or '") + stringifySpace(space).str() + "'";
  }
  return text;
}

LogicalResult Connector::checkOperand(const Instance &instance, int step,
                                      int value, ArrayRef<Space> spaces) {
  if (value < 0) {
    return success();
  }
  const Place *home = bound.homeOf(value, step, instance);
  if (home && llvm::is_contained(spaces, home->space)) {
    return success();
  }
  return reject(
      emitError, "V20",
      formatv("expected operand '{0}' of '{1}' in a place in {2}, got "
              "{3}",
              kernel.values[value].name, kernel.steps[step].name, spell(spaces),
              home ? formatv("'{0}' in '{1}'", home->name,
                             stringifySpace(home->space))
                         .str()
                   : std::string("none")));
}

LogicalResult Connector::checkOperands(const Instance &instance,
                                       const Entry &entry) {
  const KernelStep &step = kernel.steps[entry.target];
  if (entry.act != Act::Op || step.engine != Engine::Mma) {
    return success();
  }
  MmaInfoAttr mma = bound.machine.getMma();
  for (int value : step.writes) {
    auto targets = bound.targetsOf(value, Engine::Mma);
    bool fits = llvm::all_of(targets, [&](const Place *place) {
      return place->space == mma.getAccumulator();
    });
    if (targets.empty() || !fits) {
      return reject(emitError, "V20",
                    formatv("expected accumulator '{0}' of '{1}' in a place in "
                            "{2}, got {3}",
                            kernel.values[value].name, step.name,
                            spell(mma.getAccumulator()),
                            targets.empty() ? "none" : "another space"));
    }
  }
  return failure(
      failed(checkOperand(instance, entry.target, step.a, mma.getA())) ||
      failed(checkOperand(instance, entry.target, step.b, mma.getB())) ||
      failed(checkOperand(instance, entry.target, step.accumulator,
                          mma.getAccumulator())));
}

void Connector::connectStep(int index, const Entry &entry) {
  const KernelStep &step = kernel.steps[entry.target];
  for (int value : step.writes) {
    Subtile t = bound.axisOf(value).empty() ? whole : entry.subtile;
    for (const Place *place : bound.targetsOf(value, step.engine)) {
      bound.producers[bound.ringOf(*place, t)].set(index);
    }
  }
  for (int value : step.reads) {
    const Place *home =
        bound.homeOf(value, entry.target, bound.instances[index]);
    if (!home || !home->channel) {
      continue;
    }
    for (Subtile t : bound.subtilesRead(entry.target, value, entry.subtile)) {
      bound.consumers[bound.ringOf(*home, t)].set(index);
    }
  }
}

LogicalResult Connector::connectEntry(int index, const Entry &entry) {
  switch (entry.act) {
  case Act::Op:
    connectStep(index, entry);
    break;
  case Act::Get:
  case Act::Read:
  case Act::Put: {
    const Place *channel = bound.channelOf(entry.target);
    if (!channel) {
      return reject(emitError, "V1",
                    formatv("expected '{0}' of a value that a channel carries, "
                            "got '{1}'",
                            stringifyAct(entry.act),
                            kernel.values[entry.target].name));
    }
    if (entry.act == Act::Put) {
      bound.producers[bound.ringOf(*channel, entry.subtile)].set(index);
    }
    break;
  }
  case Act::Sig:
  case Act::Commit:
    bound.sources[bound.edges[entry.target].barrier(entry.subtile)].set(index);
    break;
  case Act::Wait:
    bound.waiters[bound.edges[entry.target].barrier(entry.subtile)].set(index);
    break;
  default:
    break;
  }
  return success();
}

/// Every role that does not hand items out receives each of them, whether its
/// steps read it or not: an item may also mean that none is left.
void Connector::connectWork() {
  for (const Place &place : bound.places) {
    bool isWork = kernel.values[place.cycles.front().front()].isWork;
    for (auto [i, instance] : llvm::enumerate(bound.instances)) {
      bool handsOut = llvm::any_of(instance.runs.set_bits(), [&](int step) {
        return bound.makesWork(step);
      });
      if (place.channel && isWork && !handsOut) {
        bound.consumers[bound.ringOf(place, whole)].set(i);
      }
    }
  }
}

/// Consumers wait for the full barriers of a channel, producers for the free
/// barriers.
void Connector::connectWaiters() {
  for (auto [i, barrier] : llvm::enumerate(bound.barriers)) {
    if (barrier.kind == Barrier::EdgeBarrier) {
      continue;
    }
    int ring = bound.ringOf(bound.places[barrier.owner], barrier.subtile);
    bound.waiters[i] = barrier.kind == Barrier::Full ? bound.consumers[ring]
                                                     : bound.producers[ring];
  }
}

/// Only a row vector is read into registers ahead: once, before the steps of
/// the role that use it.
LogicalResult Connector::checkRead(int index, const Entry &read) {
  const Instance &instance = bound.instances[index];
  const KernelValue &value = kernel.values[read.target];
  const Entry *user = nullptr;
  bool isTwice = false;
  for (const Entry &entry : instance.kv) {
    isTwice |= &entry != &read && entry.act == Act::Read &&
               entry.target == read.target;
    bool isUser =
        entry.act == Act::Op &&
        llvm::is_contained(kernel.steps[entry.target].reads, read.target);
    if (isUser && (!user || runsBefore(entry, *user))) {
      user = &entry;
    }
  }
  std::string found;
  if (value.isWork || value.shape.size() != 1) {
    found = "no row vector";
  } else if (read.guard != Guard::Always) {
    found = formatv("it under the guard '{0}'", stringifyGuard(read.guard));
  } else if (isTwice) {
    found = "it twice";
  } else if (!user) {
    found = "no such step";
  } else if (runsBefore(*user, read)) {
    found = formatv("it after '{0}'", kernel.steps[user->target].name);
  }
  return found.empty()
             ? success()
             : reject(emitError, "V1",
                      formatv("expected one 'read' of row vector '{0}', before "
                              "the steps of role '{1}' that use it, got {2}",
                              value.name, instance.name, found));
}

/// A role may only wait for slots that it reads, and await steps that it runs.
LogicalResult Connector::checkEntry(int index, const Entry &entry) {
  const Instance &instance = bound.instances[index];
  if (entry.act == Act::Await && !instance.runs[entry.target]) {
    return reject(emitError, "V1",
                  formatv("expected role '{0}' to run '{1}', which it awaits, "
                          "got another role",
                          instance.name, kernel.steps[entry.target].name));
  }
  if (entry.act == Act::Read) {
    return checkRead(index, entry);
  }
  if (entry.act != Act::Get) {
    return success();
  }
  const KernelValue &value = kernel.values[entry.target];
  const Place &channel = *bound.channelOf(entry.target);
  bool reads = bound.consumers[bound.ringOf(channel, entry.subtile)][index];
  if (value.isWork || !reads) {
    return reject(emitError, "V1",
                  formatv("expected 'get' of a tile that role '{0}' reads, got "
                          "'{1}'",
                          instance.name, value.name));
  }
  return success();
}

LogicalResult Connector::checkEdges() {
  for (const Edge &edge : bound.edges) {
    for (Subtile t : bound.subtiles(edge.cut)) {
      int barrier = edge.barrier(t);
      bool hasSource = bound.sources[barrier].any();
      if (!hasSource || (edge.joins < 0 && bound.waiters[barrier].none())) {
        return reject(emitError, "V6",
                      formatv("expected edge {0} to be signalled and waited "
                              "for, got no {1}",
                              quote(edge.name, t),
                              hasSource ? "wait" : "signal"));
      }
    }
  }
  return success();
}

LogicalResult Connector::checkChannels() {
  for (const Place &place : bound.places) {
    for (Subtile t : bound.subtiles(place.cut)) {
      if (place.channel && bound.consumers[bound.ringOf(place, t)].none()) {
        return reject(emitError, "V5",
                      formatv("expected channel {0} to have a reader, got none",
                              quote(place.name, t)));
      }
    }
  }
  return success();
}

LogicalResult Connector::connect() {
  int rings = bound.places.size() * (bound.subtileCount + 1);
  BitVector none(bound.instances.size());
  bound.producers.assign(rings, none);
  bound.consumers.assign(rings, none);
  bound.waiters.assign(bound.barriers.size(), none);
  bound.sources.assign(bound.barriers.size(), none);
  auto visitEntries = [&](auto visit) -> LogicalResult {
    for (auto [i, instance] : llvm::enumerate(bound.instances)) {
      for (auto *list : {&instance.before, &instance.kv, &instance.after}) {
        for (const Entry &entry : *list) {
          if (failed(visit(i, entry))) {
            return failure();
          }
        }
      }
    }
    return success();
  };
  if (failed(visitEntries([&](int i, const Entry &entry) {
        return checkOperands(bound.instances[i], entry);
      })) ||
      failed(visitEntries(
          [&](int i, const Entry &entry) { return connectEntry(i, entry); })) ||
      failed(visitEntries(
          [&](int i, const Entry &entry) { return checkEntry(i, entry); }))) {
    return failure();
  }
  connectWork();
  connectWaiters();
  return failure(failed(checkEdges()) || failed(checkChannels()));
}

LogicalResult sched::connectSchedule(BoundSchedule &bound,
                                     EmitError emitError) {
  return Connector(bound, emitError).connect();
}
