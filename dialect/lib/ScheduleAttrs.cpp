// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors and checks of #attn.schedule.
#include "attn/dialect/Attn.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn;

ScheduleAttr ScheduleAttr::forMachine(StringRef machine) const {
  return get(getContext(), getName(), StringAttr::get(getContext(), machine),
             getSplit(), getRemat(), getRoles(), getPlaces(), getEdges(),
             getTurns(), getSyncs(), getStatements(), getBodies());
}

RoleAttr ScheduleAttr::findRole(StringRef name) const {
  for (RoleAttr role : getRoles()) {
    if (role.getName().getValue() == name) {
      return role;
    }
  }
  return {};
}

PlaceAttr ScheduleAttr::findPlace(StringRef name) const {
  for (PlaceAttr place : getPlaces()) {
    if (place.getName().getValue() == name) {
      return place;
    }
  }
  return {};
}

BodyAttr ScheduleAttr::findBody(StringRef role, int64_t replica) const {
  BodyAttr common;
  for (BodyAttr body : getBodies()) {
    if (body.getRole().getValue() != role) {
      continue;
    }
    if (body.getReplica() == replica) {
      return body;
    }
    if (body.getReplica() < 0) {
      common = body;
    }
  }
  return common;
}

/// Reports the first name that occurs twice in `items`.
template <typename T>
static LogicalResult verifyUnique(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef what, ArrayRef<T> items,
                                  llvm::StringSet<> &seen) {
  for (T item : items) {
    if (!seen.insert(item.getName().getValue()).second) {
      return emitError() << "expected each " << what << " once, got '"
                         << item.getName().getValue() << "' twice";
    }
  }
  return success();
}

static LogicalResult
verifyUniqueBodies(function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<BodyAttr> bodies) {
  llvm::SmallDenseSet<std::pair<StringAttr, int64_t>> seen;
  for (BodyAttr body : bodies) {
    if (!seen.insert({body.getRole(), body.getReplica()}).second) {
      return emitError() << "expected one body a role, got a second one for '"
                         << body.getRole().getValue() << "'";
    }
  }
  return success();
}

/// Counts are small; one limit keeps the work of every pass bounded.
static LogicalResult verifyCounts(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<RoleAttr> roles,
                                  ArrayRef<PlaceAttr> places,
                                  ArrayRef<EdgeAttr> edges,
                                  ArrayRef<BodyAttr> bodies) {
  constexpr int64_t limit = 64;
  auto check = [&](StringRef what, StringAttr name,
                   int64_t value) -> LogicalResult {
    if (value <= limit) {
      return success();
    }
    return emitError() << "expected " << what << " of '" << name.getValue()
                       << "' to be at most " << limit << ", got " << value;
  };
  LogicalResult result = success();
  auto add = [&](StringRef what, StringAttr name, int64_t value) {
    if (succeeded(result)) {
      result = check(what, name, value);
    }
  };
  for (RoleAttr role : roles) {
    add("the replicas", role.getName(), role.getReplicas());
  }
  for (PlaceAttr place : places) {
    add("the depth", place.getName(), place.getDepth());
    add("the parts", place.getName(), place.getParts().size() / 2);
  }
  for (EdgeAttr edge : edges) {
    add("the credits", edge.getName(), edge.getCredits());
  }
  for (BodyAttr body : bodies) {
    for (ArrayRef<EntryAttr> list :
         {body.getBefore(), body.getKv(), body.getAfter()}) {
      for (EntryAttr entry : list) {
        add("the sub-tile", entry.getTarget(), entry.getSubtile());
        add("the part", entry.getTarget(), entry.getPart());
        add("the shift", entry.getTarget(), entry.getShift());
      }
    }
  }
  return result;
}

/// Checks only that the attribute is a well-formed text: attn-verify-schedule
/// checks whether it fits a kernel and a machine.
LogicalResult
ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                     StringAttr name, StringAttr machine, SplitAttr split,
                     ArrayRef<StringAttr> remat, ArrayRef<RoleAttr> roles,
                     ArrayRef<PlaceAttr> places, ArrayRef<EdgeAttr> edges,
                     ArrayRef<TurnAttr> turns, ArrayRef<SyncAttr> syncs,
                     StatementsAttr statements, ArrayRef<BodyAttr> bodies) {
  if (!name || !machine) {
    return emitError() << "expected a schedule with a name and a machine";
  }
  if (split && (split.getCount() < 1 || split.getCount() > 64)) {
    return emitError() << "expected a split in 1 to 64 sub-tiles, got "
                       << split.getCount();
  }
  Skip skip = statements.getSkip();
  if (skip != Skip::None && (!split || split.getCount() < 2)) { // C5
    return emitError()
           << "expected knob 'skip' to be none without a split in at "
              "least 2 sub-tiles, got "
           << stringifySkip(skip);
  }
  for (PlaceAttr place : places) {
    for (size_t i = 1; i < place.getParts().size(); i += 2) {
      if (place.getParts()[i] < 1) {
        return emitError() << "expected parts of '"
                           << place.getName().getValue()
                           << "' with a denominator of at least 1, got "
                           << place.getParts()[i];
      }
    }
  }
  llvm::StringSet<> roleNames, placeNames, edgeNames, syncNames;
  // A turn is a ring of edges: both are waited for by name.
  return failure(
      failed(verifyUnique(emitError, "role", roles, roleNames)) ||
      failed(verifyUnique(emitError, "place", places, placeNames)) ||
      failed(verifyUnique(emitError, "edge or turn", edges, edgeNames)) ||
      failed(verifyUnique(emitError, "edge or turn", turns, edgeNames)) ||
      failed(verifyUnique(emitError, "rendezvous", syncs, syncNames)) ||
      failed(verifyUniqueBodies(emitError, bodies)) ||
      failed(verifyCounts(emitError, roles, places, edges, bodies)));
}
