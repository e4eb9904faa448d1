// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of modulo schedules. Expansion carries them into prologue, loops and
// epilogue.
#include "fault.h"

using namespace mlir;
using namespace attn;
using namespace attn::faults;

namespace {

template <typename... Ops> bool has(ws::EntryOp entry) {
  return entry
      .walk([](Operation *op) {
        return isa<Ops...>(op) ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a late entry is a fault.
bool waits(ws::EntryOp entry) {
  return has<ws::WaitOp, ws::WaitEdgeOp, ws::AwaitStepOp, ws::SyncOp,
             ws::TakeOp>(entry);
}

/// Whether an early entry is a fault.
bool signals(ws::EntryOp entry) {
  return has<ws::SignalOp, ws::PutOp, ws::SyncOp>(entry);
}

class LoopFaults {
public:
  LoopFaults(ws::ForOp loop, Faults &faults) : loop(loop), faults(faults) {
    llvm::append_range(entries, loop.getBody().getOps<ws::EntryOp>());
    llvm::sort(entries, [](ws::EntryOp a, ws::EntryOp b) {
      return a.getIssue() < b.getIssue();
    });
  }

  void add() {
    for (size_t i = 0; i + 1 < entries.size(); ++i) {
      ws::EntryOp first = entries[i], second = entries[i + 1];
      bool late = waits(first) && !waits(second);
      bool early = !waits(first) && signals(second);
      if (late || early) {
        addSwap(first, second);
      }
    }
    for (ws::EntryOp entry : entries) {
      addCaptures(entry);
      addReleases(entry);
      if (entry.getAfter()) {
        addTo(entry, "drop", "after",
              [entry]() mutable { entry.removeAfterAttr(); });
      }
      if (has<ws::AwaitStepOp>(entry)) {
        addTo(entry, "drop", "", [entry]() mutable { entry.erase(); });
      } else if (hasEvent(entry) && !has<ws::FetchWorkOp>(entry)) {
        addShifts(entry);
        addGuards(entry);
      }
    }
    for (Region *region :
         {&loop.getSkipped(), &loop.getDrain(), &loop.getEmpty()}) {
      addDrops(*region);
    }
  }

private:
  void addTo(ws::EntryOp entry, StringRef kind, const Twine &detail,
             std::function<void()> plant) {
    Fault fault = faultAt(entry, kind, detail, std::move(plant));
    fault.object = "entry " + entry.getName().str();
    faults.push_back(std::move(fault));
  }
  void addSwap(ws::EntryOp first, ws::EntryOp second);
  void addShifts(ws::EntryOp entry);
  void addGuards(ws::EntryOp entry);
  void addCaptures(ws::EntryOp entry);
  void addReleases(ws::EntryOp entry);
  void addDrops(Region &region);

  ws::ForOp loop;
  Faults &faults;
  SmallVector<ws::EntryOp> entries;
};

/// Moves an entry to its position in the text's order, by shift and issue.
void placeInOrder(ws::EntryOp entry) {
  auto key = [](ws::EntryOp each) {
    return std::make_pair(each.getShift(), each.getIssue());
  };
  Operation *before = entry->getBlock()->getTerminator();
  for (auto other : entry->getBlock()->getOps<ws::EntryOp>()) {
    if (other != entry && key(entry) < key(other)) {
      before = other;
      break;
    }
  }
  entry->moveBefore(before);
}

} // namespace

void LoopFaults::addSwap(ws::EntryOp first, ws::EntryOp second) {
  addTo(first, "order", "behind " + second.getName(),
        [first, second]() mutable {
          int64_t issue = first.getIssue();
          first.setIssue(second.getIssue());
          second.setIssue(issue);
          placeInOrder(first);
          placeInOrder(second);
        });
}

/// Loading at another time, or waiting sooner, is no fault.
void LoopFaults::addShifts(ws::EntryOp entry) {
  int64_t shift = entry.getShift();
  auto add = [&](int64_t to) {
    addTo(entry, "shift", "to " + Twine(to), [entry, to]() mutable {
      entry.setShift(to);
      placeInOrder(entry);
    });
  };
  if (has<ws::CopyOp>(entry)) {
    return;
  }
  add(shift + 1);
  if (shift > 0 && !has<ws::WaitOp>(entry)) {
    add(shift - 1);
  }
}

void LoopFaults::addGuards(ws::EntryOp entry) {
  auto add = [&](std::optional<Guard> guard) {
    addTo(entry, "guard", guard ? stringifyGuard(*guard) : "none",
          [entry, guard]() mutable { entry.setGuard(guard); });
  };
  if (!entry.getGuard()) {
    if (entry->getNumResults() == 0) {
      add(Guard::Once);
    }
    return;
  }
  add(*entry.getGuard() == Guard::Once ? Guard::Last : Guard::Once);
  add(std::nullopt);
}

/// Replaces slots and tiles of this iteration by those of the previous one, and
/// the other way round. Row vectors are left out: schedules do not place them.
void LoopFaults::addCaptures(ws::EntryOp entry) {
  Operation *yield = loop.getBody().front().getTerminator();
  for (auto [i, made] : llvm::enumerate(yield->getOperands())) {
    auto tile = dyn_cast<RankedTensorType>(made.getType());
    if (!isa<ws::SlotType>(made.getType()) && (!tile || tile.getRank() != 2)) {
      continue;
    }
    Value carried = loop.getBody().getArgument(i + 1);
    std::pair<Value, Value> swaps[] = {{carried, made}, {made, carried}};
    for (auto [from, to] : swaps) {
      if (!entry.getCaptures().contains(from)) {
        continue;
      }
      addTo(entry, "capture",
            (from == carried ? "a newer value " : "an older value ") + Twine(i),
            [entry, from = from, to = to]() mutable {
              from.replaceUsesWithIf(to, [&](OpOperand &use) {
                return entry->isAncestor(use.getOwner());
              });
            });
    }
  }
}

/// Releases a slot by an entry before its last reader, or by none.
void LoopFaults::addReleases(ws::EntryOp entry) {
  for (unsigned i = 0, e = entry.getReleases().size(); i < e; ++i) {
    addTo(entry, "drop", "release " + Twine(i),
          [entry, i]() mutable { entry.getReleasesMutable().erase(i); });
    auto source = entry.getReleases()[i].getDefiningOp<ws::EntryOp>();
    ws::EntryOp earlier;
    for (ws::EntryOp other : entries) {
      bool isBetween = source && source.getIssue() < other.getIssue() &&
                       other.getIssue() < entry.getIssue() &&
                       other.getShift() == entry.getShift() &&
                       !other.getPassthrough();
      earlier = isBetween ? other : earlier;
    }
    if (earlier) {
      addTo(entry, "move", "release " + Twine(i) + " to " + earlier.getName(),
            [entry, earlier, i]() mutable {
              Value slot = entry.getReleases()[i];
              entry.getReleasesMutable().erase(i);
              earlier.getReleasesMutable().append(slot);
            });
    }
  }
}

/// Drops ops of a region other than the body.
void LoopFaults::addDrops(Region &region) {
  for (Operation &op : region.getOps()) {
    if (isEvent(&op) && op.use_empty()) {
      faults.push_back(faultAt(&op, "drop", "", [&op] { op.erase(); }));
    }
  }
}

void faults::addLoopFaults(ws::ForOp loop, Faults &faults) {
  LoopFaults(loop, faults).add();
}
