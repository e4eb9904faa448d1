// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of schedules after they have been verified.
#include "fault.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn;
using namespace attn::faults;

namespace {

/// The parts of a schedule, to be changed and reassembled.
struct Parts {
  explicit Parts(ScheduleAttr from)
      : from(from), places(from.getPlaces()), edges(from.getEdges()),
        turns(from.getTurns()), bodies(from.getBodies()) {}

  ScheduleAttr build() const {
    return ScheduleAttr::get(
        from.getContext(), from.getName(), from.getMachine(), from.getSplit(),
        from.getRemat(), from.getRoles(), places, edges, turns, from.getSyncs(),
        from.getStatements(), bodies);
  }

  ScheduleAttr from;
  SmallVector<PlaceAttr> places;
  SmallVector<EdgeAttr> edges;
  SmallVector<TurnAttr> turns;
  SmallVector<BodyAttr> bodies;
};

bool waits(EntryAttr entry) {
  return llvm::is_contained(
      {Act::Await, Act::Get, Act::Wait, Act::Take, Act::Sync}, entry.getAct());
}

bool signals(EntryAttr entry) {
  return llvm::is_contained({Act::Sig, Act::Put, Act::Commit, Act::Sync},
                            entry.getAct());
}

/// The entry as the text has it.
std::string print(EntryAttr entry) {
  std::string text = entry.getAct() == Act::Op
                         ? entry.getTarget().str()
                         : (stringifyAct(entry.getAct()) + "(" +
                            entry.getTarget().getValue() + ")")
                               .str();
  if (entry.getSubtile() >= 0) {
    text += "[" + std::to_string(entry.getSubtile()) + "]";
  }
  if (entry.getShift()) {
    text += " + " + std::to_string(entry.getShift());
  }
  return text;
}

EntryAttr change(EntryAttr entry, Guard guard, int64_t subtile, int64_t shift) {
  return EntryAttr::get(entry.getContext(), guard, entry.getAct(),
                        entry.getTarget(), subtile, entry.getPart(), shift);
}

PlaceAttr change(PlaceAttr place, bool free) {
  return PlaceAttr::get(place.getContext(), place.getName(), place.getChannel(),
                        place.getCycles(), place.getSpace(), place.getDepth(),
                        place.getParts(), place.getOver(), place.getOverCross(),
                        place.getOnly(), place.getFullImplied(), free,
                        place.getGranularity(), place.getScope());
}

const char *listNames[] = {"before", "kv", "after"};

ArrayRef<EntryAttr> listOf(BodyAttr body, unsigned list) {
  return list == 0 ? body.getBefore()
                   : (list == 1 ? body.getKv() : body.getAfter());
}

BodyAttr withList(BodyAttr body, unsigned list, ArrayRef<EntryAttr> entries) {
  return BodyAttr::get(body.getContext(), body.getRole(), body.getReplica(),
                       list == 0 ? entries : body.getBefore(),
                       list == 1 ? entries : body.getKv(),
                       list == 2 ? entries : body.getAfter());
}

class PlanFaults {
public:
  PlanFaults(tile::KernelOp kernel, Faults &faults)
      : kernel(kernel), schedule(*kernel.getSchedule()), faults(faults) {
    findAccesses();
  }

  void add();

private:
  void addFault(StringRef kind, StringRef place, StringRef object,
                const Twine &detail, const Parts &changed);
  void addList(StringRef kind, size_t body, unsigned list, size_t i,
               const Twine &detail, ArrayRef<EntryAttr> entries);
  void addEntry(size_t body, unsigned list, size_t i);
  void addOrders(size_t body, unsigned list, size_t i);
  void findAccesses();
  bool matters(EntryAttr entry);
  void addPlace(size_t place);
  void addEdge(size_t edge);

  tile::KernelOp kernel;
  ScheduleAttr schedule;
  Faults &faults;
  llvm::StringSet<> accesses, stores, loads;
};

} // namespace

void PlanFaults::addFault(StringRef kind, StringRef place, StringRef object,
                          const Twine &detail, const Parts &changed) {
  faults.push_back({kind.str(), place.str(), object.str(), detail.str(), 0,
                    [kernel = kernel, changed]() mutable {
                      kernel.setScheduleAttr(changed.build());
                    }});
}

/// Steps that access memory or start a product, steps that make the first
/// operand of these, and those of them that store.
void PlanFaults::findAccesses() {
  kernel.walk([&](tile::StepOp step) {
    for (Operation &op : step.getBody().front()) {
      if (!isa<tile::LoadOp, tile::StoreOp, tile::StoreRowOp, tile::MmaOp,
               tile::NextWorkOp>(op)) {
        continue;
      }
      accesses.insert(step.getName());
      if (isa<tile::StoreOp>(op)) {
        stores.insert(step.getName());
      }
      if (isa<tile::LoadOp>(op)) {
        loads.insert(step.getName());
        continue;
      }
      auto producer = step->getNumOperands()
                          ? step->getOperand(0).getDefiningOp<tile::StepOp>()
                          : tile::StepOp();
      if (producer) {
        accesses.insert(producer.getName());
      }
    }
  });
}

/// Whether faults of `entry` reach the program: the lowering waits for channels
/// and products by itself, before it accesses their data.
bool PlanFaults::matters(EntryAttr entry) {
  switch (entry.getAct()) {
  case Act::Op:
    return accesses.contains(entry.getTarget());
  case Act::Get:
    return false;
  case Act::Await:
    return stores.contains(entry.getTarget());
  default:
    return true;
  }
}

