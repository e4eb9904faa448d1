// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/register_pool.h"

#include "core/cta.h"

#include <algorithm>

using namespace attn::sim;

static constexpr uint64_t kRegistersOfSM = 65536;

RegisterPool::RegisterPool(const Program &program, uint32_t threads) {
  uint64_t perThread = program.maxRegisters;
  if (perThread == 0) {
    uint64_t most = program.maxThreads ? program.maxThreads : threads;
    perThread =
        kRegistersOfSM / (most * std::max<uint64_t>(program.minCtas, 1));
    perThread = std::min<uint64_t>(perThread / 8 * 8, 255);
  }
  counts.assign((threads + kLanes - 1) / kLanes, uint32_t(perThread));
  requests.resize(counts.size());
}

/// Compares a request with those of the other warps of the warpgroup.
bool RegisterPool::checkGroup(Warp &warp, uint32_t wanted) {
  uint32_t first = warp.index / 4 * 4;
  size_t nth = requests[warp.index].size();
  bool isWhole = first + 4 <= counts.size();
  for (uint32_t i = first; isWhole && i < first + 4; ++i) {
    isWhole = requests[i].size() > nth ? requests[i][nth].wanted == wanted &&
                                             requests[i][nth].pc == warp.now.pc
                                       : !warp.cta.getWarp(i).isDone();
  }
  return isWhole || warp.report(Rule::RegistersGroup,
                                "the warps of the warpgroup do not all "
                                "execute this setmaxnreg");
}

RegisterPool::Answer RegisterPool::request(Warp &warp, uint32_t wanted,
                                           bool increase) {
  const Program &program = warp.cta.program;
  uint32_t &have = counts[warp.index];
  if (program.maxRegisters == 0 &&
      (program.maxThreads == 0 || program.minCtas == 0)) {
    warp.report(
        Rule::RegistersUnknown,
        "expected .maxnreg, or .minnctapersm beside .maxntid or .reqntid");
  }
  if (increase ? wanted < have : wanted > have) {
    warp.fault(Rule::RegistersWay,
               std::string("expected a count ") +
                   (increase ? "of at least " : "of at most ") +
                   std::to_string(have) + ", got " + std::to_string(wanted));
    return Answer::Refused;
  }
  if (!checkGroup(warp, wanted)) {
    return Answer::Refused;
  }
  if (increase && uint64_t(wanted - have) * kLanes > free) {
    return Answer::NotYet;
  }
  free += uint64_t(have) * kLanes;
  free -= uint64_t(wanted) * kLanes;
  have = wanted;
  requests[warp.index].push_back({wanted, warp.now.pc});
  return Answer::Granted;
}

void RegisterPool::checkEnd(Cta &cta) const {
  for (uint32_t first = 0; first + 4 <= counts.size(); first += 4) {
    auto byCount = [](const auto &a, const auto &b) {
      return a.size() < b.size();
    };
    auto [fewest, most] = std::minmax_element(
        requests.begin() + first, requests.begin() + first + 4, byCount);
    if (fewest->size() != most->size()) {
      cta.reports.report(
          Rule::RegistersGroup, uint32_t(most - requests.begin()),
          (*most)[fewest->size()].pc,
          "warp " + std::to_string(fewest - requests.begin()) +
              " of the warpgroup does not execute this setmaxnreg");
    }
  }
}
