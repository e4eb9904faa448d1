// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RoleFlights.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

Flight *RoleFlights::findReader(const CycleKey &key) {
  for (Flight &flight : llvm::reverse(flights)) {
    if (llvm::is_contained(flight.reads, key)) {
      return &flight;
    }
  }
  return nullptr;
}

/// Operations of one pipe complete in order, so earlier ones are complete too.
void RoleFlights::awaitOperation(int operation) {
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
    role.add(Token::Await, flight.operation);
    for (const CycleKey &key : flight.pending) {
      role.arriveFree(key);
    }
    return true;
  });
}

void RoleFlights::awaitListed(const Item &item) {
  int last = -1;
  for (const Flight &flight : flights) {
    bool isAwaited = llvm::any_of(item.act->awaited, [&](int product) {
      return (*item.list)[product].entry == flight.item->act->entry;
    });
    last = isAwaited ? flight.operation : last;
  }
  awaitOperation(last);
}

void RoleFlights::awaitProducts() {
  int last = -1;
  for (const Flight &flight : flights) {
    last = flight.engine == Engine::Mma ? flight.operation : last;
  }
  awaitOperation(last);
}

void RoleFlights::awaitStep(const Item &item) {
  const PlannedAct &act = *item.act;
  bool isStore = role.kernel.steps[act.target].engine == Engine::Store;
  SmallVector<int, 2> operations;
  for (const Flight &flight : flights) {
    const PlannedAct &issued = *flight.item->act;
    bool isOfStep = issued.kind == PlannedAct::Run &&
                    issued.target == act.target &&
                    issued.subtile == act.subtile;
    bool isOfInstance = flight.item->item == item.item &&
                        flight.item->iteration == item.iteration;
    if (role.bound.awaitsProducts()
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

LogicalResult RoleFlights::checkConflicts(const Item &item,
                                          ArrayRef<Access> reads,
                                          ArrayRef<Access> writes) const {
  if (role.bound.awaitsProducts() ||
      role.builder.engineOf(item) == Engine::Mma) {
    return success();
  }
  auto describe = [&](const Item &other) {
    const Item *first = role.protocol.items[role.index].begin();
    return role.protocol.describeItem({role.index, int(&other - first)});
  };
  for (const Flight &flight : flights) {
    if (flight.engine == Engine::Mma &&
        (meet(flight.writeCells, reads) || meet(flight.writeCells, writes) ||
         meet(flight.readCells, writes))) {
      return reject(role.builder.emitError, "V21",
                    formatv("expected a barrier between {0} and {1} of role "
                            "'{2}', which cannot await its own MMAs",
                            describe(*flight.item), describe(item),
                            role.instance.name));
    }
  }
  return success();
}
