// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/load_tracker.h"

#include "core/cta.h"

using namespace attn::sim;

bool LoadTracker::check(Warp &warp, const RegisterWatch &watch) {
  if (loads.empty() || warp.exec == 0) {
    return true;
  }
  const uint32_t *reads = plan.numbersIn(watch.reads);
  for (uint32_t i = 0; i < watch.reads.count; ++i) {
    uint64_t number = loadOf[reads[i]];
    if (number == 0 || !isPending(number)) {
      continue;
    }
    loads[number - 1].isUsed = true;
    warp.cta.inFlight.tensorUnit().useLoad(warp, number);
  }
  const uint32_t *writes = plan.numbersIn(watch.writes);
  for (uint32_t i = 0; i < watch.writes.count; ++i) {
    uint64_t number = loadOf[writes[i]];
    if (number != 0 && isPending(number) &&
        !warp.report(Rule::TmemLoad,
                     "'" + std::string(plan.names[writes[i]]) +
                         "' is a result of the tcgen05.ld of " +
                         warp.cta.reports.describeLine(loads[number - 1].pc) +
                         " and is written before a tcgen05.wait::ld or a use "
                         "of it")) {
      return false;
    }
    loadOf[writes[i]] = 0;
  }
  return true;
}

uint64_t LoadTracker::issue(const Inst &inst, uint32_t pc) {
  loads.push_back({pc, false});
  loadOf.resize(plan.names.size());
  if (inst.watch == kNone) {
    return loads.size();
  }
  RegisterRange results = plan.watches[inst.watch].writes;
  for (uint32_t i = 0; i < results.count; ++i) {
    loadOf[plan.numbersIn(results)[i]] = loads.size();
  }
  return loads.size();
}
