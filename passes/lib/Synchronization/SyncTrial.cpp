// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncTrial.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

LogicalResult SyncTrial::start() {
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    int64_t replicas = role.getReplicas();
    for (int64_t cta = 0; cta < ctas; ++cta) {
      for (int64_t replica = 0; replica < replicas; ++replica) {
        SyncUnroller unroller(events, items, replica, ctas - 1 - cta);
        if (failed(unroller.unroll(role))) {
          return failure();
        }
        SyncAgent &agent = agents.emplace_back(
            SyncAgent{role, cta, replica, replicas, unroller.take()});
        agent.cycles.resize(events.objects().size());
        for (const SyncEvent &event : agent.events) {
          agent.cycles[event.object].has[event.kind] = true;
        }
      }
    }
  }
  return success();
}

int64_t SyncTrial::least(SyncEvent::Kind kind, unsigned object,
                         int64_t cta) const {
  std::optional<int64_t> least;
  bool seesAll = events.objects()[object].inCluster;
  for (const SyncAgent &agent : agents) {
    if ((seesAll || agent.cta == cta) && agent.cycles[object].has[kind]) {
      int64_t cycles = agent.count(kind, object);
      least = std::min(least.value_or(cycles), cycles);
    }
  }
  return least.value_or(0);
}

/// Replica r follows replica r - 1 of this cycle; replica 0 that of the last.
bool SyncTrial::mayTake(const SyncAgent &agent, unsigned turn) const {
  int64_t cycle = agent.count(SyncEvent::Take, turn);
  int64_t before = (agent.replica + agent.replicas - 1) % agent.replicas;
  for (const SyncAgent &other : agents) {
    if (other.role == agent.role && other.cta == agent.cta &&
        other.replica == before) {
      int64_t given = other.count(SyncEvent::Give, turn);
      return agent.replica == 0 ? given >= cycle : given > cycle;
    }
  }
  return false;
}

/// All replicas stand at it, or have passed it.
bool SyncTrial::allStandAt(const SyncAgent &agent, unsigned rendezvous) const {
  int64_t cycle = agent.count(SyncEvent::Sync, rendezvous);
  return llvm::all_of(agents, [&](const SyncAgent &other) {
    if (other.role != agent.role || other.cta != agent.cta) {
      return true;
    }
    int64_t passed = other.count(SyncEvent::Sync, rendezvous);
    bool stands = other.next < other.events.size() &&
                  other.events[other.next].kind == SyncEvent::Sync &&
                  other.events[other.next].object == rendezvous;
    return passed > cycle || (passed == cycle && stands);
  });
}

bool SyncTrial::mayPass(const SyncAgent &agent, const SyncEvent &event) const {
  int64_t cycle = agent.count(event.kind, event.object);
  const SyncObject &object = events.objects()[event.object];
  auto finished = [&](SyncEvent::Kind kind) {
    return least(kind, event.object, agent.cta);
  };
  switch (event.kind) {
  case SyncEvent::Acquire:
    return object.freeImplied || cycle < object.depth ||
           finished(SyncEvent::Release) > cycle - object.depth;
  case SyncEvent::Wait:
    return finished(SyncEvent::Commit) > cycle;
  case SyncEvent::WaitEdge:
    return cycle < object.credits ||
           finished(SyncEvent::Signal) > cycle - object.credits;
  case SyncEvent::Take:
    return mayTake(agent, event.object);
  case SyncEvent::Sync:
    return allStandAt(agent, event.object);
  case SyncEvent::Commit:
  case SyncEvent::Release:
  case SyncEvent::Give:
  case SyncEvent::Signal:
  case SyncEvent::Fetch:
    return true;
  }
  return true;
}

bool SyncTrial::step(SyncAgent &agent) {
  bool moved = false;
  while (agent.next < agent.events.size() &&
         mayPass(agent, agent.events[agent.next])) {
    const SyncEvent &event = agent.events[agent.next];
    ++agent.cycles[event.object].done[event.kind];
    ++agent.next;
    moved = true;
  }
  return moved;
}

