// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncBalance.h"

using namespace mlir;
using namespace attn;

int64_t SyncBalance::least(SyncEvent::Kind kind, unsigned object,
                           int64_t cta) const {
  std::optional<int64_t> least;
  bool seesAll = events.objects()[object].inCluster;
  for (const SyncAgent &agent : agents) {
    if ((seesAll || agent.cta == cta) && events.has(agent.role, kind, object)) {
      int64_t cycles = agent.count(kind, object);
      least = std::min(least.value_or(cycles), cycles);
    }
  }
  return least.value_or(0);
}

LogicalResult SyncBalance::checkPair(unsigned object, SyncEvent::Kind a,
                                     SyncEvent::Kind b, StringRef what) {
  for (const SyncAgent &agent : agents) {
    int64_t first = agent.count(a, object), second = agent.count(b, object);
    if (first != second) {
      return emitError() << "V15: " << describe(agent, ctas)
                         << " expected equal numbers of " << what << " of '"
                         << events.objects()[object].name << "', got " << first
                         << " and " << second;
    }
  }
  return success();
}

LogicalResult SyncBalance::checkEnds(unsigned object, SyncEvent::Kind a,
                                     SyncEvent::Kind b) {
  for (int64_t cta = 0; cta < ctas; ++cta) {
    int64_t first = least(a, object, cta), second = least(b, object, cta);
    if (first != second) {
      return emitError() << "V15: '" << events.objects()[object].name
                         << "' expected equal cycles at both ends, got "
                         << first << " and " << second;
    }
  }
  return success();
}

/// Checks that each role that reads a channel releases its slots, and that each
/// role that fills it copies into the slots that it acquired.
LogicalResult SyncBalance::checkChannel(unsigned channel) {
  bool carriesWork = llvm::any_of(agents, [&](const SyncAgent &agent) {
    return events.has(agent.role, SyncEvent::PutWork, channel);
  });
  SyncEvent::Kind fill = carriesWork ? SyncEvent::PutWork : SyncEvent::Copy;
  return failure(
      failed(checkPair(channel, SyncEvent::Wait, SyncEvent::Release,
                       "waits and releases")) ||
      failed(checkPair(channel, SyncEvent::Acquire, fill,
                       "acquires and copies")) ||
      failed(checkEnds(channel, SyncEvent::Acquire, SyncEvent::Wait)));
}

/// Checks that every put into a hold is read, by a store or an MMA.
LogicalResult SyncBalance::checkHold(unsigned hold) {
  const SyncObject &object = events.objects()[hold];
  // By CTA and piece.
  std::vector<int64_t> puts(ctas * object.depth), reads(puts.size());
  for (const SyncAgent &agent : agents) {
    auto at = [&](int64_t piece) { return agent.cta * object.depth + piece; };
    for (const SyncStep &step : agent.steps) {
      if (step.event->object == hold && step.event->kind == SyncEvent::Put) {
        ++puts[at(step.number)];
      }
      if (step.event->object == hold && step.event->kind == SyncEvent::Store) {
        ++reads[at(step.number)];
      }
      for (SlotRef slot : step.reads) {
        if (slot.object != int(hold)) {
          continue;
        }
        int64_t count = slot.isWhole ? object.pieces : 1;
        for (int64_t piece = 0; piece < count; ++piece) {
          ++reads[at(slot.number + piece)];
        }
      }
    }
  }
  for (auto [i, put, read] : llvm::enumerate(puts, reads)) {
    if (read < put || (put == 0 && read > 0)) {
      return emitError() << "V15: piece " << i % object.depth << " of '"
                         << object.name
                         << "' expected as many reads as puts at least, got "
                         << put << " puts and " << read << " reads";
    }
  }
  return success();
}

/// Checks that each verdict that a role gives is read, by all roles that read
/// any.
LogicalResult SyncBalance::checkVerdict(unsigned verdict) {
  const SyncObject &object = events.objects()[verdict];
  auto gives = [&](const SyncAgent &agent) {
    return events.has(agent.role, SyncEvent::GiveVerdict, verdict);
  };
  if (llvm::none_of(agents, gives)) {
    return emitError() << "V15: '" << object.name
                       << "' expected a role that gives it, got none";
  }
  for (const SyncAgent &giver : agents) {
    for (const SyncAgent &taker : agents) {
      bool takes = events.has(taker.role, SyncEvent::TakeVerdict, verdict) &&
                   (taker.cta == 0 || !object.handedOut);
      int64_t given = giver.count(SyncEvent::GiveVerdict, verdict);
      int64_t taken = taker.count(SyncEvent::TakeVerdict, verdict);
      if (takes && gives(giver) && given != taken) {
        return emitError() << "V15: '" << object.name << "' expected "
                           << describe(taker, ctas)
                           << " to take each verdict that "
                           << describe(giver, ctas) << " gives, got " << taken
                           << " and " << given;
      }
    }
  }
  return success();
}

LogicalResult SyncBalance::check() {
  for (auto [i, object] : llvm::enumerate(events.objects())) {
    LogicalResult balanced = success();
    switch (object.kind) {
    case SyncObject::Channel:
      balanced = checkChannel(i);
      break;
    case SyncObject::Hold:
      balanced = checkHold(i);
      break;
    case SyncObject::Edge:
      balanced = checkEnds(i, SyncEvent::Signal, SyncEvent::WaitEdge);
      break;
    case SyncObject::Turn:
      balanced =
          checkPair(i, SyncEvent::Take, SyncEvent::Give, "takes and gives");
      break;
    case SyncObject::Verdict:
      balanced = checkVerdict(i);
      break;
    case SyncObject::Rendezvous:
    case SyncObject::Mailbox:
      break;
    }
    if (failed(balanced)) {
      return failure();
    }
  }
  return success();
}
