// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BodyBinder.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

LogicalResult BodyBinder::bindSubtile(const Instance &instance, EntryAttr attr,
                                      bool cut, Entry &entry) {
  Subtile given = attr.getSubtile();
  StringRef target = attr.getTarget().getValue();
  if (given >= bound.subtileCount || (given != whole && !cut)) {
    return reject(emitError, "V3",
                  formatv("expected a sub-tile of {0} among {1}, got {2}",
                          quote(target), cut ? bound.subtileCount : 0, given));
  }
  if (!cut) {
    return success();
  }
  entry.subtile = given == whole ? instance.replica : given;
  if (entry.subtile == whole) {
    return reject(emitError, "V3",
                  formatv("expected a sub-tile of {0}, which is cut in {1}, in "
                          "role '{2}'",
                          quote(target), bound.subtileCount, instance.name));
  }
  return success();
}

LogicalResult BodyBinder::bindStepEntry(EntryAttr attr, LoopPosition region,
                                        Entry &entry) {
  if (failed(names.findStep(attr.getTarget(), "an entry", entry.target))) {
    return failure();
  }
  const KernelStep &step = kernel.steps[entry.target];
  // Guarded entries run once per item: they are for steps outside the loop.
  bool inLoop =
      region == LoopPosition::Loop && attr.getGuard() == Guard::Always;
  if (entry.act == Act::Op && (step.region == LoopPosition::Loop) != inLoop) {
    return reject(emitError, "V1",
                  formatv("expected '{0}' {1}", step.name,
                          inLoop ? "before or after the loop, or guarded, got "
                                   "it once an iteration"
                                 : "once an iteration of the loop, got it once "
                                   "a work item"));
  }
  if (entry.part >= 0) {
    BitVector &parts = bound.partsListed[entry.target];
    parts.resize(std::max<unsigned>(parts.size(), entry.part + 1));
    parts.set(entry.part);
  }
  return success();
}

LogicalResult BodyBinder::bindEdgeEntry(EntryAttr attr, Entry &entry) {
  StringRef name = attr.getTarget().getValue();
  for (auto [i, edge] : llvm::enumerate(schedule.getEdges())) {
    if (edge.getName() == attr.getTarget()) {
      entry.target = i;
      return success();
    }
  }
  return reject(emitError, "V1",
                formatv("expected '{0}' of an edge, got '{1}'",
                        stringifyAct(attr.getAct()), name));
}

LogicalResult BodyBinder::bindTurnEntry(const Instance &instance,
                                        EntryAttr attr, Entry &entry) {
  int edge = schedule.getEdges().size();
  for (TurnAttr turn : schedule.getTurns()) {
    const Role *ring = llvm::find_if(bound.roles, [&](const Role &role) {
      return role.name == turn.getRing().getValue();
    });
    int members = std::max(ring->replicas, 1);
    if (turn.getName() != attr.getTarget()) {
      edge += members;
      continue;
    }
    if (&bound.roles[instance.role] != ring || instance.replica < 0) {
      return reject(emitError, "V1",
                    formatv("expected turn '{0}' in a replica of its role "
                            "'{1}', got '{2}'",
                            turn.getName().getValue(), ring->name,
                            instance.name));
    }
    // Taking a turn waits for the replica's own edge of the ring, giving it
    // signals the next one.
    bool take = attr.getAct() == Act::Take;
    entry.act = take ? Act::Wait : Act::Sig;
    entry.target = edge + (instance.replica + (take ? 0 : 1)) % members;
    return success();
  }
  return reject(emitError, "V1",
                formatv("expected '{0}' of a turn, got '{1}'",
                        stringifyAct(attr.getAct()),
                        attr.getTarget().getValue()));
}

LogicalResult BodyBinder::bindSyncEntry(const Instance &instance,
                                        EntryAttr attr, Entry &entry) {
  for (auto [i, sync] : llvm::enumerate(bound.rendezvous)) {
    if (sync.name != attr.getTarget().getValue()) {
      continue;
    }
    if (sync.role != instance.role) {
      return reject(emitError, "V1",
                    formatv("expected rendezvous '{0}' in its role '{1}', got "
                            "'{2}'",
                            sync.name, bound.roles[sync.role].name,
                            instance.name));
    }
    entry.target = i;
    return success();
  }
  return reject(emitError, "V1",
                formatv("expected 'sync' of a rendezvous, got '{0}'",
                        attr.getTarget().getValue()));
}

LogicalResult BodyBinder::checkGuard(EntryAttr attr, LoopPosition region) {
  Guard guard = attr.getGuard();
  bool inBody = region == LoopPosition::Loop;
  bool isMisplaced = inBody ? guard == Guard::Nonempty || attr.getShift() > 0
                            : guard != Guard::Nonempty;
  if (guard == Guard::Always || !isMisplaced) {
    return success();
  }
  return reject(emitError, "V1",
                formatv("expected guard 'nonempty' outside 'kv', or 'once', "
                        "'last' or 'last_nonempty' without a shift in it, got "
                        "'{0}' for '{1}'",
                        stringifyGuard(guard), attr.getTarget().getValue()));
}

