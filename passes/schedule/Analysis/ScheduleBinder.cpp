// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, sub-tiles, roles, places and edges.
#include "ScheduleBinder.h"
#include "BodyBinder.h"
#include "attn/dialect/Ws.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Sub-tiles and roles
//===----------------------------------------------------------------------===//

/// Whether each sub-tile has a copy of a value: threads load a vector that has
/// an element for each column into their registers.
bool ScheduleBinder::isCopied(int value) const {
  const KernelStep *producer = kernel.producerOf(value);
  auto holds = [&](PlaceAttr place) {
    auto names = [&](ArrayAttr cycle) {
      return llvm::is_contained(cycle.getAsValueRange<StringAttr>(),
                                kernel.values[value].name);
    };
    return !place.getChannel() && place.getSpace() == Space::Reg &&
           llvm::any_of(place.getCycles(), names);
  };
  return kernel.values[value].origin == Origin::Step && producer &&
         producer->holds<tile::LoadRowOp>() &&
         llvm::any_of(schedule.getPlaces(), holds);
}

LogicalResult ScheduleBinder::bindSplit() {
  bound.cutAxis.assign(kernel.values.size(), StringRef());
  SplitAttr split = schedule.getSplit();
  if (!split) {
    return success();
  }
  bound.subtileCount = split.getCount();
  StringRef axis = split.getAxis().getValue();
  bool found = false;
  for (auto [v, value] : llvm::enumerate(kernel.values)) {
    bool isCut = llvm::is_contained(value.axes, axis);
    found |= isCut;
    if (isCut || isCopied(v)) {
      bound.cutAxis[v] = axis;
    }
  }
  if (!found) {
    return reject(emitError, "V1",
                  formatv("expected 'split' along an axis of the kernel, got "
                          "'{0}'",
                          axis));
  }
  for (StringAttr name : split.getWhole()) {
    int value;
    if (failed(names.findValue(name, "'whole'", value))) {
      return failure();
    }
    bound.cutAxis[value] = StringRef();
  }
  for (auto [name, other] :
       llvm::zip(split.getAlsoValues(), split.getAlsoAxes())) {
    int value;
    if (failed(names.findValue(name, "'also'", value))) {
      return failure();
    }
    if (!llvm::is_contained(kernel.values[value].axes, other.getValue())) {
      return reject(emitError, "V1",
                    formatv("expected 'also' to cut '{0}' along one of its "
                            "axes, got '{1}'",
                            name.getValue(), other.getValue()));
    }
    bound.cutAxis[value] = other.getValue();
  }
  return checkCuts();
}

LogicalResult ScheduleBinder::checkCuts() {
  if (kernel.tiles == Tiles::Cut) {
    return success();
  }
  for (auto [v, value] : llvm::enumerate(kernel.values)) {
    for (auto [axis, size] : llvm::zip(value.axes, value.shape)) {
      if (axis == bound.cutAxis[v] && size % bound.subtileCount != 0) {
        return reject(emitError, "V24",
                      formatv("expected {0} sub-tiles to divide axis '{1}' of "
                              "'{2}', got {3} elements",
                              bound.subtileCount, axis, value.name, size));
      }
    }
  }
  return success();
}

