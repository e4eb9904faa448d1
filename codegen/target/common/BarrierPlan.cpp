// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BarrierPlan.h"
#include "BarrierOps.h"
#include "SyncPatterns.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/passes/schedule/DataTables.h"
#include "attn/support/Decision.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using ws::barrierBytes;

FailureOr<BarrierPlan> BarrierPlan::of(ws::KernelOp kernel) {
  FailureOr<MachineAttr> machine =
      lookupMachine(kernel.getContext(), kernel.getMachine(), [&] {
        return kernel.emitOpError("attn-lower-channels: ");
      });
  if (failed(machine)) {
    return failure();
  }
  BarrierPlan plan;
  plan.resources = ResourcePlan(ResourceNeeds::of(kernel), *machine);
  if (failed(plan.placeBarriers(kernel)) || failed(plan.placeItems(kernel)) ||
      failed(plan.checkNamed(kernel, *machine))) {
    return failure();
  }
  plan.countArrivals(kernel);
  plan.claimBytes = claimsItem(kernel) ? ws::claimBytes : 0;
  return plan;
}

LogicalResult BarrierPlan::placeBarriers(ws::KernelOp kernel) {
  end = resources.barriersEnd;
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    if (channel.getWith()) {
      continue;
    }
    int64_t depth = channel.getDepth();
    int64_t full = resources.findBarriers(channel.getSymName())->offset;
    channels[channel.getSymName()] = {depth, full, full + barrierBytes * depth,
                                      channel.getCluster()};
  }
  for (auto edge : kernel.getBody().getOps<ws::EdgeOp>()) {
    if (edge.getCredits() > 1) {
      return edge.emitOpError("attn-lower-channels: expected at most 1 credit, "
                              "got ")
             << edge.getCredits();
    }
    edges[edge.getSymName()] = {
        resources.findBarriers(edge.getSymName())->offset,
        (int64_t)edge.getCredits(), edge.getCluster()};
  }
  return success();
}

/// Reads the offsets of the verdict and the mailbox, which come after the
/// others.
LogicalResult BarrierPlan::placeItems(ws::KernelOp kernel) {
  auto place = [&](auto op, auto memory) -> LogicalResult {
    int64_t begin = op.getOffset().value_or(-1);
    if (begin < end || begin % memory.alignment != 0) {
      return op.emitOpError("attn-lower-channels: expected an offset after the "
                            "barriers, a multiple of ")
             << memory.alignment << " from byte " << end << " on, got "
             << begin;
    }
    end = memory.end();
    return success();
  };
  for (auto op : kernel.getBody().getOps<ws::VerdictOp>()) {
    ws::VerdictMemory memory = ws::memoryOf(op);
    if (failed(place(op, memory))) {
      return failure();
    }
    verdict = VerdictBarriers{memory, op.isHandedOut(), op.isInCluster()};
  }
  for (auto op : kernel.getBody().getOps<ws::MailboxOp>()) {
    mailbox = ws::memoryOf(op);
    if (failed(place(op, *mailbox))) {
      return failure();
    }
  }
  return success();
}

static bool givesVerdict(ws::RoleOp role) {
  return role->walk([](ws::GiveVerdictOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void BarrierPlan::countArrivals(ws::KernelOp kernel) {
  int64_t ctas = clusterOf(kernel);
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    int64_t arrivals =
        role.isSingleThread() ? 1 : role.getWarps() * role.getReplicas();
    llvm::SetVector<StringRef> readChannels, signalled;
    role.walk([&](ws::ReleaseOp op) {
      readChannels.insert(op.getSlot().getType().getChannel().getValue());
    });
    role.walk([&](ws::SignalOp op) { signalled.insert(op.getEdge()); });
    for (StringRef name : readChannels) {
      if (auto *found = channels.find(name); found != channels.end()) {
        ChannelBarriers &channel = found->second;
        channel.freeCount += arrivals * (channel.cluster ? ctas : 1);
      }
    }
    for (StringRef name : signalled) {
      edges[name].count += arrivals * (edges[name].cluster ? ctas : 1);
    }
    if (givesVerdict(role)) {
      verdict->count += arrivals * ctas;
    }
  }
}

LogicalResult BarrierPlan::checkNamed(ws::KernelOp kernel,
                                      MachineAttr machine) const {
  int64_t most = machine.getBarriers().getNamed();
  if (resources.namedBarriers > most) {
    return kernel.emitOpError("attn-lower-channels: expected at most ")
           << most << " named barriers, got " << resources.namedBarriers;
  }
  decided(kernel.getLoc(), "lower-channels")
      << llvm::formatv("{0} barriers in memory, {1} named", resources.mbarriers,
                       resources.namedBarriers)
             .str();
  return success();
}

int64_t BarrierPlan::named(StringRef name) const {
  const ResourcePlan::Ids *ids = resources.findIds(name);
  if (!ids) {
    llvm::report_fatal_error("attn-lower-channels: expected a named barrier of "
                             "'" +
                             name +
                             "', got none: a chip lets the warps of a role "
                             "meet where the plan of resources does not");
  }
  return ids->first;
}

void BarrierPlan::emitSetup(ws::KernelOp kernel) const {
  OpBuilder builder(*kernel.getBody().getOps<ws::RoleOp>().begin());
  auto setup = ws::SetupOp::create(builder, kernel.getLoc());
  builder.createBlock(&setup.getBody());
  BarrierOps emit{{builder, kernel.getLoc()}};
  auto init = [&](int64_t offset, int64_t count) {
    NVVM::MBarrierInitOp::create(builder, kernel.getLoc(),
                                 emit.barrierAt(offset, {}),
                                 emit.constant(count), Value());
  };
  for (auto &[name, channel] : channels) {
    for (int64_t slot = 0; slot < channel.depth; ++slot) {
      init(channel.fullOffset + barrierBytes * slot, 1);
    }
    for (int64_t slot = 0; slot < channel.depth; ++slot) {
      init(channel.freeOffset + barrierBytes * slot,
           std::max<int64_t>(1, channel.freeCount));
    }
  }
  for (auto &[name, edge] : edges) {
    init(edge.offset, std::max<int64_t>(1, edge.count));
  }
  if (verdict) {
    for (int64_t slot = 0; slot < ws::verdictRing; ++slot) {
      init(verdict->memory.barrier(slot), verdict->count);
    }
    // The words of the role that hands out items come after those of the
    // verdicts.
    for (int64_t word = 0; word < ws::verdictRing + ws::handOutWords; ++word) {
      LLVM::StoreOp::create(builder, kernel.getLoc(), emit.constant(0),
                            emit.verdictWord(*verdict, emit.constant(word)));
    }
  }
  if (mailbox) {
    // The sender and the receiver of an item arrive on the barrier for its
    // arrival; all CTAs except the first on the one for its reads.
    init(mailbox->hasCome(), 2);
    init(mailbox->wasRead(), clusterOf(kernel) - 1);
    Value parity = emit.smem(emit.constant(mailbox->parity()));
    LLVM::StoreOp::create(builder, kernel.getLoc(), emit.constant(0), parity);
  }
}
