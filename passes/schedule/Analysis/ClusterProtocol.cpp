// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Combines the protocols of CTAs into the protocol of their cluster. All CTAs
// run the same programs, except for the blocks that they skip. A copy into a
// channel of the cluster writes its share of the slots of all CTAs and arrives
// on the full barriers of all; threads do the same on the free barriers of such
// channels, and on edges of the cluster.
#include "Protocol.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class ClusterJoiner {
public:
  explicit ClusterJoiner(ArrayRef<Protocol> each)
      : each(each), bound(each.front().bound), ctas(bound.cluster),
        instances(bound.instances.size()),
        all(bound, each.front().trips, each.front().skipped) {}

  Protocol join() {
    all.ctas = ctas;
    for (const Protocol &one : each) {
      cellCount = std::max(cellCount, one.cellCount);
    }
    all.cellCount = ctas * ctas * cellCount;
    for (int cta = 0; cta < ctas; ++cta) {
      add(cta);
    }
    return std::move(all);
  }

private:
  const Protocol &protocolOf(int cta) const { return each[cta % each.size()]; }

  void add(int cta) {
    const Protocol &one = protocolOf(cta);
    int firstOperation = all.operations.size();
    llvm::append_range(all.items, one.items);
    for (const AsyncOp &operation : one.operations) {
      all.operations.push_back(spread(operation, cta));
    }
    for (auto &program : one.programs) {
      auto &tokens = all.programs.emplace_back();
      for (const Token &token : program) {
        append(token, cta, firstOperation, tokens);
      }
    }
    for (int barrier = 0, e = one.expected.size(); barrier < e; ++barrier) {
      all.expected.push_back(spreadSources(barrier, cta));
    }
  }

  bool isInCluster(int barrier) const {
    const Barrier &of = bound.barriers[barrier];
    return of.kind == Barrier::EdgeBarrier ? bound.edges[of.owner].inCluster
                                           : bound.places[of.owner].inCluster;
  }
  int barrierOf(int barrier, int cta) const {
    return cta * int(bound.barriers.size()) + barrier;
  }
  /// Instances come first, then the steps of copies.
  int sourceOf(int source, int cta) const {
    int steps = bound.kernel->steps.size();
    return source < instances
               ? cta * instances + source
               : ctas * instances + cta * steps + source - instances;
  }
  /// Returns the share of a cell that the copies of CTA `sharer` write.
  int cellOf(int cell, int cta, int sharer) const {
    return (cta * cellCount + cell) * ctas + sharer;
  }

  /// Returns the accesses of threads and most operations: whole cells of their
  /// own CTA.
  Span spread(Span accesses, int cta) {
    int begin = all.accesses.size();
    for (const Access &access : protocolOf(cta).get(accesses)) {
      for (int sharer = 0; sharer < ctas; ++sharer) {
        all.accesses.push_back({cellOf(access.cell, cta, sharer), access.tag});
      }
    }
    return {begin, int(all.accesses.size())};
  }
  Span spreadShare(Span accesses, int cta) {
    int begin = all.accesses.size();
    for (const Access &access : protocolOf(cta).get(accesses)) {
      for (int receiver = 0; receiver < ctas; ++receiver) {
        all.accesses.push_back(
            {cellOf(access.cell, receiver, cta), access.tag});
      }
    }
    return {begin, int(all.accesses.size())};
  }

  AsyncOp spread(const AsyncOp &operation, int cta) {
    AsyncOp result = operation;
    ArrayRef<Signal> signals =
        ArrayRef(protocolOf(cta).signals)
            .slice(operation.signals.begin,
                   operation.signals.end - operation.signals.begin);
    bool isShared = llvm::any_of(signals, [&](const Signal &signal) {
      return signal.source >= instances && isInCluster(signal.barrier);
    });
    result.instance = cta * instances + operation.instance;
    if (operation.pipe >= 0) {
      constexpr int enginesPerInstance = 3;
      result.pipe = cta * instances * enginesPerInstance + operation.pipe;
    }
    result.reads = spread(operation.reads, cta);
    result.writes = isShared ? spreadShare(operation.writes, cta)
                             : spread(operation.writes, cta);
    result.signals.begin = all.signals.size();
    for (const Signal &signal : signals) {
      for (int to : receivers(signal.barrier, cta)) {
        all.signals.push_back({barrierOf(signal.barrier, to), signal.phase,
                               sourceOf(signal.source, cta)});
      }
    }
    result.signals.end = all.signals.size();
    return result;
  }

  /// Returns the CTAs that an arrival of CTA `cta` is for, its own first.
  SmallVector<int> receivers(int barrier, int cta) const {
    SmallVector<int> all{cta};
    for (int i = 1; i < ctas && isInCluster(barrier); ++i) {
      all.push_back((cta + i) % ctas);
    }
    return all;
  }

  void append(Token token, int cta, int firstOperation,
              std::vector<Token> &tokens) {
    token.reads = spread(token.reads, cta);
    token.writes = spread(token.writes, cta);
    switch (token.kind) {
    case Token::Arrive:
      for (int to : receivers(token.first, cta)) {
        tokens.push_back(token);
        tokens.back().first = barrierOf(token.first, to);
      }
      return;
    case Token::Wait:
    case Token::Pass:
      token.first = barrierOf(token.first, cta);
      break;
    case Token::Issue:
    case Token::Await:
      token.first += firstOperation;
      break;
    case Token::Meet:
      token.first += cta * bound.rendezvous.size();
      break;
    case Token::Do:
      break;
    }
    tokens.push_back(token);
  }

  SmallVector<SmallVector<int, 2>> spreadSources(int barrier, int cta) const {
    SmallVector<SmallVector<int, 2>> phases;
    for (ArrayRef<int> sources : protocolOf(cta).expected[barrier]) {
      auto &wanted = phases.emplace_back();
      for (int from : receivers(barrier, cta)) {
        for (int source : sources) {
          wanted.push_back(sourceOf(source, from));
        }
      }
    }
    return phases;
  }

  ArrayRef<Protocol> each; // of one CTA
  const BoundSchedule &bound;
  int ctas, instances;
  int cellCount = 0; // of one CTA
  Protocol all;
};

} // namespace

Protocol Protocol::joinCluster(ArrayRef<Protocol> ctas) {
  return ClusterJoiner(ctas).join();
}

//===----------------------------------------------------------------------===//
// Of one of the CTAs
//===----------------------------------------------------------------------===//

std::string Protocol::describeCta(int cta) const {
  return ctas == 1 ? std::string() : formatv(" of CTA {0}", cta).str();
}

std::string Protocol::describeInstance(int instance) const {
  int count = bound.instances.size();
  return "'" + bound.instances[instance % count].name + "'" +
         describeCta(instance / count);
}

std::string Protocol::describeBarrier(int barrier) const {
  int count = bound.barriers.size();
  return bound.describeBarrier(barrier % count) + describeCta(barrier / count);
}

SmallVector<int> Protocol::waitersOf(int barrier) const {
  int count = bound.barriers.size(), cta = barrier / count;
  SmallVector<int> waiters;
  for (int waiter : bound.waiters[barrier % count].set_bits()) {
    waiters.push_back(cta * int(bound.instances.size()) + waiter);
  }
  return waiters;
}

std::string Protocol::describeRendezvous(int rendezvous) const {
  int count = bound.rendezvous.size();
  return formatv("rendezvous '{0}'", bound.rendezvous[rendezvous % count].name);
}

int Protocol::membersOf(int rendezvous) const {
  return bound.rendezvous[rendezvous % bound.rendezvous.size()].members;
}