/// An entry left out, doubled, or with another time, sub-tile or guard.
void PlanFaults::addEntry(size_t body, unsigned list, size_t i) {
  SmallVector<EntryAttr> entries(listOf(schedule.getBodies()[body], list));
  EntryAttr entry = entries[i];
  SmallVector<EntryAttr> changed(entries);
  changed.erase(changed.begin() + i);
  addList("drop", body, list, i, "", changed);
  bool isLoad = entry.getAct() == Act::Op && loads.contains(entry.getTarget());
  if (entry.getAct() != Act::Op || isLoad) {
    changed = entries;
    changed.insert(changed.begin() + i, entry);
    addList("double", body, list, i, "", changed);
  }
  auto replace = [&](StringRef kind, StringRef detail, EntryAttr by) {
    changed = entries;
    changed[i] = by;
    addList(kind, body, list, i, detail, changed);
  };
  int64_t shift = entry.getShift(), subtile = entry.getSubtile();
  Guard guard = entry.getGuard();
  if (!isLoad) {
    replace("shift", "one more", change(entry, guard, subtile, shift + 1));
  }
  // Waiting for newer work, or loading sooner, is no fault.
  if (shift > 0 && !isLoad && entry.getAct() != Act::Await) {
    replace("shift", "one less", change(entry, guard, subtile, shift - 1));
  }
  if (subtile >= 0) {
    replace("subtile", "the other",
            change(entry, guard, subtile ? 0 : 1, shift));
  }
  if (guard != Guard::Always) {
    replace("guard", "none", change(entry, Guard::Always, subtile, shift));
    Guard other = guard == Guard::Once ? Guard::Last : Guard::Once;
    replace("guard", stringifyGuard(other),
            change(entry, other, subtile, shift));
  }
}

/// Entry `i` moved after the next entry and after the one after that, where it
/// then waits too late, lets others continue too early, or swaps accesses.
void PlanFaults::addOrders(size_t body, unsigned list, size_t i) {
  SmallVector<EntryAttr> entries(listOf(schedule.getBodies()[body], list));
  for (size_t to = i + 1; to < std::min(i + 3, entries.size()); ++to) {
    EntryAttr entry = entries[i], passed = entries[to];
    bool late = waits(entry) && !waits(passed);
    bool early = !waits(entry) && signals(passed);
    if (late || early) {
      SmallVector<EntryAttr> changed(entries);
      std::rotate(changed.begin() + i, changed.begin() + i + 1,
                  changed.begin() + to + 1);
      addList("order", body, list, i, "behind " + print(passed), changed);
    }
  }
}

void PlanFaults::addList(StringRef kind, size_t body, unsigned list, size_t i,
                         const Twine &detail, ArrayRef<EntryAttr> entries) {
  BodyAttr old = schedule.getBodies()[body];
  Parts parts(schedule);
  parts.bodies[body] = withList(old, list, entries);
  addFault(kind, old.getRole().str() + " " + listNames[list],
           print(listOf(old, list)[i]), detail, parts);
}

void PlanFaults::addPlace(size_t number) {
  PlaceAttr place = schedule.getPlaces()[number];
  if (place.getChannel()) {
    Parts parts(schedule);
    parts.places[number] = change(place, !place.getFreeImplied());
    addFault("place", "plan", place.getName(), "free_implied", parts);
  }
}

void PlanFaults::addEdge(size_t number) {
  EdgeAttr edge = schedule.getEdges()[number];
  auto add = [&](StringRef detail, int64_t credits, Scope scope) {
    Parts parts(schedule);
    parts.edges[number] = EdgeAttr::get(edge.getContext(), edge.getName(),
                                        edge.getSplit(), edge.getJoinsPlace(),
                                        edge.getJoinsPart(), credits, scope);
    addFault("edge", "plan", edge.getName(), detail, parts);
  };
  add("credits one more", edge.getCredits() + 1, edge.getScope());
  if (edge.getCredits()) {
    add("credits one less", edge.getCredits() - 1, edge.getScope());
  }
  if (edge.getScope() == Scope::Cluster) {
    add("no cluster", edge.getCredits(), Scope::Cta);
  }
}

void PlanFaults::add() {
  for (size_t body = 0; body < schedule.getBodies().size(); ++body) {
    for (unsigned list : {0, 1, 2}) {
      ArrayRef<EntryAttr> entries = listOf(schedule.getBodies()[body], list);
      for (size_t i = 0; i < entries.size(); ++i) {
        if (matters(entries[i])) {
          addEntry(body, list, i);
          addOrders(body, list, i);
        }
      }
    }
  }
  for (size_t place = 0; place < schedule.getPlaces().size(); ++place) {
    addPlace(place);
  }
  for (size_t edge = 0; edge < schedule.getEdges().size(); ++edge) {
    addEdge(edge);
  }
  for (size_t i = 0; i < schedule.getTurns().size(); ++i) {
    TurnAttr turn = schedule.getTurns()[i];
    Parts parts(schedule);
    parts.turns[i] = TurnAttr::get(turn.getContext(), turn.getName(),
                                   turn.getRing(), !turn.getUnprimed());
    addFault("turn", "plan", turn.getName(), "unprimed", parts);
  }
}

void faults::addPlanFaults(tile::KernelOp kernel, Faults &faults) {
  if (kernel.getSchedule()) {
    PlanFaults(kernel, faults).add();
  }
}
