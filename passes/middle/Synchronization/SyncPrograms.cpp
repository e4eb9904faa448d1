// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncPrograms.h"
#include "SyncWriter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;
using llvm::formatv;

SyncPrograms::SyncPrograms(const SyncEvents &events, const SharedMemory &memory,
                           ArrayRef<SyncAgent> agents, int64_t ctas)
    : events(events), agents(agents), ctas(ctas),
      barriers(events, agents, ctas),
      cells(events, memory, agents.size(), ctas) {
  cellCount = cells.count();
  for (int barrier = 0, e = barriers.count(); barrier < e; ++barrier) {
    expected.push_back(barriers.arrivalsOf(barrier));
  }
  for (int agent = 0, e = agents.size(); agent < e; ++agent) {
    writeTokens(*this, agent);
  }
}

SmallVector<int> SyncPrograms::waitersOf(int barrier) const {
  SmallVector<int> waiters;
  for (auto [i, agent] : llvm::enumerate(agents)) {
    if (barriers.waits(agent, barrier)) {
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

std::string SyncPrograms::describeBarrier(int barrier) const {
  return barriers.describe(barrier);
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
