// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the resource needs of a schedule, and of the `ws.kernel` that it
// becomes.
#include "attn/passes/schedule/BoundSchedule.h"
#include "attn/passes/schedule/ResourcePlan.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;

//===----------------------------------------------------------------------===//
// Of a schedule.
//===----------------------------------------------------------------------===//

/// Returns the number of mbarriers of a place. A channel in shared memory
/// always has both kinds, full and free, even if other synchronization makes
/// one of them unnecessary.
static int64_t barriersOf(const Place &place, int subtileCount) {
  bool hasAll = place.channel && place.space == Space::Smem;
  int64_t slots = place.subtiles(subtileCount) * int64_t(place.depth);
  return slots *
         (place.parts * (hasAll || place.hasFull) + (hasAll || place.hasFree));
}

static void addPlace(ResourceNeeds &needs, const BoundSchedule &bound,
                     const Place &place) {
  int64_t barriers = barriersOf(place, bound.subtileCount);
  bool isHosted = !place.hosts.empty();
  if (place.space == Space::Smem) {
    needs.places.push_back(
        {place.name, place.bytes,
         isHosted ? bound.places[place.hosts.front()].name : StringRef(),
         bound.kernel->values[place.cycles.front().front()].shape.size() < 2,
         barriers, std::nullopt});
    for (auto [value, bytes] : place.rows) {
      needs.places.push_back({bound.kernel->values[value].name, bytes,
                              StringRef(), /*ofVectors=*/true, 0,
                              std::nullopt});
    }
    return;
  }
  if (barriers > 0) {
    needs.edges.push_back({place.name, barriers});
  }
  SpaceInfoAttr space = bound.machine.findSpace(place.space);
  if (!space || isHosted) {
    return;
  }
  if (space.getIsPrivate()) {
    // Each thread of the warp group that owns a sub-tile has its share of it.
    WarpInfoAttr warps = bound.machine.getWarps();
    int64_t threads = warps.getLanes() * warps.getGroup();
    needs.fragmentRegisters +=
        llvm::divideCeil(place.bytes, space.getUnit() * threads *
                                          place.subtiles(bound.subtileCount));
  } else {
    needs.tmemColumns += llvm::divideCeil(place.bytes, space.getUnit());
  }
}

/// Adds the places that a role puts into or reads by MMAs, and whether it
/// stores.
static void addAccesses(ResourceNeeds::Role &role, const BoundSchedule &bound,
                        const Instance &instance) {
  auto add = [&](int value, SmallVectorImpl<StringRef> &names) {
    for (const Place &place : bound.places) {
      if (place.space == Space::Smem && value >= 0 && place.carries(value)) {
        names.push_back(place.name);
      }
    }
  };
  for (int index : instance.runs.set_bits()) {
    const KernelStep &step = bound.kernel->steps[index];
    bool addsHold = step.holds<tile::ReduceAddOp>() &&
                    llvm::any_of(step.reads, [&](int value) {
                      return bound.holdOf(value);
                    });
    role.stores |= addsHold || step.holds<tile::StoreOp>();
    add(step.a, role.operands);
    add(step.b, role.operands);
  }
  for (const Place &place : bound.places) {
    if (bound.putsInto(instance, place)) {
      role.puts.push_back(place.name);
    }
  }
}

