// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ends of asynchronous operations that a role awaits.
#include "ProgramWriter.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

/// Operations of one pipe end in order, so those issued before end as well.
void ProgramWriter::awaitOperation(int operation) {
  auto awaited = llvm::find_if(flights, [&](const Flight &flight) {
    return flight.operation == operation;
  });
  if (awaited == flights.end()) {
    return;
  }
  int pipe = awaited->pipe;
  llvm::erase_if(flights, [&](const Flight &flight) {
    if (flight.pipe != pipe || flight.operation > operation) {
      return false;
    }
    add(Token::Await, flight.operation);
    for (const CycleKey &key : flight.pending) {
      arriveFree(key);
    }
    return true;
  });
}

/// Awaits the MMAs of this turn that must have ended before the act.
void ProgramWriter::awaitConflicts(const Item &item) {
  int last = -1;
  for (const Flight &flight : flights) {
    bool isAwaited = llvm::any_of(item.act->awaited, [&](int product) {
      return sectionOf(item)[product].entry == flight.item->act->entry;
    });
    last = isAwaited ? flight.operation : last;
  }
  awaitOperation(last);
}

/// The section of the plan that an item is an act of.
const PlannedActs &ProgramWriter::sectionOf(const Item &item) const {
  const RolePlan &plan = bound.plans[index];
  for (const PlannedActs *acts : {&plan.before, &plan.turn, &plan.after}) {
    if (item.act >= acts->begin() && item.act < acts->end()) {
      return *acts;
    }
  }
  return plan.empty;
}

void ProgramWriter::awaitProducts() {
  int last = -1;
  for (const Flight &flight : flights) {
    last = flight.engine == Engine::Mma ? flight.operation : last;
  }
  awaitOperation(last);
}

/// Awaits what is in flight of a step. Stores are awaited all at once.
void ProgramWriter::writeAwait(const Item &item) {
  const PlannedAct &act = *item.act;
  bool isStore = kernel.steps[act.target].engine == Engine::Store;
  SmallVector<int, 2> operations;
  for (const Flight &flight : flights) {
    const PlannedAct &issued = *flight.item->act;
    bool isOfStep = issued.kind == PlannedAct::Run &&
                    issued.target == act.target &&
                    issued.subtile == act.subtile;
    bool isOfInstance = flight.item->item == item.item &&
                        flight.item->iteration == item.iteration;
    if (bound.awaitsProducts()
            ? isOfStep || (isStore && flight.engine == Engine::Store)
            : isOfStep && (isOfInstance || !flight.pending.empty())) {
      operations.push_back(flight.operation);
    }
  }
  for (int operation : operations) {
    awaitOperation(operation);
  }
}

static bool meet(ArrayRef<int> a, ArrayRef<Access> b) {
  return llvm::any_of(b, [&](const Access &access) {
    return llvm::is_contained(a, access.cell);
  });
}

/// Checks that an item touches nothing that MMAs in flight use, where the role
/// cannot await them. One tensor core works in order.
LogicalResult ProgramWriter::checkConflicts(int x,
                                            const Accesses &accesses) const {
  if (bound.awaitsProducts() || builder.engineOf(items[x]) == Engine::Mma) {
    return success();
  }
  for (const Flight &flight : flights) {
    if (flight.engine == Engine::Mma &&
        (meet(flight.writeCells, accesses.reads) ||
         meet(flight.writeCells, accesses.writes) ||
         meet(flight.readCells, accesses.writes))) {
      return reject(
          builder.emitError, "V21",
          formatv(
              "expected a barrier between {0} and {1} of role '{2}', "
              "which cannot await its own MMAs",
              protocol.describeItem({index, int(flight.item - items.data())}),
              protocol.describeItem({index, x}), instance.name));
    }
  }
  return success();
}
