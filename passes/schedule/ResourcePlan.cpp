// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/ResourcePlan.h"
#include "attn/dialect/RegisterBudget.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Warps.
//===----------------------------------------------------------------------===//

WarpPlan::WarpPlan(ArrayRef<ResourceNeeds::Role> needed, MachineAttr machine)
    : machine(machine), group(machine.getWarps().getGroup()),
      lanes(machine.getWarps().getLanes()) {
  int64_t next = 0;
  bool sharing = false;
  for (const ResourceNeeds::Role &role : needed) {
    bool isSmall = role.warps < group;
    if (!isSmall || !sharing) {
      next = llvm::alignTo(next, group);
    }
    roles.push_back({role.name, role.warps, role.replicas, role.registers,
                     /*firstWarp=*/next});
    next = roles.back().endWarp();
    sharing = isSmall;
  }
}

int64_t WarpPlan::groups() const {
  return roles.empty() ? 0 : llvm::divideCeil(roles.back().endWarp(), group);
}

int64_t WarpPlan::registersOf(int64_t number) const {
  for (const Role &role : roles) {
    if (role.firstWarp / group <= number &&
        number <= (role.endWarp() - 1) / group) {
      return role.registers;
    }
  }
  return 0;
}

int64_t WarpPlan::registers() const {
  int64_t total = 0;
  for (int64_t number = 0; number < groups(); ++number) {
    total += registersOf(number) * group * lanes;
  }
  return total;
}

/// If the registers of the roles leave space for several CTAs on a
/// multiprocessor, those of the launch do too, so that a dependent launch can
/// start beside the previous one.
int64_t WarpPlan::launchRegisters() const {
  int64_t needed = std::max<int64_t>(1, registers());
  int64_t ctas = std::max<int64_t>(1, machine.getRegisterCount() / needed);
  return attn::launchRegisters(machine, ctas * threads());
}

std::pair<const WarpPlan::Role *, const WarpPlan::Role *>
WarpPlan::disagreeing() const {
  for (size_t i = 1; i < roles.size(); ++i) {
    const Role &before = roles[i - 1], &role = roles[i];
    if ((before.endWarp() - 1) / group == role.firstWarp / group &&
        before.registers != role.registers) {
      return {&before, &role};
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Shared memory and barriers.
//===----------------------------------------------------------------------===//

int64_t ResourceNeeds::replicas() const {
  int64_t all = 0;
  for (const Role &role : roles) {
    all += role.replicas;
  }
  return all;
}

ResourcePlan::ResourcePlan(const ResourceNeeds &needs, MachineAttr machine)
    : warps(needs.roles, machine), fragmentRegisters(needs.fragmentRegisters),
      tmemColumns(needs.tmemColumns) {
  placeTiles(needs);
  placeBarriers(needs, machine.getBarriers().getBytes());
  placeItems(needs);
  nameBarriers(needs, !machine.getMma().getSignalsBarriers());
}

/// Assigns offsets: first to places of tiles, which are aligned, then to those
/// of row vectors and work items, which are not. A place over another begins
/// where that does.
void ResourcePlan::placeTiles(const ResourceNeeds &needs) {
  for (const ResourceNeeds::Place &place : needs.places) {
    places.push_back({place.name, 1, place.bytes, place.offset.value_or(-1)});
  }
  for (bool ofVectors : {false, true}) {
    for (auto [place, own] : llvm::zip(needs.places, places)) {
      if (place.ofVectors == ofVectors && place.over.empty() && !place.offset) {
        own.offset = placesEnd;
        placesEnd += place.bytes;
      }
    }
  }
  for (auto [place, own] : llvm::zip(needs.places, places)) {
    const Allocation *host =
        place.over.empty() ? nullptr : findPlace(place.over);
    if (host && !place.offset) {
      own.offset = host->offset;
    }
  }
  placesEnd = needs.placesEnd.value_or(placesEnd);
}

void ResourcePlan::placeBarriers(const ResourceNeeds &needs, int64_t bytes) {
  barriersEnd = placesEnd;
  auto place = [&](StringRef name, int64_t count) {
    barriers.push_back({name, count, bytes, barriersEnd});
    barriersEnd += count * bytes;
    mbarriers += count;
  };
  for (const ResourceNeeds::Place &each : needs.places) {
    if (each.barriers > 0) {
      place(each.name, each.barriers);
    }
  }
  for (const ResourceNeeds::Barriers &edge : needs.edges) {
    place(edge.name, edge.count);
  }
}

void ResourcePlan::placeItems(const ResourceNeeds &needs) {
  items = ws::ItemMemory(barriersEnd, needs.hasVerdict, needs.hasMailbox,
                         needs.hasClaim);
  mbarriers += (needs.hasVerdict ? ws::verdictRing : 0) +
               (needs.hasMailbox ? ws::MailboxMemory::barriers : 0);
  stampBytes = needs.hasStamps ? needs.replicas() * ws::stampCursorBytes : 0;
  end = items.end + stampBytes;
}

bool ResourcePlan::overlap(StringRef one, StringRef other) const {
  const Allocation *a = findPlace(one), *b = findPlace(other);
  return a && b && a->offset < b->offset + b->bytes &&
         b->offset < a->offset + a->bytes;
}

/// Whether the warps of a replica meet at a named barrier. They do around a
/// store, which one thread issues for all, and before they overwrite operands
/// of MMAs in which all of them took part.
bool ResourcePlan::warpsMeet(const ResourceNeeds::Role &role,
                             bool awaitsProducts) const {
  if (role.isOfOneThread) {
    return false;
  }
  if (role.stores) {
    return true;
  }
  return awaitsProducts && llvm::any_of(role.puts, [&](StringRef put) {
           return llvm::any_of(role.operands, [&](StringRef operand) {
             return overlap(put, operand);
           });
         });
}

/// Numbers the named barriers, from 1: id 0 is the barrier of the whole CTA.
void ResourcePlan::nameBarriers(const ResourceNeeds &needs,
                                bool awaitsProducts) {
  auto name = [&](StringRef user, int64_t count) {
    ids.push_back({user, count, namedBarriers});
    namedBarriers += count;
  };
  for (const ResourceNeeds::Role &role : needs.roles) {
    if (warpsMeet(role, awaitsProducts)) {
      name(role.name, role.replicas);
    }
  }
  for (const ResourceNeeds::Barriers &meeting : needs.meetings) {
    name(meeting.name, meeting.count);
  }
}

/// Returns the element with that name, or null.
template <typename List>
static auto *findNamed(const List &list, StringRef name) {
  auto found =
      llvm::find_if(list, [&](const auto &each) { return each.name == name; });
  return found == list.end() ? nullptr : &*found;
}

const ResourcePlan::Allocation *ResourcePlan::findPlace(StringRef name) const {
  return findNamed(places, name);
}
const ResourcePlan::Allocation *
ResourcePlan::findBarriers(StringRef name) const {
  return findNamed(barriers, name);
}
const ResourcePlan::Ids *ResourcePlan::findIds(StringRef name) const {
  return findNamed(ids, name);
}

DictionaryAttr ResourcePlan::describe(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<int64_t> registers;
  for (int64_t group = 0; group < warps.groups(); ++group) {
    registers.push_back(warps.registersOf(group));
  }
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  return builder.getDictionaryAttr(
      {number(kSharedMemory, end), number("mbarriers", mbarriers),
       number("named_barriers", namedBarriers),
       number("threads", warps.threads()),
       number("launch_registers", warps.launchRegisters()),
       builder.getNamedAttr("registers",
                            builder.getDenseI64ArrayAttr(registers))});
}
