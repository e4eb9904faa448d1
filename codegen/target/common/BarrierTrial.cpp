// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BarrierTrial.h"
#include "attn/codegen/launch/LaunchShape.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr StringLiteral passName = "attn-verify-channels: ";

//===----------------------------------------------------------------------===//
// The program.
//===----------------------------------------------------------------------===//

BarrierProgram::BarrierProgram(ws::KernelOp kernel, MachineAttr machine)
    : kernel(kernel), namedBarriers(machine.getBarriers().getNamed()) {
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    roles.push_back({role, RoleSlice(role)});
  }
}

LogicalResult BarrierProgram::readSetup() {
  for (auto setup : kernel.getBody().getOps<ws::SetupOp>()) {
    RoleSlice slice(setup);
    WarpUnroller unroller(kernel, slice, {}, {});
    if (failed(unroller.unroll(setup.getBody().front(), /*lanes=*/1))) {
      return failure();
    }
    SmallVector<BarrierEvent, 0> events = unroller.take();
    if (failed(checkMemory(events))) {
      return failure();
    }
    for (const BarrierEvent &event : events) {
      if (event.kind == BarrierEvent::Init) {
        barriers[event.address] = {event.number, event.op};
      }
    }
  }
  return success();
}

namespace {
/// A range of shared memory: its first byte and its end.
struct Extent {
  int64_t begin, end;
  Operation *op;

