// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/KernelPlan.h"
#include "mlir/IR/Matchers.h"
#include "reading.h"
#include "schedule/Analysis/Protocol.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

/// Spells what tokens of a judged schedule do with data in shared memory.
class JudgedLines {
public:
  explicit JudgedLines(const Protocol &protocol)
      : protocol(protocol), bound(protocol.bound) {
    for (const Place &place : bound.places) {
      for (const auto &cycle : place.cycles) {
        for (int value : cycle) {
          if (place.space == Space::Smem) {
            shared.insert(value);
          }
        }
      }
    }
  }

  std::string describe(int instance, const Token &token) const {
    if (token.kind == Token::Issue) {
      const AsyncOp &operation = protocol.operations[token.first];
      return describe(operation.reads) + " > " + describe(operation.writes);
    }
    std::string reads = describe(token.reads), writes = describe(token.writes);
    bool isCoordinate = writes.empty() && isOfStep(instance, token);
    return isCoordinate || (reads.empty() && writes.empty())
               ? ""
               : reads + " > " + writes;
  }

private:
  /// A step whose threads read the work item again, from registers.
  bool isOfStep(int instance, const Token &token) const {
    return protocol.items[instance][token.item].act->kind == PlannedAct::Run;
  }

  /// For data that copies fill, the rows; for data that threads put, the
  /// sub-tile.
  std::string describe(const Tag &tag) const {
    const KernelValue &value = bound.kernel->values[tag.what];
    std::string text = formatv("{0} of item {1}", value.name, tag.item);
    bool isCopied = value.producer >= 0 &&
                    bound.kernel->steps[value.producer].engine == Engine::Copy;
    if (isCopied && tag.iteration >= 0) {
      int64_t block = protocol.trips[tag.item] - 1 - tag.iteration;
      text += formatv(" row {0}", block * bound.kernel->config.getTileN());
    } else if (!isCopied && !value.isWork) {
      text += formatv(" piece {0}", std::max(tag.subtile, 0));
    }
    return text;
  }

  std::string describe(Span accesses) const {
    std::set<std::string> texts;
    for (const Access &access : protocol.get(accesses)) {
      if (access.tag.what >= 0 && shared.count(access.tag.what)) {
        texts.insert(describe(access.tag));
      }
    }
    return llvm::join(texts, ", ");
  }

  const Protocol &protocol;
  const BoundSchedule &bound;
  std::set<int> shared; // values in shared memory
};

} // namespace

/// Whether sub-tiles skip blocks on both sides: on the left there are none
/// where all rows begin with block 0.
static bool skipsOnBothSides(tile::KernelOp kernel) {
  bool beginsAlike = false;
  kernel.walk([&](tile::BoundsOp bounds) {
    Operation *yield = bounds.getBody().front().getTerminator();
    beginsAlike |= matchPattern(yield->getOperands().back(), m_Zero());
  });
  return kernel.getSchedule()->getSkip() == Skip::Both && !beginsAlike;
}

FailureOr<readings::Reading> readings::readJudged(tile::KernelOp kernel,
                                                  const Items &items) {
  auto emitError = [&] { return kernel.emitOpError(); };
  auto plan = KernelPlan::build(kernel, *kernel.getConfig(),
                                *kernel.getSchedule(), Tiles::Whole, emitError);
  if (failed(plan)) {
    return failure();
  }
  const BoundSchedule *bound = &(*plan)->bound;
  SmallVector<int> trips;
  SkippedTrips skipped;
  skipped.right.resize(bound->cluster * bound->subtileCount - 1);
  if (skipsOnBothSides(kernel)) {
    skipped.left.resize(skipped.right.size());
  }
  for (const auto &item : items) {
    trips.push_back(static_cast<int>(
        std::accumulate(item.begin(), item.end(), int64_t{0})));
    for (auto [later, ofItems] : llvm::enumerate(skipped.right)) {
      ofItems.push_back(std::min<int>(item.front(), later + 1));
    }
    for (auto [before, ofItems] : llvm::enumerate(skipped.left)) {
      ofItems.push_back(std::min<int>(item.back(), before + 1));
    }
  }
  std::vector<Protocol> ctas;
  for (int cta = 0; cta < bound->cluster; ++cta) {
    ctas.emplace_back(*bound, trips, skipped, cta);
    if (failed(ctas.back().derive(emitError))) {
      return failure();
    }
  }
  Protocol all = bound->cluster == 1 ? std::move(ctas.front())
                                     : Protocol::joinCluster(ctas);
  JudgedLines lines(all);
  std::map<std::string, int> agents;
  int count = bound->instances.size();
  for (int i = 0, e = all.programs.size(); i < e; ++i) {
    const Instance &instance = bound->instances[i % count];
    agents[formatv("{0}[{1}] of CTA {2}", bound->roles[instance.role].name,
                   std::max(instance.replica, 0), i / count)] = i;
  }
  return writeLines(all, agents, [&](int i, const Token &token) {
    return lines.describe(i, token);
  });
}
