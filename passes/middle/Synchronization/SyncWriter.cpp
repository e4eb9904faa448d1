// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncWriter.h"
#include "SyncItemTokens.h"

using namespace mlir;
using namespace attn;

namespace {

class SyncWriter {
public:
  SyncWriter(SyncPrograms &programs, int index)
      : programs(programs), to(programs, index) {}

  void write();

private:
  void writeStep(const SyncStep &step);
  void writeChannel(const SyncStep &step);
  void writeMma(const SyncStep &step);
  void writePut(const SyncStep &step);
  void writeStore(const SyncStep &step);
  void awaitStores();
  void writeTurn(const SyncStep &step);
  void writeEdge(const SyncStep &step);
  void writeMeeting(const SyncStep &step);
  /// Arrives on, or waits for, the next phase of a barrier that has credits.
  void arriveNext(int barrier, int64_t credits);
  void waitNext(int barrier, int64_t credits);

  /// Returns the tag that this agent expects in a slot or piece that it reads
  /// in `item`.
  Tag tagOf(SlotRef slot, int item) const;
  /// Returns the tag that this agent expects in one of all pieces of a hold.
  Tag tagOfPiece(SlotRef piece, int item) const;
  /// The last tag of each piece.
  using LastTags = llvm::DenseMap<std::pair<int, int64_t>, Tag>;
  /// Returns the tag of the next tile in a piece; tiles of an item are
  /// numbered.
  static Tag nextTag(SlotRef piece, int item, LastTags &lasts);
  /// Returns the cells of a slot or piece of this CTA.
  Span cellsOf(SlotRef slot, Tag tag);
  /// Returns this CTA's share of a slot in all CTAs of the cluster.
  Span shareOf(SlotRef slot, Tag tag);

  SyncPrograms &programs;
  SyncTokens to;
  llvm::SmallVector<int> stores; // steps that were not awaited
  LastTags puts, taken;          // that this agent puts, or stores for others
  llvm::DenseMap<int, int> arrived, waited; // number of phases, by barrier
  llvm::DenseMap<int, int> rounds;          // number of arrivals, by rendezvous
};

} // namespace

void attn::writeTokens(SyncPrograms &programs, int agent) {
  SyncWriter(programs, agent).write();
}

void SyncWriter::write() {
  for (int e = to.agent.steps.size(); to.step < e; ++to.step) {
    writeStep(to.agent.steps[to.step]);
  }
}

