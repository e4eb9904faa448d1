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
  using Kind = SyncEvent;
  auto slot = [&](Kind::Kind kind, Value slot) {
    add(kind, objectOf(channelOf(slot)));
  };
  auto named = [&](Kind::Kind kind, StringRef name) {
    add(kind, objectOf(name));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ws::AcquireOp o) { slot(Kind::Acquire, o.getSlot()); })
      .Case([&](ws::CopyOp o) { slot(Kind::Commit, o.getSlot()); })
      .Case([&](ws::PutWorkOp o) { slot(Kind::Commit, o.getSlot()); })
      .Case([&](ws::WaitOp o) { slot(Kind::Wait, o.getSlot()); })
      .Case([&](ws::ReleaseOp o) { slot(Kind::Release, o.getSlot()); })
      .Case([&](ws::TakeOp o) { named(Kind::Take, o.getTurn()); })
      .Case([&](ws::GiveOp o) { named(Kind::Give, o.getTurn()); })
      .Case([&](ws::SignalOp o) { named(Kind::Signal, o.getEdge()); })
      .Case([&](ws::WaitEdgeOp o) { named(Kind::WaitEdge, o.getEdge()); })
      .Case([&](ws::SyncOp o) { named(Kind::Sync, o.getRendezvous()); })
      .Case([&](ws::FetchWorkOp) { add(Kind::Fetch, 0); });
}

const SyncEvent *SyncEvents::find(Operation *op) const {
  auto event = events.find(op);
  return event == events.end() ? nullptr : &event->second;
}