LogicalResult BodyBinder::bindEntry(Instance &instance, EntryAttr attr,
                                    LoopPosition region, Entry &entry) {
  entry.attr = attr;
  entry.guard = attr.getGuard();
  entry.act = attr.getAct();
  entry.part = attr.getPart();
  entry.shift = attr.getShift();
  if (failed(checkGuard(attr, region))) {
    return failure();
  }
  switch (entry.act) {
  case Act::Op:
  case Act::Await:
    if (failed(bindStepEntry(attr, region, entry))) {
      return failure();
    }
    if (entry.act == Act::Op) {
      instance.runs.set(entry.target);
    }
    return bindSubtile(instance, attr, !bound.stepAxis(entry.target).empty(),
                       entry);
  case Act::Read:
    if (region != LoopPosition::Loop) {
      return reject(emitError, "V1",
                    formatv("expected 'read' only in 'kv', got it of '{0}' "
                            "outside",
                            attr.getTarget().getValue()));
    }
    [[fallthrough]];
  case Act::Get:
  case Act::Put:
    if (failed(names.findValue(attr.getTarget(), stringifyAct(entry.act),
                               entry.target))) {
      return failure();
    }
    return bindSubtile(instance, attr, !bound.axisOf(entry.target).empty(),
                       entry);
  case Act::Commit:
    if (!bound.machine.getMma().getSignalsBarriers()) {
      return reject(emitError, "V21",
                    formatv("expected a machine whose MMA signals barriers for "
                            "commit of '{0}', got '{1}'",
                            attr.getTarget().getValue(),
                            bound.machine.getName().getValue()));
    }
    [[fallthrough]];
  case Act::Sig:
  case Act::Wait:
    if (failed(bindEdgeEntry(attr, entry))) {
      return failure();
    }
    return bindSubtile(instance, attr, bound.edges[entry.target].cut, entry);
  case Act::Take:
  case Act::Give:
    return bindTurnEntry(instance, attr, entry);
  case Act::Sync:
    return bindSyncEntry(instance, attr, entry);
  }
  return failure();
}

LogicalResult BodyBinder::bindList(Instance &instance, ArrayRef<EntryAttr> list,
                                   LoopPosition region,
                                   SmallVectorImpl<Entry> &entries) {
  for (EntryAttr attr : list) {
    if (failed(bindEntry(instance, attr, region, entries.emplace_back()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult BodyBinder::checkBody(BodyAttr body) {
  int role;
  if (failed(names.findRole(body.getRole(), "a body", role))) {
    return failure();
  }
  if (body.getReplica() < bound.roles[role].replicas || body.getReplica() < 0) {
    return success();
  }
  return reject(emitError, "V1",
                formatv("expected a body for one of {0} replicas of '{1}', got "
                        "replica {2}",
                        bound.roles[role].replicas, bound.roles[role].name,
                        body.getReplica()));
}

/// Binds the body of one replica, or, with -1, of a role without replicas.
LogicalResult BodyBinder::bindInstance(int role, int replica) {
  Instance &instance = bound.instances.emplace_back();
  instance.role = role;
  instance.replica = replica;
  std::string quoted = quote(bound.roles[role].name, replica);
  instance.name = quoted.substr(1, quoted.size() - 2);
  instance.runs.resize(kernel.steps.size());
  BodyAttr body = schedule.findBody(bound.roles[role].name, replica);
  if (!body) {
    return reject(emitError, "V1",
                  formatv("expected a body for role '{0}'", instance.name));
  }
  return failure(failed(bindList(instance, body.getBefore(),
                                 LoopPosition::Before, instance.before)) ||
                 failed(bindList(instance, body.getKv(), LoopPosition::Loop,
                                 instance.kv)) ||
                 failed(bindList(instance, body.getAfter(), LoopPosition::After,
                                 instance.after)));
}

LogicalResult BodyBinder::bind() {
  for (BodyAttr body : schedule.getBodies()) {
    if (failed(checkBody(body))) {
      return failure();
    }
  }
  bound.partsListed.resize(kernel.steps.size());
  for (auto [r, role] : llvm::enumerate(bound.roles)) {
    if (role.replicas != 0 && role.replicas != bound.subtileCount) {
      return reject(emitError, "V3",
                    formatv("expected role '{0}' to have a replica for each of "
                            "{1} sub-tiles, got {2}",
                            role.name, bound.subtileCount, role.replicas));
    }
    for (int i = 0; i < std::max(role.replicas, 1); ++i) {
      if (failed(bindInstance(r, role.replicas ? i : -1))) {
        return failure();
      }
    }
  }
  return success();
}
