// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The barriers of a kernel: who arrives, who waits, and how to name them.
#include "SyncPrograms.h"
#include "SyncWriter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;
using llvm::formatv;

SyncPrograms::SyncPrograms(const SyncEvents &events, const SharedMemory &memory,
                           ArrayRef<SyncAgent> agents, int64_t ctas)
    : events(events), memory(memory), agents(agents), ctas(ctas) {
  // Of each cell every CTA of the cluster may write a share.
  itemCells = memory.cellCount() * ctas * ctas;
  // Then of each CTA the words of its verdicts, one an agent, and the mailbox.
  cellCount = itemCells + ctas * cellsForItems();
  for (int64_t cta = 0; cta < ctas; ++cta) {
    addBarriers(cta);
  }
  for (const Barrier &barrier : barriers) {
    expectArrivals(barrier);
  }
  for (int agent = 0, e = agents.size(); agent < e; ++agent) {
    SyncWriter(*this, agent).write();
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void SyncPrograms::addBarriers(int64_t cta) {
  for (auto [i, object] : llvm::enumerate(events.objects())) {
    if (cta == 0) {
      firstBarrier.push_back(barriers.size());
    }
    unsigned index = i;
    if (object.kind == SyncObject::Channel) {
      for (bool isFree : {false, true}) {
        for (int64_t slot = 0; slot < object.depth; ++slot) {
          barriers.push_back({index, isFree, slot, cta});
        }
      }
    } else if (object.kind == SyncObject::Edge) {
      barriers.push_back({index, false, 0, cta});
    } else if (object.kind == SyncObject::Verdict) {
      for (int64_t slot = 0; slot < object.depth; ++slot) {
        barriers.push_back({index, false, slot, cta});
      }
    } else if (object.kind == SyncObject::Mailbox) {
      barriers.push_back({index, false, 0, cta}); // the item has come
      barriers.push_back({index, true, 0, cta});  // all have read it
    } else if (object.kind == SyncObject::Turn) {
      ws::RoleOp ring = object.ring;
      for (int64_t r = 0, e = ring.getReplicas(); r < e; ++r) {
        barriers.push_back({index, false, r, cta});
      }
    }
  }
  if (cta == 0) {
    barriersOfCta = barriers.size();
  }
}

int SyncPrograms::barrierOf(unsigned object, bool isFree, int64_t slot,
                            int64_t cta) const {
  return cta * barriersOfCta + firstBarrier[object] +
         (isFree ? events.objects()[object].depth : 0) + slot;
}

bool SyncPrograms::arrives(const SyncAgent &agent,
                           const Barrier &barrier) const {
  const SyncObject &object = events.objects()[barrier.object];
  if (agent.cta != barrier.cta && !object.inCluster) {
    return false;
  }
  auto has = [&](SyncEvent::Kind kind) {
    return events.has(agent.role, kind, barrier.object);
  };
  if (object.kind == SyncObject::Turn) {
    // Replica r follows replica r - 1, and replica 0 the last.
    ws::RoleOp ring = object.ring;
    int64_t count = ring.getReplicas();
    return agent.role == ring &&
           agent.replica == (barrier.slot + count - 1) % count;
  }
  if (object.kind == SyncObject::Edge) {
    return has(SyncEvent::Signal);
  }
  if (object.kind == SyncObject::Verdict) {
    return has(SyncEvent::GiveVerdict) &&
           (!takesForCluster(object) || barrier.cta == 0);
  }
  if (object.kind == SyncObject::Mailbox) {
    bool receives = agent.cta != 0;
    return has(SyncEvent::ShareItem) &&
           (barrier.isFree
                ? barrier.cta == 0 && receives
                : barrier.cta != 0 && (agent.cta == barrier.cta || !receives));
  }
  return barrier.isFree ? has(SyncEvent::Release)
                        : has(SyncEvent::Copy) || has(SyncEvent::PutWork);
}

bool SyncPrograms::waits(const SyncAgent &agent, const Barrier &barrier) const {
  const SyncObject &object = events.objects()[barrier.object];
  if (agent.cta != barrier.cta) {
    return false;
  }
  if (object.kind == SyncObject::Turn) {
    return agent.role == object.ring && agent.replica == barrier.slot;
  }
  if (object.kind == SyncObject::Verdict) {
    return events.has(agent.role, SyncEvent::TakeVerdict, barrier.object) &&
           (!takesForCluster(object) || barrier.cta == 0);
  }
  if (object.kind == SyncObject::Mailbox) {
    return events.has(agent.role, SyncEvent::ShareItem, barrier.object) &&
           barrier.isFree == (barrier.cta == 0);
  }
  SyncEvent::Kind kind = object.kind == SyncObject::Edge ? SyncEvent::WaitEdge
                         : barrier.isFree                ? SyncEvent::Acquire
                                                         : SyncEvent::Wait;
  return events.has(agent.role, kind, barrier.object);
}

int64_t SyncPrograms::creditsOf(const Barrier &barrier) const {
  const SyncObject &object = events.objects()[barrier.object];
  return object.kind == SyncObject::Turn ? barrier.slot == 0 : object.credits;
}

int64_t SyncPrograms::mostOf(SyncEvent::Kind kind, unsigned object,
                             int64_t cta) const {
  int64_t most = 0;
  for (const SyncAgent &agent : agents) {
    if (agent.cta == cta || events.objects()[object].inCluster) {
      most = std::max(most, agent.count(kind, object));
    }
  }
  return most;
}

/// Phases that arrivals complete, and those that credits answer.
int64_t SyncPrograms::phasesOf(const Barrier &barrier) const {
  const SyncObject &object = events.objects()[barrier.object];
  auto most = [&](SyncEvent::Kind kind) {
    return mostOf(kind, barrier.object, barrier.cta);
  };
  if (object.kind == SyncObject::Turn) {
    return most(SyncEvent::Give) + creditsOf(barrier);
  }
  if (object.kind == SyncObject::Edge) {
    return most(SyncEvent::Signal) + creditsOf(barrier);
  }
  if (object.kind == SyncObject::Mailbox) {
    return barrier.isFree == (barrier.cta == 0) ? most(SyncEvent::ShareItem)
                                                : 0;
  }
  if (takesForCluster(object) && barrier.cta != 0) {
    return 0;
  }
  int64_t cycles = std::max({most(SyncEvent::Copy), most(SyncEvent::PutWork),
                             most(SyncEvent::GiveVerdict)});
  return (cycles - barrier.slot + object.depth - 1) / object.depth;
}

void SyncPrograms::expectArrivals(const Barrier &barrier) {
  auto &phases = expected.emplace_back();
  const SyncObject &object = events.objects()[barrier.object];
  SmallVector<int, 2> sources;
  for (auto [i, agent] : llvm::enumerate(agents)) {
    if (!arrives(agent, barrier)) {
      continue;
    }
    bool copies = object.kind == SyncObject::Channel && !barrier.isFree &&
                  events.has(agent.role, SyncEvent::Copy, barrier.object);
    sources.push_back(copies ? agents.size() + i : i);
    if (object.kind == SyncObject::Mailbox && !barrier.isFree &&
        agent.cta == 0) {
      sources.push_back(agents.size() + i); // and the copy of the item
    }
  }
  phases.resize(std::max<int64_t>(phasesOf(barrier), 0));
  for (int64_t phase = creditsOf(barrier), e = phases.size(); phase < e;
       ++phase) {
    phases[phase] = sources;
  }
}

SmallVector<int> SyncPrograms::waitersOf(int index) const {
  SmallVector<int> waiters;
  for (auto [i, agent] : llvm::enumerate(agents)) {
    if (waits(agent, barriers[index])) {
      waiters.push_back(i);
    }
  }
  return waiters;
}

int SyncPrograms::membersOf(int rendezvous) const {
  ws::RoleOp ring = events.objects()[rendezvous % events.objects().size()].ring;
  return ring.getReplicas();
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

std::string attn::describe(const SyncAgent &agent, int64_t ctas) {
  ws::RoleOp role = agent.role;
  std::string text =
      formatv("role '{0}' replica {1}", role.getSymName(), agent.replica);
  if (ctas > 1) {
    text += formatv(" of CTA {0}", agent.cta);
  }
  return text;
}

std::string SyncPrograms::describeInstance(int instance) const {
  return describe(agents[instance], ctas);
}

std::string SyncPrograms::describeItem(Point point) const {
  const SyncStep &step = agents[point.instance].steps[point.item];
  return formatv("'{0}' of {1} (work item {2})",
                 step.event->op->getName().getStringRef(),
                 describeInstance(point.instance), step.item);
}

std::string SyncPrograms::describeBarrier(int index) const {
  const Barrier &barrier = barriers[index];
  const SyncObject &object = events.objects()[barrier.object];
  std::string text;
  if (object.kind == SyncObject::Channel) {
    text = formatv("the {0} barrier of slot {1} of '{2}'",
                   barrier.isFree ? "free" : "full", barrier.slot, object.name);
  } else if (object.kind == SyncObject::Verdict) {
    text = formatv("barrier {0} of '{1}'", barrier.slot, object.name);
  } else if (object.kind == SyncObject::Mailbox) {
    text = formatv("the barrier of '{0}' that {1}", object.name,
                   barrier.isFree ? "all have read it" : "an item has come");
  } else if (object.kind == SyncObject::Turn) {
    text = formatv("turn '{0}' of replica {1}", object.name, barrier.slot);
  } else {
    text = formatv("edge '{0}'", object.name);
  }
  if (ctas > 1) {
    text += formatv(" of CTA {0}", barrier.cta);
  }
  return text;
}

std::string SyncPrograms::describeTag(const Tag &tag) const {
  const SyncObject &object = events.objects()[tag.what];
  if (object.kind == SyncObject::Verdict ||
      object.kind == SyncObject::Mailbox) {
    return formatv("'{0}' of work item {1}", object.name, tag.item);
  }
  return formatv("{0} {1} of '{2}' (work item {3})",
                 object.kind == SyncObject::Channel ? "cycle" : "tile",
                 tag.iteration, object.name, tag.item);
}

std::string SyncPrograms::describeSource(int source) const {
  int count = agents.size();
  return source < count ? describeInstance(source)
                        : "the copy of " + describeInstance(source - count);
}

std::string SyncPrograms::describeRendezvous(int rendezvous) const {
  return formatv("rendezvous '{0}'",
                 events.objects()[rendezvous % events.objects().size()].name);
}

void SyncPrograms::locate(Point point, InFlightDiagnostic &error) const {
  const SyncStep &step = agents[point.instance].steps[point.item];
  error.attachNote(step.event->op->getLoc()) << describeItem(point);
}
