// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncEvents.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

SyncEvents::SyncEvents(ws::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](ws::ChannelOp channel) {
          addObject({channel.getSymName(), (int64_t)channel.getDepth(), 0,
                     channel.getFreeImplied(), channel.getCluster()});
        })
        .Case([&](ws::EdgeOp edge) {
          addObject({edge.getSymName(), 0, (int64_t)edge.getCredits(), false,
                     edge.getCluster()});
        })
        .Case<ws::TurnOp, ws::RendezvousOp>(
            [&](auto object) { addObject({object.getSymName()}); });
  }
  kernel.walk([&](Operation *op) { addEvent(op); });
}

void SyncEvents::addObject(SyncObject object) {
  places[object.name] = found.size();
  found.push_back(object);
}

static StringRef channelOf(Value slot) {
  return cast<ws::SlotType>(slot.getType()).getChannel().getValue();
}

void SyncEvents::addEvent(Operation *op) {
  auto add = [&](SyncEvent::Kind kind, unsigned object) {
    events[op] = {kind, object, op};
    // Whoever is marked has marked its parents.
    for (Operation *at = op; at && around.insert(at).second;) {
      at = at->getParentOp();
    }
  };
  auto slot = [&](SyncEvent::Kind kind, Value slot) {
    add(kind, objectOf(channelOf(slot)));
  };
  auto named = [&](SyncEvent::Kind kind, StringRef name) {
    add(kind, objectOf(name));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ws::AcquireOp o) { slot(SyncEvent::Acquire, o.getSlot()); })
      .Case([&](ws::CopyOp o) { slot(SyncEvent::Commit, o.getSlot()); })
      .Case([&](ws::PutWorkOp o) { slot(SyncEvent::Commit, o.getSlot()); })
      .Case([&](ws::WaitOp o) { slot(SyncEvent::Wait, o.getSlot()); })
      .Case([&](ws::ReleaseOp o) { slot(SyncEvent::Release, o.getSlot()); })
      .Case([&](ws::TakeOp o) { named(SyncEvent::Take, o.getTurn()); })
      .Case([&](ws::GiveOp o) { named(SyncEvent::Give, o.getTurn()); })
      .Case([&](ws::SignalOp o) { named(SyncEvent::Signal, o.getEdge()); })
      .Case([&](ws::WaitEdgeOp o) { named(SyncEvent::WaitEdge, o.getEdge()); })
      .Case([&](ws::SyncOp o) { named(SyncEvent::Sync, o.getRendezvous()); })
      .Case([&](ws::FetchWorkOp) { add(SyncEvent::Fetch, 0); });
}

const SyncEvent *SyncEvents::find(Operation *op) const {
  auto event = events.find(op);
  return event == events.end() ? nullptr : &event->second;
}
