// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncWriter.h"

using namespace mlir;
using namespace attn;

void SyncWriter::write() {
  for (int e = agent.steps.size(); step < e; ++step) {
    writeStep(agent.steps[step]);
  }
}

void SyncWriter::writeStep(const SyncStep &step) {
  switch (step.event->kind) {
  case SyncEvent::Acquire:
  case SyncEvent::Copy:
  case SyncEvent::PutWork:
  case SyncEvent::Wait:
  case SyncEvent::GetWork:
  case SyncEvent::Release:
    return writeChannel(step);
  case SyncEvent::Mma:
    return writeMma(step);
  case SyncEvent::AwaitMma:
    add(Token::Await, operations[step.issued]);
    return;
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
  case SyncEvent::Meet: {
    int objects = events.objects().size();
    int rendezvous = agent.cta * objects + step.event->object;
    add(Token::Meet, rendezvous, rounds[rendezvous]++);
    return;
  }
  case SyncEvent::Fetch:
  case SyncEvent::TakeItem:
    return; // the answer is in registers
  case SyncEvent::GiveVerdict:
    return giveVerdict(step);
  case SyncEvent::TakeVerdict:
    return takeVerdict(step);
  case SyncEvent::ShareItem:
    return agent.cta == 0 ? sendItem(step) : receiveItem(step);
  }
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

CellRange SyncWriter::rangeOf(SlotRef slot) const {
  const SyncObject &object = events.objects()[slot.object];
  return programs.memory.cells(object.name, slot.number % object.depth);
}

void SyncWriter::appendCells(SlotRef slot, Tag tag,
                             SmallVectorImpl<Access> &list) {
  CellRange range = rangeOf(slot);
  for (int cell = range.begin; cell < range.end; ++cell) {
    for (int64_t sharer = 0; sharer < programs.ctas; ++sharer) {
      list.push_back({cellOf(cell, agent.cta, sharer), tag});
    }
  }
}

Span SyncWriter::cellsOf(SlotRef slot, Tag tag) {
  SmallVector<Access> list;
  appendCells(slot, tag, list);
  return programs.store(list);
}

Span SyncWriter::shareOf(SlotRef slot, Tag tag) {
  SmallVector<Access> list;
  CellRange range = rangeOf(slot);
  for (int cell = range.begin; cell < range.end; ++cell) {
    for (int64_t cta = 0; cta < programs.ctas; ++cta) {
      list.push_back({cellOf(cell, cta, agent.cta), tag});
    }
  }
  return programs.store(list);
}

/// A channel's cycle was filled for the item in which it is read. A piece of a
/// hold has what this agent has put last, or what another one has put in the
/// item.
Tag SyncWriter::tagOf(SlotRef slot, int item) const {
  if (events.objects()[slot.object].kind == SyncObject::Channel) {
    return {slot.object, item, int(slot.number), 0};
  }
  auto put = puts.find({slot.object, slot.number});
  Tag tag{slot.object, item, 0, int(slot.number)};
  if (put != puts.end() && put->second.item == item) {
    tag.iteration = put->second.iteration;
  }
  return tag;
}

void SyncWriter::touch(Span reads, Span writes) {
  Token &token = add(Token::Do, 0);
  token.reads = reads;
  token.writes = writes;
}

void SyncWriter::issue(AsyncOp operation) {
  operations[step] = programs.operations.size();
  add(Token::Issue, operations[step]);
  programs.operations.push_back(operation);
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

SmallVector<int64_t, 2> SyncWriter::receivers(unsigned object) const {
  SmallVector<int64_t, 2> ctas{agent.cta};
  if (events.objects()[object].inCluster) {
    for (int64_t i = 1; i < programs.ctas; ++i) {
      ctas.push_back((agent.cta + i) % programs.ctas);
    }
  }
  return ctas;
}

void SyncWriter::writeChannel(const SyncStep &step) {
  unsigned channel = step.event->object;
  const SyncObject &object = events.objects()[channel];
  SlotRef slot{int(channel), step.number};
  Tag tag = tagOf(slot, step.item);
  int64_t ringSlot = step.number % object.depth;
  int phase = step.number / object.depth;
  auto barrier = [&](bool isFree, int64_t cta) {
    return programs.barrierOf(channel, isFree, ringSlot, cta);
  };
  switch (step.event->kind) {
  case SyncEvent::Acquire:
    if (!object.freeImplied && phase > 0) {
      add(Token::Wait, barrier(true, agent.cta), phase - 1);
    }
    return;
  case SyncEvent::Wait:
    add(Token::Wait, barrier(false, agent.cta), phase);
    return;
  case SyncEvent::Copy: {
    SmallVector<Signal, 2> signals;
    int source = programs.agents.size() + index;
    for (int64_t cta : receivers(channel)) {
      signals.push_back({barrier(false, cta), phase, source});
    }
    Span writes = object.inCluster ? shareOf(slot, tag) : cellsOf(slot, tag);
    return issue({index, this->step, -1, {}, writes, programs.store(signals)});
  }
  case SyncEvent::PutWork:
    touch({}, cellsOf(slot, tag));
    add(Token::Arrive, barrier(false, agent.cta), phase);
    return;
  case SyncEvent::GetWork:
    return touch(cellsOf(slot, tag), {});
  default: // Release
    if (!object.freeImplied) {
      for (int64_t cta : receivers(channel)) {
        add(Token::Arrive, barrier(true, cta), phase);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// MMAs, holds and stores
//===----------------------------------------------------------------------===//

/// Operations of one kind and agent end in order.
static int pipeOf(int agent, bool isStore) { return 2 * agent + isStore; }

void SyncWriter::writeMma(const SyncStep &step) {
  SmallVector<Access> reads;
  for (SlotRef slot : step.reads) {
    if (slot.object >= 0) {
      appendCells(slot, tagOf(slot, step.item), reads);
    }
  }
  issue(
      {index, this->step, pipeOf(index, false), programs.store(reads), {}, {}});
}

void SyncWriter::writePut(const SyncStep &step) {
  SlotRef piece{int(step.event->object), step.number};
  Tag tag{piece.object, step.item, 0, int(piece.number)};
  auto [last, isFirst] = puts.try_emplace({piece.object, piece.number}, tag);
  if (!isFirst && last->second.item == step.item) {
    tag.iteration = last->second.iteration + 1;
  }
  last->second = tag;
  touch({}, cellsOf(piece, tag));
}

void SyncWriter::writeStore(const SyncStep &step) {
  SlotRef piece{int(step.event->object), step.number};
  Span reads = cellsOf(piece, tagOf(piece, step.item));
  issue({index, this->step, pipeOf(index, true), reads, {}, {}});
  stores.push_back(operations[this->step]);
}

void SyncWriter::awaitStores() {
  for (int operation : stores) {
    add(Token::Await, operation);
  }
  stores.clear();
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

Span SyncWriter::cellOfItem(int cell, const SyncStep &step) {
  Tag tag{int(step.event->object), int(step.number), 0, 0};
  return programs.store(ArrayRef(Access{cell, tag}));
}

/// Each agent has a word of its own, though one word gathers them all: nobody
/// loses what another has set there.
void SyncWriter::giveVerdict(const SyncStep &step) {
  unsigned verdict = step.event->object;
  const SyncObject &object = events.objects()[verdict];
  int64_t slot = step.number % object.depth;
  SmallVector<int64_t, 2> ctas = receivers(verdict);
  if (SyncPrograms::takesForCluster(object)) {
    ctas = {0};
  }
  for (int64_t cta : ctas) {
    touch({}, cellOfItem(programs.verdictCell(cta, slot, index), step));
    add(Token::Arrive, programs.barrierOf(verdict, false, slot, cta),
        step.number / object.depth);
  }
}

void SyncWriter::takeVerdict(const SyncStep &step) {
  unsigned verdict = step.event->object;
  const SyncObject &object = events.objects()[verdict];
  int64_t slot = step.number % object.depth;
  add(Token::Wait, programs.barrierOf(verdict, false, slot, agent.cta),
      step.number / object.depth);
  SmallVector<Access> reads;
  for (auto [giver, other] : llvm::enumerate(programs.agents)) {
    if (events.has(other.role, SyncEvent::GiveVerdict, verdict) &&
        (object.inCluster || other.cta == agent.cta)) {
      reads.push_back({programs.verdictCell(agent.cta, slot, giver),
                       {int(verdict), int(step.number), 0, 0}});
    }
  }
  touch(programs.store(reads), {});
}

/// Once all have read the last item: writes this one into the own mailbox, and
/// copies it into those of the others.
void SyncWriter::sendItem(const SyncStep &step) {
  unsigned mailbox = step.event->object;
  int turn = step.number;
  if (turn > 0) {
    add(Token::Wait, programs.barrierOf(mailbox, true, 0, 0), turn - 1);
  }
  Span own = cellOfItem(programs.mailboxCell(0), step);
  touch({}, own);
  int copy = programs.agents.size() + index;
  for (int64_t cta = 1; cta < programs.ctas; ++cta) {
    int come = programs.barrierOf(mailbox, false, 0, cta);
    Signal signal{come, turn, copy};
    issue({index, this->step, -1, own,
           cellOfItem(programs.mailboxCell(cta), step),
           programs.store(ArrayRef(signal))});
    add(Token::Arrive, come, turn);
  }
}

void SyncWriter::receiveItem(const SyncStep &step) {
  unsigned mailbox = step.event->object;
  int turn = step.number;
  int come = programs.barrierOf(mailbox, false, 0, agent.cta);
  add(Token::Arrive, come, turn);
  add(Token::Wait, come, turn);
  touch(cellOfItem(programs.mailboxCell(agent.cta), step), {});
  add(Token::Arrive, programs.barrierOf(mailbox, true, 0, 0), turn);
}

//===----------------------------------------------------------------------===//
// Turns and edges
//===----------------------------------------------------------------------===//

void SyncWriter::arriveNext(int barrier, int64_t credits) {
  add(Token::Arrive, barrier, credits + arrived[barrier]++);
}

void SyncWriter::waitNext(int barrier, int64_t credits) {
  int phase = waited[barrier]++;
  add(phase < credits ? Token::Pass : Token::Wait, barrier, phase);
}

/// A replica waits at its own barrier, and gives the turn at that of the next.
void SyncWriter::writeTurn(const SyncStep &step) {
  unsigned turn = step.event->object;
  ws::RoleOp ring = events.objects()[turn].ring;
  bool takes = step.event->kind == SyncEvent::Take;
  int64_t replica =
      takes ? step.number : (step.number + 1) % ring.getReplicas();
  int barrier = programs.barrierOf(turn, false, replica, agent.cta);
  int64_t credits = replica == 0;
  takes ? waitNext(barrier, credits) : arriveNext(barrier, credits);
}

void SyncWriter::writeEdge(const SyncStep &step) {
  unsigned edge = step.event->object;
  int64_t credits = events.objects()[edge].credits;
  auto barrier = [&](int64_t cta) {
    return programs.barrierOf(edge, false, 0, cta);
  };
  if (step.event->kind == SyncEvent::WaitEdge) {
    return waitNext(barrier(agent.cta), credits);
  }
  for (int64_t cta : receivers(edge)) {
    arriveNext(barrier(cta), credits);
  }
}
