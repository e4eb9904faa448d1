// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of modulo schedules, which the expansion into prologue, loops and
// epilogue carries into every part.
#include "fault.h"

using namespace mlir;
using namespace attn;
using namespace attn::faults;

namespace {

class LoopFaults {
public:
  LoopFaults(ws::ForOp loop, Faults &faults) : loop(loop), faults(faults) {
    llvm::append_range(entries, loop.getBody().getOps<ws::EntryOp>());
    llvm::sort(entries, [](ws::EntryOp a, ws::EntryOp b) {
      return a.getSlot() < b.getSlot();
    });
  }

  void add() {
    for (size_t i = 0; i + 1 < entries.size(); ++i) {
      addSwap(entries[i], entries[i + 1]);
    }
    for (ws::EntryOp entry : entries) {
      addShifts(entry);
      addGuards(entry);
      addCaptures(entry);
      addAwaits(entry);
    }
    addKinds();
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
  void addAwaits(ws::EntryOp entry);
  void addKinds();

  ws::ForOp loop;
  Faults &faults;
  SmallVector<ws::EntryOp> entries;
};

/// Puts an entry where the text's order, by shift and slot, wants it.
void placeInOrder(ws::EntryOp entry) {
  auto key = [](ws::EntryOp each) {
    return std::make_pair(each.getShift(), each.getSlot());
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
          int64_t slot = first.getSlot();
          first.setSlot(second.getSlot());
          second.setSlot(slot);
          placeInOrder(first);
          placeInOrder(second);
        });
}

void LoopFaults::addShifts(ws::EntryOp entry) {
  for (int64_t by : {-1, 1}) {
    int64_t shift = entry.getShift() + by;
    if (shift >= 0) {
      addTo(entry, "shift", "to " + Twine(shift), [entry, shift]() mutable {
        entry.setShift(shift);
        placeInOrder(entry);
      });
    }
  }
}

void LoopFaults::addGuards(ws::EntryOp entry) {
  auto add = [&](std::optional<StringRef> guard) {
    addTo(entry, "guard", guard.value_or("none"),
          [entry, guard]() mutable { entry.setGuard(guard); });
  };
  if (!entry.getGuard()) {
    if (entry->getNumResults() == 0) {
      add(StringRef("once"));
    }
    return;
  }
  add(*entry.getGuard() == "once" ? "last" : "once");
  add(std::nullopt);
}

/// Values of the iteration before in the place of this one's, and the other way
/// round.
void LoopFaults::addCaptures(ws::EntryOp entry) {
  Operation *yield = loop.getBody().front().getTerminator();
  for (auto [i, made] : llvm::enumerate(yield->getOperands())) {
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

/// An await that waits for another product.
void LoopFaults::addAwaits(ws::EntryOp entry) {
  auto await = dyn_cast<ws::AwaitStepOp>(entry.getBody().front().front());
  if (!await) {
    return;
  }
  addTo(entry, "drop", "the entry", [entry]() mutable { entry.erase(); });
  for (ws::EntryOp other : entries) {
    if (!other.getOps<ws::MmaOp>().empty() &&
        other.getName() != await.getStep()) {
      addTo(entry, "await", "of " + other.getName(),
            [await, other]() mutable { await.setStep(other.getName()); });
    }
  }
}

/// The ranges of blocks.
void LoopFaults::addKinds() {
  SmallVector<Attribute> kinds(loop.getKinds().begin(), loop.getKinds().end());
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    bool masked = cast<StringAttr>(kind).getValue() == "masked";
    SmallVector<Attribute> changed = kinds;
    changed[i] = StringAttr::get(loop.getContext(), masked ? "full" : "masked");
    ArrayAttr attribute = ArrayAttr::get(loop.getContext(), changed);
    faults.push_back(faultAt(
        loop, "range", "kind " + Twine(i),
        [loop = loop, attribute]() mutable { loop.setKindsAttr(attribute); }));
  }
}

void faults::addLoopFaults(ws::ForOp loop, Faults &faults) {
  LoopFaults(loop, faults).add();
}
