// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/mbarrier_signals.h"

#include <algorithm>

using namespace attn::sim;

void MbarrierSignals::beginLoad(uint32_t address, uint32_t load) {
  states[address].loads.push_back(load);
}

uint32_t MbarrierSignals::endLoad(uint32_t address, uint32_t load,
                                  uint64_t phase) {
  MbarrierState &barrier = states[address];
  barrier.events.hasAsync = true;
  barrier.loads.erase(
      std::find(barrier.loads.begin(), barrier.loads.end(), load));
  return barrier.base + uint32_t(phase) + 1;
}

void MbarrierSignals::arriveAsync(uint32_t address, const Knowledge &known) {
  MbarrierState &barrier = states[address];
  barrier.events.hasAsync = true;
  barrier.arriving.join(known);
}

void MbarrierSignals::arriveCommit(uint32_t address, const Knowledge &known) {
  MbarrierState &barrier = states[address];
  --barrier.commits;
  barrier.commitEpoch = barrier.base + uint32_t(barrier.phases) + 1;
  arriveAsync(address, known);
}

bool MbarrierSignals::isAwaited(uint32_t address, uint32_t epoch) const {
  const MbarrierState &barrier = states.at(address);
  return epoch <= barrier.base + barrier.awaited;
}

bool MbarrierSignals::isCommitAwaited(uint32_t address) const {
  const MbarrierState &barrier = states.at(address);
  return barrier.commits == 0 && isAwaited(address, barrier.commitEpoch);
}
