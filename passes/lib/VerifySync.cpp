// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-verify-sync: runs the synchronization of all roles for small trip counts
// and numbers of work items, and proves that it ends and that every ring is
// balanced. Data is not looked at.
#include "attn/passes/Passes.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYSYNC
#include "attn/passes/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// One synchronization event of a role, in program order.
struct Event {
  enum Kind {
    Acquire,
    Commit,
    Wait,
    Release,
    Take,
    Give,
    Signal,
    WaitEdge,
    Sync
  };
  Kind kind;
  StringRef name;
  Operation *op;
};

/// A work item of the trial: its numbers of masked and of all blocks.
struct Item {
  int64_t masked, total;
};

/// Trips of a loop that are unrolled at most; trials have up to 3 blocks.
constexpr int64_t maxTrips = 64;

/// Unrolls a role's program into its events for given work items.
class Unroller {
public:
  /// `later`: CTAs of the cluster whose rows follow those of this one.
  Unroller(ArrayRef<Item> items, int64_t replica, int64_t later,
           SmallVectorImpl<Event> &events)
      : items(items), replica(replica), later(later), events(events) {}

  LogicalResult unroll(ws::RoleOp role) { return run(role.getBody().front()); }

private:
  LogicalResult run(Block &block);
  LogicalResult runWork(ws::WorkLoopOp work);
  LogicalResult checkFetches(ws::WorkLoopOp work, int64_t expected);
  LogicalResult runOp(Operation *op);
  LogicalResult runLoop(scf::ForOp loop);
  FailureOr<int64_t> evaluate(Value value, Operation *user);
  void record(Event::Kind kind, StringRef name, Operation *op) {
    events.push_back({kind, name, op});
  }
  static StringRef channelOf(Value slot) {
    return cast<ws::SlotType>(slot.getType()).getChannel().getValue();
  }

  ArrayRef<Item> items;
  int64_t replica, later;
  SmallVectorImpl<Event> &events;
  Item item{0, 0};
  int64_t fetches = 0;
};

/// Scalars that decide trip counts, with the bounds of the current item.
FailureOr<int64_t> Unroller::evaluate(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (auto bounds = dyn_cast_or_null<tile::BoundsOp>(op)) {
    // Blocks are counted downward from the top: [total, total - masked, 0];
    // further ranges share what is left.
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (index == 0) {
      // A sub-tile has a masked block less than the next.
      int64_t subtiles = bounds.getOf().value_or(1);
      int64_t skipped = (later + 1) * subtiles - 1 - replica;
      return item.total -
             (bounds.getSubtile() ? std::min(item.masked, skipped) : 0);
    }
    return index + 1 == bounds->getNumResults()
               ? 0
               : (item.total - item.masked) >> (index - 1);
  }
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
      return integer.getInt();
    }
  }
  if (op && op->getNumOperands() == 2) {
    FailureOr<int64_t> a = evaluate(op->getOperand(0), user);
    FailureOr<int64_t> b = evaluate(op->getOperand(1), user);
    if (failed(a) || failed(b)) {
      return failure();
    }
    if (isa<arith::AddIOp>(op)) {
      return *a + *b;
    }
    if (isa<arith::SubIOp>(op)) {
      return *a - *b;
    }
    if (isa<arith::MinSIOp>(op)) {
      return std::min(*a, *b);
    }
    if (isa<arith::MaxSIOp>(op)) {
      return std::max(*a, *b);
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        compare && compare.getPredicate() == arith::CmpIPredicate::sgt) {
      return *a > *b;
    }
  }
  user->emitOpError("attn-verify-sync: expected a trip count computed from "
                    "'tile.bounds' and constants, got ")
      << (op ? op->getName().getStringRef() : "a block argument");
  return failure();
}

