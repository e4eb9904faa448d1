// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncBarriers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;
using llvm::formatv;

SyncBarriers::SyncBarriers(const SyncEvents &events, ArrayRef<SyncAgent> agents,
                           int64_t ctas)
    : events(events), agents(agents), ctas(ctas) {
  for (int64_t cta = 0; cta < ctas; ++cta) {
    add(cta);
  }
}

void SyncBarriers::add(int64_t cta) {
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
      barriers.push_back({index, false, 0, cta}); // the item has arrived
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

int SyncBarriers::find(unsigned object, bool isFree, int64_t slot,
                       int64_t cta) const {
  return cta * barriersOfCta + firstBarrier[object] +
         (isFree ? events.objects()[object].depth : 0) + slot;
}

bool SyncBarriers::arrives(const SyncAgent &agent,
                           const Barrier &barrier) const {
  const SyncObject &object = events.objects()[barrier.object];
  if (agent.cta != barrier.cta && !object.inCluster) {
    return false;
  }
  auto has = [&](SyncEvent::Kind kind) {
    return events.has(agent.role, kind, barrier.object);
  };
  if (object.kind == SyncObject::Turn) {
    // Replica r comes after replica r - 1, and replica 0 after the last.
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

bool SyncBarriers::waits(const SyncAgent &agent, int index) const {
  const Barrier &barrier = barriers[index];
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

int64_t SyncBarriers::creditsOf(const Barrier &barrier) const {
  const SyncObject &object = events.objects()[barrier.object];
  return object.kind == SyncObject::Turn ? barrier.slot == 0 : object.credits;
}

int64_t SyncBarriers::mostOf(SyncEvent::Kind kind, unsigned object,
                             int64_t cta) const {
  int64_t most = 0;
  for (const SyncAgent &agent : agents) {
    if (agent.cta == cta || events.objects()[object].inCluster) {
      most = std::max(most, agent.count(kind, object));
    }
  }
  return most;
}

/// Returns the number of phases that arrivals complete, plus credits.
int64_t SyncBarriers::phasesOf(const Barrier &barrier) const {
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

SmallVector<SmallVector<int, 2>> SyncBarriers::arrivalsOf(int index) const {
  const Barrier &barrier = barriers[index];
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
  SmallVector<SmallVector<int, 2>> phases(
      std::max<int64_t>(phasesOf(barrier), 0));
  for (int64_t phase = creditsOf(barrier), e = phases.size(); phase < e;
       ++phase) {
    phases[phase] = sources;
  }
  return phases;
}

std::string SyncBarriers::describe(int index) const {
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
