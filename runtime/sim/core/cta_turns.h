// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which the CTAs of a cluster start and take turns: their own
// order, its reverse at the start, or a random one.

#ifndef ATTN_SIM_CORE_CTA_TURNS_H
#define ATTN_SIM_CORE_CTA_TURNS_H

#include "core/cta.h"

#include <memory>
#include <vector>

namespace attn::sim {

class CtaTurns {
public:
  using Ctas = std::vector<std::unique_ptr<Cta>>;

  /// `seed` 0: in order; 1: the last rank starts first; others: random.
  CtaTurns(uint64_t seed, uint64_t cluster);

  bool isBackward() const { return backward; }
  /// Whether a CTA is to start before the next turn. CTAs start as late as
  /// possible: a kernel that uses the memory of a CTA too early is then
  /// detected. But a CTA that polls never blocks, and may wait for one that has
  /// not started.
  bool mustStart(const Ctas &ctas);
  /// Lets a CTA start that has not started. Returns false if all have.
  bool startOne(const Ctas &ctas);
  /// Runs one CTA that can run for a while. Returns false if none can.
  bool takeTurn(const Ctas &ctas);
  /// Completes an operation of a CTA. Returns false if there is none.
  bool completeOne(const Ctas &ctas);

private:
  Random random;
  const bool randomly, backward;
  size_t turn = 0;
  size_t started = 0;
  uint64_t turnsSinceStart = 0;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CTA_TURNS_H
