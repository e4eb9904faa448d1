// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/cta_turns.h"

using namespace attn::sim;

static constexpr uint64_t kTurnsUntilStart = 64;

CtaTurns::CtaTurns(uint64_t seed, uint64_t cluster)
    : random(~seed * 0x9e3779b97f4a7c15 + cluster), randomly(seed > 1),
      backward(seed == 1) {}

bool CtaTurns::mustStart(const Ctas &ctas) {
  return started == 0 || ++turnsSinceStart > kTurnsUntilStart ||
         (randomly && ctas.size() > 1 && random.below(8) == 0);
}

bool CtaTurns::startOne(const Ctas &ctas) {
  if (started == ctas.size()) {
    return false;
  }
  std::vector<Cta *> waiting;
  for (const auto &cta : ctas) {
    if (!cta->hasStarted) {
      waiting.push_back(cta.get());
    }
  }
  size_t index = randomly   ? random.below(waiting.size())
                 : backward ? waiting.size() - 1
                            : 0;
  waiting[index]->hasStarted = true;
  ++started;
  turnsSinceStart = 0;
  return true;
}

bool CtaTurns::takeTurn(const Ctas &ctas) {
  size_t size = ctas.size();
  size_t first = randomly && size > 1 ? random.below(size) : turn;
  for (size_t i = 0; i < size; ++i) {
    size_t index = (first + i) % size;
    if (ctas[index]->hasStarted && ctas[index]->takeTurn()) {
      turn = (index + 1) % size;
      return true;
    }
  }
  return false;
}

bool CtaTurns::completeOne(const Ctas &ctas) {
  size_t size = ctas.size();
  size_t first = randomly && size > 1 ? random.below(size) : 0;
  for (size_t i = 0; i < size; ++i) {
    if (ctas[(first + i) % size]->inFlight.completeOne()) {
      return true;
    }
  }
  return false;
}
