// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of schedules that have been judged.
#include "fault.h"

using namespace mlir;
using namespace attn;
using namespace attn::faults;

namespace {

/// The parts of a schedule, to be changed and put together again.
struct Parts {
  explicit Parts(ScheduleAttr from)
      : from(from), places(from.getPlaces()), edges(from.getEdges()),
        turns(from.getTurns()), bodies(from.getBodies()), skip(from.getSkip()),
        peel(from.getPeel()) {}

  ScheduleAttr build() const {
    return ScheduleAttr::get(
        from.getContext(), from.getName(), from.getMachine(), from.getSplit(),
        from.getRemat(), from.getRoles(), places, edges, turns, from.getSyncs(),
        from.getExp2SoftNumerator(), from.getExp2SoftDenominator(), peel, skip,
        from.getLaunch(), bodies);
  }

  ScheduleAttr from;
  SmallVector<PlaceAttr> places;
  SmallVector<EdgeAttr> edges;
  SmallVector<TurnAttr> turns;
  SmallVector<BodyAttr> bodies;
  Skip skip;
  Peel peel;
};

class PlanFaults {
public:
  PlanFaults(tile::KernelOp kernel, Faults &faults)
      : kernel(kernel), schedule(*kernel.getSchedule()), faults(faults) {}

  void add();

private:
  void addFault(StringRef kind, StringRef place, StringRef object,
                const Twine &detail, const Parts &changed);
  void addBody(size_t body);
  void addEntries(size_t body, unsigned list);
  void addPlace(size_t place);
  void addEdge(size_t edge);

  tile::KernelOp kernel;
  ScheduleAttr schedule;
  Faults &faults;
};

/// How the text has it.
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

PlaceAttr change(PlaceAttr place, int64_t depth, bool full, bool free,
                 Scope scope) {
  return PlaceAttr::get(place.getContext(), place.getName(), place.getChannel(),
                        place.getCycles(), place.getSpace(), depth,
                        place.getParts(), place.getOver(), place.getOverCross(),
                        place.getOnly(), full, free, place.getGranularity(),
                        scope);
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

Scope otherScope(Scope scope) {
  return scope == Scope::Cta ? Scope::Cluster : Scope::Cta;
}

} // namespace

void PlanFaults::addFault(StringRef kind, StringRef place, StringRef object,
                          const Twine &detail, const Parts &changed) {
  faults.push_back({kind.str(), place.str(), object.str(), detail.str(), 0,
                    [kernel = kernel, changed]() mutable {
                      kernel.setScheduleAttr(changed.build());
                    }});
}

/// Each entry left out, doubled, behind the next, and of another time, sub-tile
/// or guard.
void PlanFaults::addEntries(size_t body, unsigned list) {
  BodyAttr old = schedule.getBodies()[body];
  SmallVector<EntryAttr> entries(listOf(old, list));
  std::string place = old.getRole().str() + " " + listNames[list];
  for (size_t i = 0; i < entries.size(); ++i) {
    EntryAttr entry = entries[i];
    auto add = [&](StringRef kind, const Twine &detail,
                   ArrayRef<EntryAttr> changed) {
      Parts parts(schedule);
      parts.bodies[body] = withList(old, list, changed);
      addFault(kind, place, print(entry), detail, parts);
    };
    auto replace = [&](StringRef kind, const Twine &detail, EntryAttr by) {
      SmallVector<EntryAttr> changed(entries);
      changed[i] = by;
      add(kind, detail, changed);
    };
    SmallVector<EntryAttr> changed(entries);
    changed.erase(changed.begin() + i);
    add("drop", "", changed);
    changed = entries;
    changed.insert(changed.begin() + i, entry);
    add("double", "", changed);
    for (size_t to = i + 1; to < std::min(i + 3, entries.size()); ++to) {
      changed = entries;
      std::rotate(changed.begin() + i, changed.begin() + i + 1,
                  changed.begin() + to + 1);
      add("order", "behind " + Twine(print(entries[to])), changed);
    }
    int64_t shift = entry.getShift(), subtile = entry.getSubtile();
    Guard guard = entry.getGuard();
    replace("shift", "one more", change(entry, guard, subtile, shift + 1));
    if (shift > 0) {
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
}

void PlanFaults::addPlace(size_t number) {
  PlaceAttr place = schedule.getPlaces()[number];
  if (place.getSpace() != Space::Smem) {
    return;
  }
  auto add = [&](StringRef detail, int64_t depth, bool full, bool free,
                 Scope scope) {
    Parts parts(schedule);
    parts.places[number] = change(place, depth, full, free, scope);
    addFault("place", "plan", place.getName(), detail, parts);
  };
  int64_t depth = place.getDepth();
  bool full = place.getFullImplied(), free = place.getFreeImplied();
  Scope scope = place.getScope();
  add("depth one more", depth + 1, full, free, scope);
  if (depth > 1) {
    add("depth one less", depth - 1, full, free, scope);
  }
  if (place.getChannel()) {
    add("full_implied", depth, !full, free, scope);
    add("free_implied", depth, full, !free, scope);
    add("scope", depth, full, free, otherScope(scope));
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
  add("scope", edge.getCredits(), otherScope(edge.getScope()));
}

void PlanFaults::add() {
  for (size_t body = 0; body < schedule.getBodies().size(); ++body) {
    for (unsigned list : {0, 1, 2}) {
      addEntries(body, list);
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
  Parts parts(schedule);
  parts.skip = parts.skip == Skip::None ? Skip::Right : Skip::None;
  addFault("knob", "plan", "skip", stringifySkip(parts.skip), parts);
}

void faults::addPlanFaults(tile::KernelOp kernel, Faults &faults) {
  if (kernel.getSchedule()) {
    PlanFaults(kernel, faults).add();
  }
}