LogicalResult Unroller::run(Block &block) {
  for (Operation &op : block) {
    if (failed(runOp(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Unroller::runLoop(scf::ForOp loop) {
  FailureOr<int64_t> from = evaluate(loop.getLowerBound(), loop);
  FailureOr<int64_t> to = evaluate(loop.getUpperBound(), loop);
  FailureOr<int64_t> step = evaluate(loop.getStep(), loop);
  if (failed(from) || failed(to) || failed(step)) {
    return failure();
  }
  if (*step < 1 || (*to - *from) / *step > maxTrips) {
    return loop.emitOpError("attn-verify-sync: expected at most ")
           << maxTrips << " trips with a step of at least 1, got " << *from
           << " to " << *to << " step " << *step;
  }
  for (int64_t i = *from; i < *to; i += *step) {
    if (failed(run(*loop.getBody()))) {
      return failure();
    }
  }
  return success();
}

/// The counter of work items is right again after a launch, and every item
/// has its turn, if each item is followed by one question for the next.
LogicalResult Unroller::checkFetches(ws::WorkLoopOp work, int64_t expected) {
  if (work.getBody().getOps<tile::NextWorkOp>().empty() ||
      fetches == expected) {
    return success();
  }
  return work.emitOpError("attn-verify-sync: V26: expected ")
         << expected << " 'ws.fetch_work' after " << expected
         << " work items, got " << fetches << ", the last item with "
         << item.total << " blocks";
}

/// Items that are handed out end with one that says so.
LogicalResult Unroller::runWork(ws::WorkLoopOp work) {
  Block &body = work.getBody().front();
  auto ends = body.getOps<ws::EndUnlessWorkOp>();
  fetches = 0;
  for (auto [count, next] : llvm::enumerate(items)) {
    item = next;
    if (failed(run(body)) ||
        (!ends.empty() && failed(checkFetches(work, count + 1)))) {
      return failure();
    }
  }
  if (ends.empty()) {
    return success();
  }
  Block::iterator end = (*ends.begin())->getIterator();
  for (Operation &op : llvm::make_range(body.begin(), end)) {
    if (failed(runOp(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Unroller::runOp(Operation *op) {
  if (auto work = dyn_cast<ws::WorkLoopOp>(op)) {
    return runWork(work);
  }
  bool synchronizes =
      op->walk([](Operation *inner) {
          return isa<ws::AcquireOp, ws::CopyOp, ws::WaitOp, ws::ReleaseOp,
                     ws::TakeOp, ws::GiveOp, ws::SignalOp, ws::WaitEdgeOp,
                     ws::SyncOp, ws::PutWorkOp, ws::FetchWorkOp>(inner)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        }).wasInterrupted();
  if (!synchronizes) {
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return runLoop(loop);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    FailureOr<int64_t> condition = evaluate(branch.getCondition(), op);
    if (failed(condition)) {
      return failure();
    }
    Region &taken =
        *condition ? branch.getThenRegion() : branch.getElseRegion();
    return taken.empty() ? success() : run(taken.front());
  }
  if (op->getNumRegions() != 0) {
    return op->emitOpError("attn-verify-sync: expected 'scf.for' and 'scf.if' "
                           "alone round synchronization");
  }
  TypeSwitch<Operation *>(op)
      .Case([&](ws::AcquireOp o) {
        record(Event::Acquire, channelOf(o.getSlot()), o);
      })
      .Case([&](ws::CopyOp o) {
        record(Event::Commit, channelOf(o.getSlot()), o);
      })
      .Case([&](ws::FetchWorkOp) { ++fetches; })
      .Case([&](ws::PutWorkOp o) {
        record(Event::Commit, channelOf(o.getSlot()), o);
      })
      .Case(
          [&](ws::WaitOp o) { record(Event::Wait, channelOf(o.getSlot()), o); })
      .Case([&](ws::ReleaseOp o) {
        record(Event::Release, channelOf(o.getSlot()), o);
      })
      .Case([&](ws::TakeOp o) { record(Event::Take, o.getTurn(), o); })
      .Case([&](ws::GiveOp o) { record(Event::Give, o.getTurn(), o); })
      .Case([&](ws::SignalOp o) { record(Event::Signal, o.getEdge(), o); })
      .Case([&](ws::WaitEdgeOp o) { record(Event::WaitEdge, o.getEdge(), o); })
      .Case([&](ws::SyncOp o) { record(Event::Sync, o.getRendezvous(), o); });
  return success();
}

/// A running role: replicas of one role, in each CTA of a cluster, are agents
/// of their own.
struct Agent {
  ws::RoleOp role;
  int64_t cta, replica;
  SmallVector<Event> events;
  size_t next = 0;
  llvm::StringMap<int64_t> counts; // cycles of each kind and name so far
};

class Trial {
public:
  Trial(ws::KernelOp kernel, ArrayRef<Item> items)
      : kernel(kernel), items(items), ctas(kernel.getConfig().getCluster()) {}

  LogicalResult run();

private:
  LogicalResult start();
  bool step(Agent &agent);
  bool mayPass(const Agent &agent, const Event &event);
  LogicalResult reportDeadlock();
  LogicalResult checkBalance();
  LogicalResult checkChannel(StringRef name);
  static std::string key(Event::Kind kind, StringRef name) {
    return (Twine(static_cast<int>(kind)) + name).str();
  }
  int64_t count(const Agent &agent, Event::Kind kind, StringRef name) const {
    return agent.counts.lookup(key(kind, name));
  }
  /// Cycles of `kind` that every role with such events has finished, as CTA
  /// `cta` sees it: 0 where no role has any.
  int64_t least(Event::Kind kind, StringRef name, int64_t cta);
  bool isInCluster(StringRef name);
  int64_t replicas(StringRef role) {
    return kernel.lookupSymbol<ws::RoleOp>(role).getReplicas();
  }

  ws::KernelOp kernel;
  ArrayRef<Item> items;
  int64_t ctas;
  SmallVector<Agent, 0> agents;
};

LogicalResult Trial::start() {
  for (auto role : kernel.getBody().getOps<ws::RoleOp>()) {
    for (int64_t cta = 0; cta < ctas; ++cta) {
      for (int64_t replica = 0; replica < (int64_t)role.getReplicas();
           ++replica) {
        SmallVector<Event> events;
        Unroller unroller(items, replica, ctas - 1 - cta, events);
        if (failed(unroller.unroll(role))) {
          return failure();
        }
        agents.push_back({role, cta, replica, events, 0, {}});
      }
    }
  }
  return success();
}

bool Trial::isInCluster(StringRef name) {
  Operation *op = kernel.lookupSymbol(name);
  if (auto edge = dyn_cast_or_null<ws::EdgeOp>(op)) {
    return edge.getCluster();
  }
  auto channel = dyn_cast_or_null<ws::ChannelOp>(op);
  return channel && channel.getCluster();
}

int64_t Trial::least(Event::Kind kind, StringRef name, int64_t cta) {
  std::optional<int64_t> least;
  bool seesAll = ctas > 1 && isInCluster(name);
  for (const Agent &agent : agents) {
    bool takesPart = (seesAll || agent.cta == cta) &&
                     llvm::any_of(agent.events, [&](const Event &event) {
                       return event.kind == kind && event.name == name;
                     });
    if (takesPart) {
      int64_t cycles = count(agent, kind, name);
      least = std::min(least.value_or(cycles), cycles);
    }
  }
  return least.value_or(0);
}

bool Trial::mayPass(const Agent &agent, const Event &event) {
  int64_t cycle = count(agent, event.kind, event.name);
  switch (event.kind) {
  case Event::Acquire: {
    auto channel = kernel.lookupSymbol<ws::ChannelOp>(event.name);
    return channel.getFreeImplied() || cycle < (int64_t)channel.getDepth() ||
           least(Event::Release, event.name, agent.cta) >
               cycle - (int64_t)channel.getDepth();
  }
  case Event::Wait:
    return least(Event::Commit, event.name, agent.cta) > cycle;
  case Event::WaitEdge: {
    int64_t credits = kernel.lookupSymbol<ws::EdgeOp>(event.name).getCredits();
    return cycle < credits ||
           least(Event::Signal, event.name, agent.cta) > cycle - credits;
  }
  case Event::Take: {
    // Replica r follows replica r - 1 of this cycle; replica 0 that of the
    // last.
    ws::RoleOp role = agent.role;
    int64_t ring = role.getReplicas();
    int64_t before = (agent.replica + ring - 1) % ring;
    for (const Agent &other : agents) {
      if (other.role == agent.role && other.cta == agent.cta &&
          other.replica == before) {
        int64_t given = count(other, Event::Give, event.name);
        return agent.replica == 0 ? given >= cycle : given > cycle;
      }
    }
    return false;
  }
  case Event::Sync:
    // All replicas stand at it, or have passed it.
    return llvm::all_of(agents, [&](const Agent &other) {
      if (other.role != agent.role || other.cta != agent.cta) {
        return true;
      }
      int64_t passed = count(other, Event::Sync, event.name);
      bool stands = other.next < other.events.size() &&
                    other.events[other.next].kind == Event::Sync &&
                    other.events[other.next].name == event.name;
      return passed > cycle || (passed == cycle && stands);
    });
  case Event::Commit:
  case Event::Release:
  case Event::Give:
  case Event::Signal:
    return true;
  }
  return true;
}

bool Trial::step(Agent &agent) {
  bool moved = false;
  while (agent.next < agent.events.size() &&
         mayPass(agent, agent.events[agent.next])) {
    const Event &event = agent.events[agent.next];
    ++agent.counts[key(event.kind, event.name)];
    ++agent.next;
    moved = true;
  }
  return moved;
}

LogicalResult Trial::reportDeadlock() {
  InFlightDiagnostic error =
      kernel.emitOpError("attn-verify-sync: V18: deadlock with ");
  llvm::interleaveComma(items, error, [&](Item item) {
    error << "[" << item.total << " blocks, " << item.masked << " masked]";
  });
  for (const Agent &agent : agents) {
    if (agent.next < agent.events.size()) {
      const Event &event = agent.events[agent.next];
      ws::RoleOp role = agent.role;
      error.attachNote(event.op->getLoc())
          << "role '" << role.getSymName() << "' replica " << agent.replica
          << (ctas > 1 ? llvm::formatv(" of CTA {0}", agent.cta).str() : "")
          << " waits at '" << event.op->getName().getStringRef() << "' of '"
          << event.name << "', cycle " << count(agent, event.kind, event.name);
    }
  }
  return error;
}

/// Each role that reads a channel releases what it waited for, and each that
/// fills it copies into what it acquired.
LogicalResult Trial::checkChannel(StringRef name) {
  for (const Agent &agent : agents) {
    auto compare = [&](Event::Kind a, Event::Kind b, StringRef what) {
      int64_t first = count(agent, a, name), second = count(agent, b, name);
      if (first == second) {
        return success();
      }
      ws::RoleOp role = agent.role;
      return LogicalResult(kernel.emitOpError("attn-verify-sync: V15: role '")
                           << role.getSymName() << "' replica " << agent.replica
                           << " expected equal numbers of " << what << " of '"
                           << name << "', got " << first << " and " << second);
    };
    if (failed(compare(Event::Wait, Event::Release, "waits and releases")) ||
        failed(compare(Event::Acquire, Event::Commit, "acquires and copies"))) {
      return failure();
    }
  }
  return success();
}

/// Both ends of a channel or edge have cycled equally.
LogicalResult Trial::checkBalance() {
  auto compare = [&](StringRef name, Event::Kind a,
                     Event::Kind b) -> LogicalResult {
    for (int64_t cta = 0; cta < ctas; ++cta) {
      int64_t first = least(a, name, cta), second = least(b, name, cta);
      if (first != second) {
        return kernel.emitOpError("attn-verify-sync: V15: '")
               << name << "' expected equal cycles at both ends, got " << first
               << " and " << second;
      }
    }
    return success();
  };
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    if (failed(checkChannel(channel.getSymName())) ||
        failed(compare(channel.getSymName(), Event::Acquire, Event::Wait))) {
      return failure();
    }
  }
  for (auto edge : kernel.getBody().getOps<ws::EdgeOp>()) {
    if (failed(compare(edge.getSymName(), Event::Signal, Event::WaitEdge))) {
      return failure();
    }
  }
  for (auto turn : kernel.getBody().getOps<ws::TurnOp>()) {
    if (failed(compare(turn.getSymName(), Event::Take, Event::Give))) {
      return failure();
    }
  }
  return success();
}

LogicalResult Trial::run() {
  if (failed(start())) {
    return failure();
  }
  bool moved = true;
  while (moved) {
    moved = false;
    for (Agent &agent : agents) {
      moved |= step(agent);
    }
  }
  for (const Agent &agent : agents) {
    if (agent.next < agent.events.size()) {
      return reportDeadlock();
    }
  }
  return checkBalance();
}

/// Items of so many blocks fill every ring and come back to its first slot.
int64_t blocksToWrap(ws::KernelOp kernel) {
  int64_t deepest = 0;
  for (auto channel : kernel.getBody().getOps<ws::ChannelOp>()) {
    deepest = std::max<int64_t>(deepest, channel.getDepth());
  }
  return 2 * deepest + 1;
}

/// Items of 0 to 3 blocks, and of enough to wrap every ring; for persistent
/// kernels those of 0 to 3 also in pairs a, b and triples a, b, a.
LogicalResult verify(ws::KernelOp kernel) {
  SmallVector<Item> shapes;
  for (int64_t total = 0; total <= 3; ++total) {
    for (int64_t masked = 0; masked <= total; ++masked) {
      shapes.push_back({masked, total});
    }
  }
  bool persistent = kernel.getConfig().getWork() != WorkKind::Grid;
  for (Item a : shapes) {
    if (failed(Trial(kernel, {a}).run())) {
      return failure();
    }
    if (!persistent) {
      continue;
    }
    for (Item b : shapes) {
      if (failed(Trial(kernel, {a, b}).run()) ||
          failed(Trial(kernel, {a, b, a}).run())) {
        return failure();
      }
    }
  }
  // After the small ones, so that an error shows the smallest item.
  for (int64_t total : {int64_t(4), blocksToWrap(kernel)}) {
    for (int64_t masked : {int64_t(0), total}) {
      if (failed(Trial(kernel, {{masked, total}}).run())) {
        return failure();
      }
    }
  }
  return success();
}

class VerifySyncPass : public attn::impl::VerifySyncBase<VerifySyncPass> {
public:
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<ws::KernelOp>()) {
      if (failed(verify(kernel))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
