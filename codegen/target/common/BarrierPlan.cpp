// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BarrierPlan.h"
#include "BarrierOps.h"
#include "SyncPatterns.h"
#include "attn/codegen/launch/LaunchShape.h"
#include "attn/support/Decision.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using ws::barrierBytes;

FailureOr<BarrierPlan> BarrierPlan::of(ws::KernelOp kernel,
                                       const Target &chip) {
  BarrierPlan plan;
  if (failed(plan.placeBarriers(kernel)) || failed(plan.placeItems(kernel))) {
    return failure();
  }
  plan.countArrivals(kernel);
  if (failed(plan.nameBarriers(kernel, chip))) {
    return failure();
  }
  return plan;
}

LogicalResult BarrierPlan::placeBarriers(ws::KernelOp kernel) {
  end = *kernel.getSmemBytes();
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    int64_t ring = barrierBytes * channel.getDepth();
    channels[channel.getSymName()] = {(int64_t)channel.getDepth(), end,
                                      end + ring, channel.getCluster()};
    end += 2 * ring;
  }
  for (auto edge : kernel.getBody().getOps<ws::EdgeOp>()) {
    if (edge.getCredits() > 1) {
      return edge.emitOpError("attn-lower-channels: expected at most 1 credit, "
                              "got ")
             << edge.getCredits();
    }
    edges[edge.getSymName()] = {end, (int64_t)edge.getCredits(),
                                edge.getCluster()};
    end += barrierBytes;
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
      channels[name].freeCount +=
          arrivals * (channels[name].cluster ? ctas : 1);
    }
    for (StringRef name : signalled) {
      edges[name].count += arrivals * (edges[name].cluster ? ctas : 1);
    }
    if (givesVerdict(role)) {
      verdict->count += arrivals * ctas;
    }
  }
}

/// Assigns ids: 0 belongs to the CTA; then one for each replica of each role
/// whose warps meet, one for each replica of a turn's ring, and one for each
/// rendezvous.
LogicalResult BarrierPlan::nameBarriers(ws::KernelOp kernel,
                                        const Target &chip) {
  int64_t next = 1;
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    if (warpsMeet(role, chip)) {
      namedIds[role.getSymName()] = next;
      next += role.getReplicas();
    }
  }
  for (auto turn : kernel.getBody().getOps<ws::TurnOp>()) {
    namedIds[turn.getSymName()] = next;
    next += kernel.lookupSymbol<ws::RoleOp>(turn.getRing()).getReplicas();
  }
  for (auto sync : kernel.getBody().getOps<ws::RendezvousOp>()) {
    namedIds[sync.getSymName()] = next++;
  }
  if (next > 16) {
    return kernel.emitOpError("attn-lower-channels: expected at most 16 named "
                              "barriers, got ")
           << next;
  }
  decided(kernel.getLoc(), "lower-channels")
      << llvm::formatv("{0} barriers in memory, {1} named",
                       (end - *kernel.getSmemBytes()) / barrierBytes, next)
             .str();
  return success();
}

int64_t BarrierPlan::named(StringRef name) const {
  auto found = namedIds.find(name);
  if (found == namedIds.end()) {
    llvm::report_fatal_error("attn-lower-channels: expected a named barrier of "
                             "'" +
                             name +
                             "', got none: a chip lets the warps of a role "
                             "meet where 'meetsBefore' says that they do not");
  }
  return found->second;
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