ResourceNeeds ResourceNeeds::of(const BoundSchedule &bound) {
  ResourceNeeds needs;
  for (const sched::Place &place : bound.places) {
    addPlace(needs, bound, place);
  }
  for (auto [edge, attr] : llvm::zip(bound.edges, bound.schedule.getEdges())) {
    if (edge.joins < 0) {
      needs.edges.push_back({attr.getName().getValue(),
                             edge.cut ? int64_t(bound.subtileCount) : 1});
    }
  }
  for (const sched::Role &role : bound.roles) {
    needs.roles.push_back(
        {role.name, role.warps, std::max(role.replicas, 1), role.regs});
  }
  for (const Instance &instance : bound.instances) {
    Role &role = needs.roles[instance.role];
    role.isOfOneThread = bound.isOfOneThread(instance);
    addAccesses(role, bound, instance);
  }
  for (TurnAttr turn : bound.schedule.getTurns()) {
    auto *ring = llvm::find_if(needs.roles, [&](const Role &role) {
      return role.name == turn.getRing().getValue();
    });
    needs.meetings.push_back({turn.getName().getValue(), ring->replicas});
  }
  for (SyncAttr sync : bound.schedule.getSyncs()) {
    needs.meetings.push_back({sync.getName().getValue(), 1});
  }
  needs.hasVerdict = bound.kernel->mayReject;
  needs.hasMailbox = ws::hasMailbox(bound.kernel->config);
  needs.hasClaim = bound.kernel->claimsItem;
  return needs;
}

//===----------------------------------------------------------------------===//
// Of a kernel.
//===----------------------------------------------------------------------===//

template <typename Op> static std::optional<int64_t> offsetOf(Op op) {
  return op.getOffset() ? std::optional<int64_t>(*op.getOffset())
                        : std::nullopt;
}

static ResourceNeeds::Role needsOf(ws::RoleOp role) {
  ResourceNeeds::Role needs{role.getSymName(), int64_t(role.getWarps()),
                            int64_t(role.getReplicas()),
                            int64_t(role.getRegs())};
  needs.isOfOneThread = role.isSingleThread();
  role.walk([&](Operation *op) {
    needs.stores |= isa<ws::StoreOp, ws::ReduceAddOp>(op);
    if (auto put = dyn_cast<ws::PutOp>(op)) {
      needs.puts.push_back(put.getHold());
    }
    if (!isa<ws::MmaOp>(op)) {
      return;
    }
    for (Type type : op->getOperandTypes()) {
      if (auto slot = dyn_cast<ws::SlotType>(type)) {
        needs.operands.push_back(slot.getChannel().getValue());
      }
    }
  });
  return needs;
}

ResourceNeeds ResourceNeeds::of(ws::KernelOp kernel) {
  ResourceNeeds needs;
  SmallVector<Barriers> rendezvous; // whose ids follow those of turns
  for (Operation &each : kernel.getBody().front()) {
    TypeSwitch<Operation *>(&each)
        .Case([&](ws::ChannelOp op) {
          needs.places.push_back(
              {op.getSymName(), op.getBytes(), op.getOver().value_or(""),
               op.getAlignment() != ws::tileAlignment,
               op.getWith() ? 0 : 2 * int64_t(op.getDepth()), offsetOf(op)});
        })
        .Case([&](ws::HoldOp op) {
          needs.places.push_back({op.getSymName(), op.getBytes(),
                                  op.getOver().value_or(""), false, 0,
                                  offsetOf(op)});
        })
        .Case(
            [&](ws::EdgeOp op) { needs.edges.push_back({op.getSymName(), 1}); })
        .Case([&](ws::TurnOp op) {
          auto ring = kernel.lookupSymbol<ws::RoleOp>(op.getRing());
          needs.meetings.push_back(
              {op.getSymName(), int64_t(ring.getReplicas())});
        })
        .Case([&](ws::RendezvousOp op) {
          rendezvous.push_back({op.getSymName(), 1});
        })
        .Case([&](ws::RoleOp op) { needs.roles.push_back(needsOf(op)); })
        .Case([&](ws::VerdictOp) { needs.hasVerdict = true; })
        .Case([&](ws::MailboxOp) { needs.hasMailbox = true; })
        .Case([&](ws::StampsOp) { needs.hasStamps = true; });
  }
  needs.hasClaim = ws::claimsItem(kernel.getArgs(), kernel.getConfig());
  llvm::append_range(needs.meetings, rendezvous);
  needs.placesEnd = kernel.getSmemBytes()
                        ? std::optional<int64_t>(*kernel.getSmemBytes())
                        : std::nullopt;
  return needs;
}