  bool overlaps(const Extent &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

/// Checks that barriers and words do not overlap one another, tiles or items,
/// and are within the kernel's shared memory.
LogicalResult BarrierProgram::checkMemory(ArrayRef<BarrierEvent> setup) {
  SmallVector<Extent> taken;
  for (Operation &op : kernel.getBody().front()) {
    TypeSwitch<Operation *>(&op).Case<ws::ChannelOp, ws::HoldOp>([&](auto op) {
      int64_t begin = *op.getOffset();
      taken.push_back({begin, begin + op.getBytes(), op});
    });
  }
  for (auto mailbox : kernel.getBody().getOps<ws::MailboxOp>()) {
    int64_t item = ws::memoryOf(mailbox).item();
    taken.push_back({item, item + ws::workItemBytes, mailbox});
  }
  for (const BarrierEvent &event : setup) {
    int64_t bytes =
        event.kind == BarrierEvent::Init ? ws::barrierBytes : ws::wordBytes;
    Extent own{event.address, event.address + bytes, event.op};
    int64_t all = *kernel.getSmemBytes();
    if (own.begin < 0 || own.end > all || own.begin % bytes != 0) {
      return event.op->emitOpError(passName)
             << "expected an aligned place within the kernel's " << all
             << " bytes of shared memory, got " << own.begin;
    }
    const Extent *other = llvm::find_if(
        taken, [&](const Extent &each) { return each.overlaps(own); });
    if (other != taken.end()) {
      InFlightDiagnostic diagnostic =
          event.op->emitOpError(passName)
          << "expected memory of its own, got bytes " << own.begin << " to "
          << own.end << ", which another use has";
      diagnostic.attachNote(other->op->getLoc()) << "the other use";
      return diagnostic;
    }
    taken.push_back(own);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The run.
//===----------------------------------------------------------------------===//

LogicalResult BarrierTrial::unrollRole(ws::RoleOp role, const RoleSlice &slice,
                                       int64_t cta) {
  bool isThread = role.isSingleThread();
  int64_t count = isThread ? 1 : role.getWarps();
  for (int64_t i = 0; i < int64_t(role.getReplicas()) * count; ++i) {
    TrialWarp warp;
    warp.id = {cta, i / count, i % count};
    warp.role = role;
    WarpUnroller unroller(program.kernel, slice, warp.id, items);
    if (failed(unroller.unroll(role.getBody().front(), isThread ? 1 : ~0u))) {
      return failure();
    }
    warp.events = unroller.take();
    warps.push_back(std::move(warp));
  }
  return success();
}

LogicalResult BarrierTrial::unroll() {
  ws::KernelOp kernel = program.kernel;
  for (int64_t cta = 0; cta < clusterOf(kernel); ++cta) {
    for (const auto &[role, slice] : program.roles) {
      if (failed(unrollRole(role, slice, cta))) {
        return failure();
      }
    }
  }
  return success();
}

void BarrierTrial::restart() {
  ws::KernelOp kernel = program.kernel;
  for (int64_t cta = 0; cta < clusterOf(kernel); ++cta) {
    for (const auto &[offset, barrier] : program.barriers) {
      barriers[addressIn(cta, offset)] = {barrier.arrivals, barrier.arrivals};
    }
  }
  meetings.clear();
  holds.restart();
  for (TrialWarp &warp : warps) {
    warp.restart();
  }
}

InFlightDiagnostic BarrierTrial::error(const BarrierEvent &event) {
  return event.op->emitOpError(passName);
}

BarrierTrial::Barrier *BarrierTrial::find(const BarrierEvent &event) {
  auto found = barriers.find(event.address);
  if (found != barriers.end()) {
    return &found->second;
  }
  error(event) << "expected a barrier that setup initializes, got byte "
               << event.address % ctaStride << " of CTA "
               << event.address / ctaStride;
  return nullptr;
}

void BarrierTrial::settle(Barrier &barrier) {
  if (barrier.pending == 0 && barrier.bytes == 0) {
    barrier.pending = barrier.count;
    ++barrier.phase;
  }
}

/// A participant arrives once in each phase.
BarrierTrial::Step BarrierTrial::arrive(TrialWarp &warp,
                                        const BarrierEvent &event) {
  Barrier *barrier = find(event);
  if (!barrier) {
    return Step::Failed;
  }
  int64_t &arrivals = warp.arrivals[event.address];
  if (arrivals != barrier->phase) {
    error(event) << "expected one arrival in each phase, got arrival "
                 << arrivals << " of a warp of role '" << warp.role.getSymName()
                 << "' in phase " << barrier->phase
                 << " of the barrier at byte " << event.address % ctaStride;
    return Step::Failed;
  }
  ++arrivals;
  --barrier->pending;
  barrier->bytes += event.number;
  settle(*barrier);
  HoldTrial::tell(warp);
  return Step::Done;
}

BarrierTrial::Step BarrierTrial::copy(const BarrierEvent &event) {
  Barrier *barrier = find(event);
  if (!barrier) {
    return Step::Failed;
  }
  barrier->isOfCopies = true;
  barrier->bytes -= event.number;
  settle(*barrier);
  return Step::Done;
}

/// A participant waits for each phase. The first wait of the role that fills is
/// for the phase before the first.
BarrierTrial::Step BarrierTrial::wait(TrialWarp &warp,
                                      const BarrierEvent &event) {
  Barrier *barrier = find(event);
  if (!barrier) {
    return Step::Failed;
  }
  auto [known, isFirst] =
      warp.waits.try_emplace(event.address, event.number ? -1 : 0);
  int64_t &phase = known->second;
  if (event.number != (phase & 1)) {
    error(event) << "expected parity " << (phase & 1) << " for phase " << phase
                 << " of the barrier at byte " << event.address % ctaStride
                 << ", got " << event.number;
    return Step::Failed;
  }
  if (barrier->phase <= phase) {
    return Step::Blocked;
  }
  if (barrier->phase > phase + 1) {
    error(event) << "expected phase " << phase
                 << " to be the last that is complete of the barrier at byte "
                 << event.address % ctaStride << ", got phase "
                 << barrier->phase - 1;
    return Step::Failed;
  }
  ++phase;
  barrier->awaited = std::max(barrier->awaited, phase);
  return Step::Done;
}

BarrierTrial::Step BarrierTrial::meet(TrialWarp &warp,
                                      const BarrierEvent &event) {
  Meeting &meeting = meetings[{warp.id.cta, event.address}];
  if (warp.meetingPhase) {
    if (meeting.phase == *warp.meetingPhase) {
      return Step::Blocked;
    }
    warp.meetingPhase.reset();
    return Step::Done;
  }
  unsigned number = &warp - warps.data();
  // Id 0 belongs to the CTA.
  int64_t ids = program.namedBarriers;
  if (event.address < 1 || event.address >= ids || event.lanes != ~0u) {
    error(event) << "expected all lanes at one of the barriers 1 to " << ids - 1
                 << ", got barrier " << event.address;
    return Step::Failed;
  }
  if (event.number < 1 || event.number % warpThreads != 0) {
    error(event) << "expected a multiple of " << warpThreads
                 << " threads at barrier " << event.address << ", got "
                 << event.number;
    return Step::Failed;
  }
  if (meeting.arrived != 0 && meeting.threads != event.number) {
    error(event) << "expected " << meeting.threads
                 << " threads, as others do at barrier " << event.address
                 << ", got " << event.number;
    return Step::Failed;
  }
  bool passes = event.kind == BarrierEvent::Pass;
  if (passes && llvm::is_contained(meeting.passed, number)) {
    error(event) << "expected a warp to pass barrier " << event.address
                 << " once in a phase, got a warp of role '"
                 << warp.role.getSymName() << "' twice";
    return Step::Failed;
  }
  HoldTrial::tell(warp);
  meeting.threads = event.number;
  meeting.arrived += warpThreads;
  if (meeting.arrived >= meeting.threads) {
    meeting.arrived = 0;
    meeting.passed.clear();
    ++meeting.phase;
    return Step::Done;
  }
  if (passes) {
    meeting.passed.push_back(number);
    return Step::Done;
  }
  warp.meetingPhase = meeting.phase;
  return Step::Blocked;
}

BarrierTrial::Step BarrierTrial::step(TrialWarp &warp) {
  const BarrierEvent &event = warp.events[warp.next];
  auto done = [](LogicalResult checked) {
    return failed(checked) ? Step::Failed : Step::Done;
  };
  switch (event.kind) {
  case BarrierEvent::Arrive:
    return arrive(warp, event);
  case BarrierEvent::Copy:
    return copy(event);
  case BarrierEvent::Wait:
    return wait(warp, event);
  case BarrierEvent::Meet:
  case BarrierEvent::Pass:
    return meet(warp, event);
  case BarrierEvent::Put:
    return done(holds.put(warp, event));
  case BarrierEvent::Fence:
    if (event.lanes == ~0u) {
      HoldTrial::share(warp, PieceShare::Put, PieceShare::Fenced);
    }
    return Step::Done;
  case BarrierEvent::Read:
    return done(holds.read(warp, event));
  case BarrierEvent::ReadAll:
    return done(holds.readAll(warp, event));
  case BarrierEvent::AwaitMma:
    HoldTrial::awaitMma(warp, event);
    return Step::Done;
  case BarrierEvent::Store:
    return done(holds.store(warp, event));
  case BarrierEvent::Add:
    return done(holds.add(warp, event));
  case BarrierEvent::AwaitStores:
    return done(holds.awaitStores(warp, event));
  case BarrierEvent::Init:
  case BarrierEvent::Word:
    return Step::Done;
  }
  llvm_unreachable("unknown event");
}

LogicalResult BarrierTrial::reportDeadlock() {
  SmallVector<TrialWarp *> stuck; // one for each role
  for (TrialWarp &warp : warps) {
    bool isKnown = llvm::any_of(
        stuck, [&](TrialWarp *other) { return other->role == warp.role; });
    if (!warp.hasEnded() && !isKnown) {
      stuck.push_back(&warp);
    }
  }
  InFlightDiagnostic diagnostic =
      error(stuck[0]->events[stuck[0]->next])
      << "expected a wait that ends, got a deadlock of role '"
      << stuck[0]->role.getSymName() << "'";
  for (TrialWarp *warp : ArrayRef(stuck).drop_front()) {
    diagnostic.attachNote(warp->events[warp->next].op->getLoc())
        << "role '" << warp->role.getSymName() << "' waits here";
  }
  return diagnostic;
}

/// Checks that a barrier ends at the end of a phase, and that all phases have
/// been awaited; if no copy completes it, all but the last.
LogicalResult BarrierTrial::checkBarrier(const Barrier &barrier,
                                         Operation *init, int64_t offset) {
  if (barrier.pending != barrier.count || barrier.bytes != 0) {
    return init->emitOpError(passName)
           << "expected the last phase of the barrier at byte " << offset
           << " to be complete, got one that lacks "
           << barrier.pending % barrier.count << " arrivals and "
           << barrier.bytes << " bytes";
  }
  int64_t least = barrier.phase - (barrier.isOfCopies ? 0 : 1);
  if (barrier.awaited < least) {
    return init->emitOpError(passName)
           << "expected waits for at least " << least
           << " phases of the barrier at byte " << offset << ", got "
           << barrier.awaited;
  }
  return success();
}

LogicalResult BarrierTrial::checkEnd() {
  ws::KernelOp kernel = program.kernel;
  for (const auto &[offset, barrier] : program.barriers) {
    for (int64_t cta = 0; cta < clusterOf(kernel); ++cta) {
      if (failed(checkBarrier(barriers[addressIn(cta, offset)], barrier.init,
                              offset))) {
        return failure();
      }
    }
  }
  for (TrialWarp &warp : warps) {
    if (warp.storing) {
      return warp.lastStore->emitOpError(passName)
             << "expected the thread that stored to wait before role '"
             << warp.role.getSymName() << "' ends";
    }
  }
  return success();
}

FailureOr<bool> BarrierTrial::runWarp(TrialWarp &warp) {
  size_t begin = warp.next;
  while (!warp.hasEnded()) {
    Step step = this->step(warp);
    if (step == Step::Failed) {
      return failure();
    }
    if (step == Step::Blocked) {
      break;
    }
    ++warp.next;
    auto last = warp.events[warp.next - 1].kind;
    if (last == BarrierEvent::Store || last == BarrierEvent::Add) {
      break; // The other lanes continue while it is in flight.
    }
  }
  return warp.next != begin;
}

LogicalResult BarrierTrial::runInTurn(bool lastFirst) {
  restart();
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t i = 0; i < warps.size(); ++i) {
      FailureOr<bool> moved =
          runWarp(warps[lastFirst ? warps.size() - 1 - i : i]);
      if (failed(moved)) {
        return failure();
      }
      isMoving |= *moved;
    }
  }
  return llvm::all_of(warps, [](TrialWarp &warp) { return warp.hasEnded(); })
             ? checkEnd()
             : reportDeadlock();
}

/// Runs in two orders, so that each warp is ahead in one of them.
LogicalResult BarrierTrial::run() {
  return success(succeeded(unroll()) && succeeded(runInTurn(false)) &&
                 succeeded(runInTurn(true)));
}
