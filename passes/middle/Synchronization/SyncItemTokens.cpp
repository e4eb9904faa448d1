// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SyncItemTokens.h"

using namespace mlir;
using namespace attn;

static Access accessTo(int cell, const SyncStep &step) {
  return {cell, {int(step.event->object), int(step.number), 0, 0}};
}

/// Each agent has a word of its own here, although one word collects all of
/// them: an agent never overwrites what another has set.
void attn::giveVerdict(SyncTokens &to, const SyncStep &step) {
  const SyncObject &object = to.objectOf(step);
  int64_t slot = step.number % object.depth;
  SmallVector<int64_t, 2> ctas = to.receivers(object);
  if (takesForCluster(object)) {
    ctas = {0};
  }
  for (int64_t cta : ctas) {
    int word = to.programs.cells.verdict(cta, slot, to.index);
    to.touch({}, accessTo(word, step));
    to.add(Token::Arrive, to.barrier(step, false, slot, cta),
           step.number / object.depth);
  }
}

void attn::takeVerdict(SyncTokens &to, const SyncStep &step) {
  const SyncObject &object = to.objectOf(step);
  int64_t slot = step.number % object.depth;
  to.add(Token::Wait, to.barrier(step, false, slot, to.agent.cta),
         step.number / object.depth);
  SmallVector<Access> reads;
  for (auto [giver, other] : llvm::enumerate(to.programs.agents)) {
    if (to.programs.events.has(other.role, SyncEvent::GiveVerdict,
                               step.event->object) &&
        (object.inCluster || other.cta == to.agent.cta)) {
      int word = to.programs.cells.verdict(to.agent.cta, slot, giver);
      reads.push_back(accessTo(word, step));
    }
  }
  to.touch(reads, {});
}

/// After all CTAs have read the last item: writes this one into the own
/// mailbox, and copies it into those of the others.
static void sendItem(SyncTokens &to, const SyncStep &step) {
  SyncPrograms &programs = to.programs;
  int iteration = step.number;
  if (iteration > 0) {
    to.add(Token::Wait, to.barrier(step, true, 0, 0), iteration - 1);
  }
  Access own = accessTo(programs.cells.mailbox(0), step);
  to.touch({}, own);
  for (int64_t cta = 1; cta < programs.ctas; ++cta) {
    int come = to.barrier(step, false, 0, cta);
    Access other = accessTo(programs.cells.mailbox(cta), step);
    to.issue(-1, programs.store(ArrayRef(own)), programs.store(ArrayRef(other)),
             programs.store(ArrayRef(Signal{come, iteration, to.copies()})));
    to.add(Token::Arrive, come, iteration);
  }
}

static void receiveItem(SyncTokens &to, const SyncStep &step) {
  int iteration = step.number;
  int come = to.barrier(step, false, 0, to.agent.cta);
  to.add(Token::Arrive, come, iteration);
  to.add(Token::Wait, come, iteration);
  to.touch(accessTo(to.programs.cells.mailbox(to.agent.cta), step), {});
  to.add(Token::Arrive, to.barrier(step, true, 0, 0), iteration);
}

void attn::shareItem(SyncTokens &to, const SyncStep &step) {
  to.agent.cta == 0 ? sendItem(to, step) : receiveItem(to, step);
}