void SyncWriter::writeStep(const SyncStep &step) {
  switch (step.event->kind) {
  case SyncEvent::Acquire:
  case SyncEvent::Copy:
  case SyncEvent::PutWork:
  case SyncEvent::Wait:
  case SyncEvent::Read:
  case SyncEvent::Release:
    return writeChannel(step);
  case SyncEvent::Mma:
    return writeMma(step);
  case SyncEvent::AwaitMma:
    return to.await(step.issued);
  case SyncEvent::Put:
    return writePut(step);
  case SyncEvent::Store:
    return writeStore(step);
  case SyncEvent::AwaitStores:
    return awaitStores();
  case SyncEvent::Take:
  case SyncEvent::Give:
    return writeTurn(step);
  case SyncEvent::Signal:
  case SyncEvent::WaitEdge:
    return writeEdge(step);
  case SyncEvent::Meet:
    return writeMeeting(step);
  case SyncEvent::Fetch:
  case SyncEvent::TakeItem:
    return; // the counter's reply is in registers
  case SyncEvent::GiveVerdict:
    return giveVerdict(to, step);
  case SyncEvent::TakeVerdict:
    return takeVerdict(to, step);
  case SyncEvent::ShareItem:
    return shareItem(to, step);
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

Span SyncWriter::cellsOf(SlotRef slot, Tag tag) {
  SmallVector<Access> list;
  programs.cells.append(slot, to.agent.cta, tag, list);
  return programs.store(list);
}

Span SyncWriter::shareOf(SlotRef slot, Tag tag) {
  SmallVector<Access> list;
  programs.cells.appendShare(slot, to.agent.cta, tag, list);
  return programs.store(list);
}

/// A cycle of a channel must have been filled for the item in which it is read.
/// A piece of a hold must have the last tile that this agent put, or the one
/// that another agent put in this item.
Tag SyncWriter::tagOf(SlotRef slot, int item) const {
  if (programs.events.objects()[slot.object].kind == SyncObject::Channel) {
    return {slot.object, item, int(slot.number), 0};
  }
  auto put = puts.find({slot.object, slot.number});
  Tag tag{slot.object, item, 0, int(slot.number)};
  if (put != puts.end() && put->second.item == item) {
    tag.iteration = put->second.iteration;
  }
  return tag;
}

/// All replicas have put as often in an item when one of them reads all pieces.
Tag SyncWriter::tagOfPiece(SlotRef piece, int item) const {
  Tag tag{piece.object, item, 0, int(piece.number)};
  int64_t pieces = programs.events.objects()[piece.object].pieces;
  for (const auto &[place, put] : puts) {
    if (place.first == piece.object &&
        place.second / pieces == piece.number / pieces && put.item == item) {
      tag.iteration = put.iteration;
    }
  }
  return tag;
}

void SyncWriter::writeChannel(const SyncStep &step) {
  const SyncObject &object = to.objectOf(step);
  SlotRef slot{int(step.event->object), step.number};
  Tag tag = tagOf(slot, step.item);
  int phase = step.number / object.depth;
  auto barrier = [&](bool isFree, int64_t cta) {
    return to.barrier(step, isFree, step.number % object.depth, cta);
  };
  switch (step.event->kind) {
  case SyncEvent::Acquire:
    if (!object.freeImplied && phase > 0) {
      to.add(Token::Wait, barrier(true, to.agent.cta), phase - 1);
    }
    return;
  case SyncEvent::Wait:
    to.add(Token::Wait, barrier(false, to.agent.cta), phase);
    return;
  case SyncEvent::Copy: {
    SmallVector<Signal, 2> signals;
    for (int64_t cta : to.receivers(object)) {
      signals.push_back({barrier(false, cta), phase, to.copies()});
    }
    Span writes = object.inCluster ? shareOf(slot, tag) : cellsOf(slot, tag);
    return to.issue(-1, {}, writes, programs.store(signals));
  }
  case SyncEvent::PutWork:
    to.touch(Span(), cellsOf(slot, tag));
    to.add(Token::Arrive, barrier(false, to.agent.cta), phase);
    return;
  case SyncEvent::Read:
    return to.touch(cellsOf(slot, tag), Span());
  default: // of a Release
    if (!object.freeImplied) {
      for (int64_t cta : to.receivers(object)) {
        to.add(Token::Arrive, barrier(true, cta), phase);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// MMAs, holds and stores
//===----------------------------------------------------------------------===//

/// Operations of one kind and agent complete in order.
static int pipeOf(int agent, bool isStore) { return 2 * agent + isStore; }

void SyncWriter::writeMma(const SyncStep &step) {
  SmallVector<Access> reads;
  for (SlotRef slot : step.reads) {
    if (slot.object < 0) {
      continue;
    }
    if (!slot.isWhole) {
      programs.cells.append(slot, to.agent.cta, tagOf(slot, step.item), reads);
      continue;
    }
    int64_t pieces = programs.events.objects()[slot.object].pieces;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      SlotRef one{slot.object, slot.number + piece};
      programs.cells.append(one, to.agent.cta, tagOfPiece(one, step.item),
                            reads);
    }
  }
  to.issue(pipeOf(to.index, false), programs.store(reads), {});
}

void SyncWriter::writePut(const SyncStep &step) {
  SlotRef piece{int(step.event->object), step.number};
  to.touch(Span(), cellsOf(piece, nextTag(piece, step.item, puts)));
}

/// Of the tiles that another agent puts, this one stores each exactly once, in
/// order.
void SyncWriter::writeStore(const SyncStep &step) {
  SlotRef piece{int(step.event->object), step.number};
  Tag tag = puts.contains({piece.object, piece.number})
                ? tagOf(piece, step.item)
                : nextTag(piece, step.item, taken);
  to.issue(pipeOf(to.index, true), cellsOf(piece, tag), {});
  stores.push_back(to.step);
}

Tag SyncWriter::nextTag(SlotRef piece, int item, LastTags &lasts) {
  Tag tag{piece.object, item, 0, int(piece.number)};
  auto [last, isFirst] = lasts.try_emplace({piece.object, piece.number}, tag);
  if (!isFirst && last->second.item == item) {
    tag.iteration = last->second.iteration + 1;
  }
  last->second = tag;
  return tag;
}

void SyncWriter::awaitStores() {
  for (int step : stores) {
    to.await(step);
  }
  stores.clear();
}

//===----------------------------------------------------------------------===//
// Turns, edges and rendezvous
//===----------------------------------------------------------------------===//

void SyncWriter::arriveNext(int barrier, int64_t credits) {
  to.add(Token::Arrive, barrier, credits + arrived[barrier]++);
}

void SyncWriter::waitNext(int barrier, int64_t credits) {
  int phase = waited[barrier]++;
  to.add(phase < credits ? Token::Pass : Token::Wait, barrier, phase);
}

/// A replica waits at its own barrier, and gives the turn at the barrier of the
/// next.
void SyncWriter::writeTurn(const SyncStep &step) {
  ws::RoleOp ring = to.objectOf(step).ring;
  bool takes = step.event->kind == SyncEvent::Take;
  int64_t replica =
      takes ? step.number : (step.number + 1) % ring.getReplicas();
  int barrier = to.barrier(step, false, replica, to.agent.cta);
  int64_t credits = replica == 0;
  takes ? waitNext(barrier, credits) : arriveNext(barrier, credits);
}

void SyncWriter::writeEdge(const SyncStep &step) {
  const SyncObject &object = to.objectOf(step);
  if (step.event->kind == SyncEvent::WaitEdge) {
    return waitNext(to.barrier(step, false, 0, to.agent.cta), object.credits);
  }
  for (int64_t cta : to.receivers(object)) {
    arriveNext(to.barrier(step, false, 0, cta), object.credits);
  }
}

void SyncWriter::writeMeeting(const SyncStep &step) {
  int objects = programs.events.objects().size();
  int rendezvous = to.agent.cta * objects + step.event->object;
  to.add(Token::Meet, rendezvous, rounds[rendezvous]++);
}