LogicalResult SyncTrial::reportDeadlock() {
  InFlightDiagnostic error =
      kernel.emitOpError("attn-verify-sync: V18: deadlock with ");
  llvm::interleaveComma(items, error, [&](SyncItem item) {
    error << "[" << item.total << " blocks, " << item.masked << " masked]";
  });
  for (const SyncAgent &agent : agents) {
    if (agent.next < agent.events.size()) {
      const SyncEvent &event = agent.events[agent.next];
      ws::RoleOp role = agent.role;
      error.attachNote(event.op->getLoc())
          << "role '" << role.getSymName() << "' replica " << agent.replica
          << (ctas > 1 ? llvm::formatv(" of CTA {0}", agent.cta).str() : "")
          << " waits at '" << event.op->getName().getStringRef() << "' of '"
          << events.objects()[event.object].name << "', cycle "
          << agent.count(event.kind, event.object);
    }
  }
  return error;
}

/// Each role that reads a channel releases what it waited for, and each that
/// fills it copies into what it acquired.
LogicalResult SyncTrial::checkChannel(StringRef name) {
  unsigned channel = events.objectOf(name);
  for (const SyncAgent &agent : agents) {
    auto compare = [&](SyncEvent::Kind a, SyncEvent::Kind b, StringRef what) {
      int64_t first = agent.count(a, channel), second = agent.count(b, channel);
      if (first == second) {
        return success();
      }
      ws::RoleOp role = agent.role;
      return LogicalResult(kernel.emitOpError("attn-verify-sync: V15: role '")
                           << role.getSymName() << "' replica " << agent.replica
                           << " expected equal numbers of " << what << " of '"
                           << name << "', got " << first << " and " << second);
    };
    if (failed(compare(SyncEvent::Wait, SyncEvent::Release,
                       "waits and releases")) ||
        failed(compare(SyncEvent::Acquire, SyncEvent::Commit,
                       "acquires and copies"))) {
      return failure();
    }
  }
  return success();
}

LogicalResult SyncTrial::checkEnds(StringRef name, SyncEvent::Kind a,
                                   SyncEvent::Kind b) {
  unsigned object = events.objectOf(name);
  for (int64_t cta = 0; cta < ctas; ++cta) {
    int64_t first = least(a, object, cta), second = least(b, object, cta);
    if (first != second) {
      return kernel.emitOpError("attn-verify-sync: V15: '")
             << name << "' expected equal cycles at both ends, got " << first
             << " and " << second;
    }
  }
  return success();
}

/// Both ends of a channel, edge or turn have cycled equally.
LogicalResult SyncTrial::checkBalance() {
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    StringRef name = channel.getSymName();
    if (failed(checkChannel(name)) ||
        failed(checkEnds(name, SyncEvent::Acquire, SyncEvent::Wait))) {
      return failure();
    }
  }
  for (auto edge : kernel.getBody().getOps<ws::EdgeOp>()) {
    if (failed(checkEnds(edge.getSymName(), SyncEvent::Signal,
                         SyncEvent::WaitEdge))) {
      return failure();
    }
  }
  for (auto turn : kernel.getBody().getOps<ws::TurnOp>()) {
    if (failed(
            checkEnds(turn.getSymName(), SyncEvent::Take, SyncEvent::Give))) {
      return failure();
    }
  }
  return success();
}

LogicalResult SyncTrial::run() {
  if (failed(start())) {
    return failure();
  }
  bool moved = true;
  while (moved) {
    moved = false;
    for (SyncAgent &agent : agents) {
      moved |= step(agent);
    }
  }
  for (const SyncAgent &agent : agents) {
    if (agent.next < agent.events.size()) {
      return reportDeadlock();
    }
  }
  return checkBalance();
}
