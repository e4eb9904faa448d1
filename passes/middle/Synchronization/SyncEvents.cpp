// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncEvents.h"
#include "attn/dialect/ItemMemory.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

static SyncObject describe(ws::ChannelOp channel) {
  SyncObject object{SyncObject::Channel, channel.getSymName()};
  object.depth = channel.getDepth();
  object.freeImplied = channel.getFreeImplied();
  object.inCluster = channel.getCluster();
  return object;
}

static SyncObject describe(ws::HoldOp hold) {
  SyncObject object{SyncObject::Hold, hold.getSymName()};
  object.pieces = hold.getPieces();
  object.depth = object.pieces * int64_t(hold.getDepth());
  return object;
}

static SyncObject describe(ws::EdgeOp edge) {
  SyncObject object{SyncObject::Edge, edge.getSymName()};
  object.credits = edge.getCredits();
  object.inCluster = edge.getCluster();
  return object;
}

static SyncObject describe(ws::VerdictOp verdict) {
  SyncObject object{SyncObject::Verdict, verdict.getSymName()};
  object.depth = ws::verdictRing;
  object.inCluster = verdict.isInCluster();
  object.handedOut = verdict.isHandedOut();
  return object;
}

static SyncObject describe(ws::MailboxOp mailbox) {
  SyncObject object{SyncObject::Mailbox, mailbox.getSymName()};
  object.inCluster = true;
  return object;
}

template <typename RingOp>
static SyncObject describeRing(SyncObject::Kind kind, RingOp op,
                               ws::KernelOp kernel) {
  SyncObject object{kind, op.getSymName()};
  object.ring = kernel.lookupSymbol<ws::RoleOp>(op.getRing());
  object.depth = object.ring.getReplicas();
  return object;
}

SyncEvents::SyncEvents(ws::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case<ws::ChannelOp, ws::HoldOp, ws::EdgeOp, ws::VerdictOp,
              ws::MailboxOp>([&](auto object) { addObject(describe(object)); })
        .Case([&](ws::TurnOp turn) {
          addObject(describeRing(SyncObject::Turn, turn, kernel));
        })
        .Case([&](ws::RendezvousOp rendezvous) {
          addObject(describeRing(SyncObject::Rendezvous, rendezvous, kernel));
        });
  }
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    ends[role].resize(std::max<size_t>(found.size(), 1) * SyncEvent::kinds);
  }
  kernel.walk([&](Operation *op) { addEvent(op); });
}

void SyncEvents::addObject(SyncObject object) {
  places[object.name] = found.size();
  found.push_back(object);
}

unsigned SyncEvents::objectOf(Value slot) const {
  return objectOf(cast<ws::SlotType>(slot.getType()).getChannel().getValue());
}

void SyncEvents::addEvent(Operation *op) {
  auto add = [&](SyncEvent::Kind kind, unsigned object = 0) {
    events[op] = {kind, object, op};
    // The walk is in order, so an op that has been added before is the last of
    // its block.
    for (Operation *at = op; !isa<ws::KernelOp>(at); at = at->getParentOp()) {
      auto &ops = around[at->getBlock()];
      if (!ops.empty() && ops.back() == at) {
        break;
      }
      ops.push_back(at);
    }
    if (auto role = op->getParentOfType<ws::RoleOp>()) {
      ends[role].set(object * SyncEvent::kinds + kind);
    }
  };
  auto slot = [&](SyncEvent::Kind kind, Value slot) {
    add(kind, objectOf(slot));
  };
  auto named = [&](SyncEvent::Kind kind, StringRef name) {
    add(kind, objectOf(name));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ws::AcquireOp o) { slot(SyncEvent::Acquire, o.getSlot()); })
      .Case([&](ws::CopyOp o) { slot(SyncEvent::Copy, o.getSlot()); })
      .Case([&](ws::PutWorkOp o) { slot(SyncEvent::PutWork, o.getSlot()); })
      .Case([&](ws::WaitOp o) { slot(SyncEvent::Wait, o.getSlot()); })
      .Case<ws::GetWorkOp, ws::ReadRowOp>(
          [&](auto o) { slot(SyncEvent::Read, o.getSlot()); })
      .Case([&](ws::ReleaseOp o) { slot(SyncEvent::Release, o.getSlot()); })
      .Case([&](ws::MmaOp) { add(SyncEvent::Mma); })
      .Case([&](ws::AwaitOp) { add(SyncEvent::AwaitMma); })
      .Case([&](ws::PutOp o) { named(SyncEvent::Put, o.getHold()); })
      .Case<ws::StoreOp, ws::ReduceAddOp>(
          [&](auto o) { named(SyncEvent::Store, o.getHold()); })
      .Case([&](ws::AwaitStoreOp) { add(SyncEvent::AwaitStores); })
      .Case([&](ws::TakeOp o) { named(SyncEvent::Take, o.getTurn()); })
      .Case([&](ws::GiveOp o) { named(SyncEvent::Give, o.getTurn()); })
      .Case([&](ws::SignalOp o) { named(SyncEvent::Signal, o.getEdge()); })
      .Case([&](ws::WaitEdgeOp o) { named(SyncEvent::WaitEdge, o.getEdge()); })
      .Case([&](ws::SyncOp o) { named(SyncEvent::Meet, o.getRendezvous()); })
      .Case([&](ws::FetchWorkOp) { add(SyncEvent::Fetch); })
      .Case([&](ws::TakeItemOp) { add(SyncEvent::TakeItem); })
      .Case([&](ws::GiveVerdictOp o) {
        named(SyncEvent::GiveVerdict, o.getVerdict());
      })
      .Case<ws::SecondRunOp, ws::ChooseItemOp>(
          [&](auto o) { named(SyncEvent::TakeVerdict, o.getVerdict()); })
      .Case([&](ws::ShareWorkOp o) {
        named(SyncEvent::ShareItem, o.getMailbox());
      });
}

const SyncEvent *SyncEvents::find(Operation *op) const {
  auto event = events.find(op);
  return event == events.end() ? nullptr : &event->second;
}
