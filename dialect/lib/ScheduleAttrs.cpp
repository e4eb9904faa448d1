// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors and checks of #attn.schedule and #attn.config.
#include "attn/dialect/AccessMap.h"
#include "attn/dialect/Attn.h"
#include "attn/dialect/ConfigLimits.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn;

ScheduleAttr ScheduleAttr::forMachine(StringRef machine) const {
  return get(getContext(), getName(), StringAttr::get(getContext(), machine),
             getSplit(), getRemat(), getRoles(), getPlaces(), getEdges(),
             getTurns(), getSyncs(), getExp2SoftNumerator(),
             getExp2SoftDenominator(), getPeel(), getSkip(), getLaunch(),
             getBodies());
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
                     int64_t softNumerator, int64_t softDenominator, Peel peel,
                     Skip skip, Launch launch, ArrayRef<BodyAttr> bodies) {
  if (!name || !machine) {
    return emitError() << "expected a schedule with a name and a machine";
  }
  if (split && (split.getCount() < 1 || split.getCount() > 64)) {
    return emitError() << "expected a split in 1 to 64 sub-tiles, got "
                       << split.getCount();
  }
  if (softDenominator < 1 || softNumerator < 0 ||
      softNumerator > softDenominator) {
    return emitError() << "expected knob 'exp2_soft' to be a share of at most "
                          "1, got "
                       << softNumerator << " of " << softDenominator;
  }
  if (skip != Skip::None &&
      !maySkipBlocks(split ? split.getCount() : 1)) { // C5
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

LogicalResult ConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t tileM, int64_t tileN, WorkKind work,
                                 WorkOrder order, int64_t sectionMib,
                                 int64_t threshold, RowMax rowMax,
                                 int64_t degree, int64_t ctaGroup,
                                 int64_t cluster, int64_t tileD, int64_t tileDv,
                                 int64_t packGqa, int64_t lastWaveParts,
                                 int64_t rung) {
  // config C1
  if (tileM < 1 || tileN < 1) {
    return emitError() << "expected 'tile_m' and 'tile_n' of at least 1, got "
                       << tileM << " and " << tileN;
  }
  // config C2
  if (threshold < 0 || threshold > kMostRescaleThreshold) {
    return emitError() << "expected 'rescale_threshold' in 0.."
                       << kMostRescaleThreshold << ", got " << threshold;
  }
  // config C3
  if (degree < kLeastExp2Degree || degree > kMostExp2Degree) {
    return emitError() << "expected 'exp2_degree' in " << kLeastExp2Degree
                       << ".." << kMostExp2Degree << ", got " << degree;
  }
  // config C4
  if (ctaGroup != 1 && ctaGroup != 2) {
    return emitError() << "expected 'cta_group' to be 1 or 2, got " << ctaGroup;
  }
  // config C5
  for (int64_t columns : {tileD, tileDv}) {
    if (columns < 0 || columns > 256 || columns % 16 != 0) {
      return emitError() << "expected 'tile_d' and 'tile_dv' to be 0 or "
                            "multiples of 16 up to 256, got "
                         << tileD << " and " << tileDv;
    }
  }
  // config C6
  if (sectionMib < 0 || sectionMib > kMostSectionMib) {
    return emitError() << "expected 'section_mib' in 0.." << kMostSectionMib
                       << ", got " << sectionMib;
  }
  if (sectionMib != 0 && !mayHaveSections(order)) {
    return emitError() << "expected 'section_mib' only with order "
                          "'longest_first', got order '"
                       << stringifyWorkOrder(order) << "'";
  }
  // config C7
  if (rowMax != RowMax::Running && !mayRunAgain(work)) {
    return emitError() << "expected 'row_max' to be running where 'work' is "
                       << stringifyWorkKind(work) << ", got "
                       << stringifyRowMax(rowMax);
  }
  // config C8
  if (packGqa < 1 || packGqa > AccessMap::mostPackedHeads ||
      !llvm::isPowerOf2_64(packGqa) || tileM % packGqa != 0) {
    return emitError() << "expected 'pack_gqa' to be a power of two up to "
                       << AccessMap::mostPackedHeads
                       << " that divides 'tile_m', got " << packGqa << " and "
                       << tileM;
  }
  // config C9
  if (cluster < 1 || cluster > kMostCluster) {
    return emitError() << "expected 'cluster' to be 1 or " << kMostCluster
                       << ", got " << cluster;
  }
  // config C10
  if (lastWaveParts < 1 || lastWaveParts > kMostLastWaveParts) {
    return emitError() << "expected 'last_wave_parts' in 1.."
                       << kMostLastWaveParts << ", got " << lastWaveParts;
  }
  if (lastWaveParts != 1 && !mayCutLastWave(work, cluster)) {
    return emitError() << "expected 'last_wave_parts' only with work "
                          "'dynamic' and 'cluster' 1, got work '"
                       << stringifyWorkKind(work) << "' and " << cluster;
  }
  // config C11
  if (rung < 0) {
    return emitError() << "expected 'rung' of at least 0, got " << rung;
  }
  return success();
}