LogicalResult ScheduleBinder::bindRoles() {
  bound.remat.resize(kernel.steps.size());
  for (StringAttr name : schedule.getRemat()) {
    int step;
    if (failed(names.findStep(name, "'remat'", step))) {
      return failure();
    }
    bound.remat.set(step);
  }
  if (schedule.getRoles().empty()) {
    return reject(emitError, "V1",
                  formatv("expected at least one role, got none"));
  }
  for (RoleAttr attr : schedule.getRoles()) {
    if (attr.getOnLeader()) {
      return reject(emitError, "V25",
                    formatv("expected role '{0}' on each CTA, got 'on leader': "
                            "CTA pairs are not judged",
                            attr.getName().getValue()));
    }
    bound.roles.push_back({attr.getName().getValue(), int(attr.getReplicas()),
                           attr.getWarps(), attr.getRegs()});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

LogicalResult ScheduleBinder::checkScope(StringRef name, Scope scope) {
  if (scope == Scope::Pair) {
    return reject(
        emitError, "V25",
        formatv("expected '{0}' to have scope 'cta' or 'cluster', got "
                "'pair': CTA pairs are not judged",
                name));
  }
  if (scope == Scope::Cluster && bound.cluster == 1) {
    return reject(emitError, "V25",
                  formatv("expected a cluster of at least 2 CTAs for '{0}' of "
                          "scope 'cluster', got {1}",
                          name, bound.cluster));
  }
  return success();
}

/// Checks a place that the CTAs of a cluster share. They have different rows
/// and run the same blocks, so the copies of every iteration are the same for
/// all.
LogicalResult ScheduleBinder::checkShared(const Place &place,
                                          ArrayRef<int> values) {
  for (int index : values) {
    const KernelValue &value = kernel.values[index];
    if (place.channel && value.producer >= 0 && value.perIteration() &&
        kernel.steps[value.producer].engine == Engine::Copy) {
      continue;
    }
    return reject(
        emitError, "V25",
        formatv("expected '{0}' of scope 'cluster' to be a channel of "
                "values that are loaded in every iteration, got '{1}'",
                place.name, value.name));
  }
  return success();
}

LogicalResult ScheduleBinder::bindPlace(PlaceAttr attr) {
  Place &place = bound.places.emplace_back();
  place.attr = attr;
  place.name = attr.getName().getValue();
  place.channel = attr.getChannel();
  place.space = attr.getSpace();
  place.depth = attr.getDepth();
  place.parts = std::max<int>(attr.getParts().size() / 2, 1);
  place.hasFull = place.channel && !attr.getFullImplied();
  place.hasFree = place.channel && !attr.getFreeImplied();
  if (place.depth < 1) {
    return reject(emitError, "V4",
                  formatv("expected '{0}' to have a depth of at least 1, got "
                          "{1}",
                          place.name, place.depth));
  }
  if (failed(checkScope(place.name, attr.getScope()))) {
    return failure();
  }
  place.inCluster = attr.getScope() == Scope::Cluster;
  std::string user = "place " + quote(place.name);
  for (ArrayAttr cycle : attr.getCycles()) {
    auto &values = place.cycles.emplace_back();
    for (auto name : cycle.getAsRange<StringAttr>()) {
      if (failed(names.findValue(name, user, values.emplace_back()))) {
        return failure();
      }
      place.cut |= !bound.axisOf(values.back()).empty();
    }
    place.members = std::max<int>(place.members, values.size());
    if (place.inCluster && failed(checkShared(place, values))) {
      return failure();
    }
  }
  for (StringAttr name : attr.getOnly()) {
    if (failed(names.findStep(name, user, place.only.emplace_back()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ScheduleBinder::bindHost(Place &place, StringAttr over) {
  auto host = llvm::find_if(bound.places, [&](const Place &other) {
    return other.name == over.getValue();
  });
  if (host == bound.places.end() || !host->attr.getOver().empty()) {
    return reject(
        emitError, "V10",
        formatv("expected '{0}' over a place with storage of its own, "
                "got '{1}'",
                place.name, over.getValue()));
  }
  if (host->space != place.space) {
    return reject(emitError, "V10",
                  formatv("expected '{0}' in '{1}' as its host '{2}', got "
                          "'{3}'",
                          place.name, stringifySpace(host->space), host->name,
                          stringifySpace(place.space)));
  }
  place.cross = place.attr.getOverCross();
  if (place.cross && (bound.subtileCount != 2 || !host->cut || !place.cut)) {
    return reject(
        emitError, "V10",
        formatv("expected '{0}' over the other sub-tile of '{1}' with "
                "both cut in 2, got {2} sub-tiles",
                place.name, host->name, bound.subtileCount));
  }
  place.hosts.push_back(host - bound.places.begin());
  host->atoms =
      std::max({host->atoms, place.parts, host->cut ? 1 : bound.subtileCount});
  return success();
}

LogicalResult ScheduleBinder::bindHosts(Place &place) {
  place.atoms = std::max(place.atoms, place.parts);
  ArrayRef<StringAttr> over = place.attr.getOver();
  // Registers need not be consecutive.
  if (over.size() > 1 && place.space != Space::Reg) {
    return reject(emitError, "V10",
                  formatv("expected '{0}' over one place, as it is in '{1}', "
                          "got {2}",
                          place.name, stringifySpace(place.space),
                          over.size()));
  }
  return success(llvm::all_of(
      over, [&](StringAttr host) { return succeeded(bindHost(place, host)); }));
}

LogicalResult ScheduleBinder::bindPlaces() {
  for (PlaceAttr attr : schedule.getPlaces()) {
    if (failed(bindPlace(attr))) {
      return failure();
    }
  }
  for (Place &place : bound.places) {
    if (failed(bindHosts(place))) {
      return failure();
    }
  }
  for (Place &place : bound.places) {
    place.cellBase = bound.cellCount;
    bound.cellCount +=
        (bound.subtileCount + 1) * place.depth * place.atoms * place.members;
    int64_t slots = place.subtiles(bound.subtileCount) * int64_t(place.depth);
    for (auto &cycle : place.cycles) {
      int64_t bytes = 0;
      const KernelValue &first = kernel.values[cycle.front()];
      for (int value : cycle) {
        bool isWhole =
            kernel.tiles == Tiles::Cut ||
            !llvm::is_contained(kernel.values[value].axes, bound.axisOf(value));
        int64_t own =
            kernel.values[value].bytes() / (isWhole ? 1 : bound.subtileCount);
        if (place.space == Space::Smem && first.shape.size() == 2 &&
            kernel.values[value].shape.size() == 1) {
          place.rows.push_back(
              {value, slots * llvm::alignTo(own, ws::rowAlignment)});
        } else {
          bytes += own;
        }
      }
      if (place.space == Space::Smem && !first.isWork) {
        bytes =
            llvm::alignTo(bytes, first.shape.size() == 1 ? ws::rowAlignment
                                                         : ws::tileAlignment);
      }
      place.bytes = std::max(place.bytes, bytes);
    }
    place.bytes *= slots;
  }
  return success();
}

/// A hold is the home of all values of an accumulator; a channel is the home of
/// the values that it names.
static bool isHomeOf(const KernelModel &kernel, const Place &place, int value) {
  if (place.channel) {
    return place.carries(value);
  }
  return llvm::any_of(place.cycles, [&](auto &cycle) {
    return llvm::any_of(cycle, [&](int held) {
      return kernel.values[held].family == kernel.values[value].family;
    });
  });
}

void ScheduleBinder::findHomes() {
  bound.homes.resize(kernel.values.size());
  for (int value = 0, e = bound.homes.size(); value < e; ++value) {
    for (auto [i, place] : llvm::enumerate(bound.places)) {
      if (isHomeOf(kernel, place, value)) {
        bound.homes[value].push_back(i);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Edges, turns, rendezvous
//===----------------------------------------------------------------------===//

LogicalResult ScheduleBinder::bindEdges() {
  for (EdgeAttr attr : schedule.getEdges()) {
    Edge &edge = bound.edges.emplace_back();
    edge.name = attr.getName().getValue().str();
    edge.cut = attr.getSplit();
    edge.part = attr.getJoinsPart();
    edge.credits = attr.getCredits();
    edge.inCluster = attr.getScope() == Scope::Cluster;
    if (failed(checkScope(edge.name, attr.getScope()))) {
      return failure();
    }
    if (!attr.getJoinsPlace()) {
      continue;
    }
    auto place = llvm::find_if(bound.places, [&](const Place &other) {
      return other.name == attr.getJoinsPlace().getValue();
    });
    if (place == bound.places.end() || !place->hasFull ||
        edge.part >= place->parts) {
      return reject(emitError, "V1",
                    formatv("expected edge '{0}' to join a part of a channel "
                            "with a full barrier, got part {1} of '{2}'",
                            edge.name, edge.part,
                            attr.getJoinsPlace().getValue()));
    }
    edge.joins = place - bound.places.begin();
  }
  return bindTurns();
}

LogicalResult ScheduleBinder::bindTurns() {
  for (TurnAttr attr : schedule.getTurns()) {
    int role;
    StringRef name = attr.getName().getValue();
    if (failed(names.findRole(attr.getRing(), quote(name), role))) {
      return failure();
    }
    for (int i = 0; i < std::max(bound.roles[role].replicas, 1); ++i) {
      Edge &edge = bound.edges.emplace_back();
      edge.name = formatv("{0} of {1}[{2}]", name, bound.roles[role].name, i);
      edge.credits = i == 0 && !attr.getUnprimed();
    }
  }
  for (SyncAttr attr : schedule.getSyncs()) {
    int role;
    StringRef name = attr.getName().getValue();
    if (failed(names.findRole(attr.getRing(), quote(name), role))) {
      return failure();
    }
    bound.rendezvous.push_back(
        {name, role, std::max(bound.roles[role].replicas, 1)});
  }
  return success();
}

void ScheduleBinder::numberBarriers() {
  auto add = [&](Barrier::Kind kind, int owner, int slots, int parts) {
    int base = bound.barriers.size();
    for (int t = whole; t < bound.subtileCount; ++t) {
      for (int slot = 0; slot < slots; ++slot) {
        for (int part = 0; part < parts; ++part) {
          bound.barriers.push_back({kind, owner, t, slot, part});
        }
      }
    }
    return base;
  };
  for (auto [i, place] : llvm::enumerate(bound.places)) {
    if (place.channel) {
      place.fullBase = add(Barrier::Full, i, place.depth, place.parts);
      place.freeBase = add(Barrier::Free, i, place.depth, 1);
    }
  }
  for (auto [i, edge] : llvm::enumerate(bound.edges)) {
    edge.barrierBase = add(Barrier::EdgeBarrier, i, 1, 1);
  }
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

LogicalResult ScheduleBinder::bind() {
  if (failed(bindSplit()) || failed(bindRoles()) || failed(bindPlaces()) ||
      failed(bindEdges()) || failed(BodyBinder(bound, emitError).bind())) {
    return failure();
  }
  findHomes();
  numberBarriers();
  return success();
}

FailureOr<BoundSchedule> sched::bindSchedule(const KernelModel &kernel,
                                             MachineAttr machine,
                                             ScheduleAttr schedule, int cluster,
                                             EmitError emitError) {
  BoundSchedule bound;
  bound.cluster = cluster;
  bound.kernel = &kernel;
  bound.machine = machine;
  bound.schedule = schedule;
  if (failed(ScheduleBinder(bound, emitError).bind())) {
    return failure();
  }
  return bound;
}
