// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error reports of a CTA.

#ifndef ATTN_SIM_CORE_CTA_REPORTS_H
#define ATTN_SIM_CORE_CTA_REPORTS_H

#include "core/launch.h"
#include "core/program.h"

namespace attn::sim {

/// "0x410".
std::string toHex(uint64_t value);

class CtaReports {
public:
  /// Reports for the CTA with `number` in the grid.
  CtaReports(const Program &program, const GridLaunch &launch, HazardMode mode,
             uint64_t number)
      : program(program), launch(launch), mode(mode), number(number) {}

  /// "PTX line 12".
  std::string describeLine(uint32_t pc) const;
  /// Describes an instruction and the warp that executed it.
  std::string describePlace(uint64_t cta, uint32_t warp, uint32_t pc,
                            unsigned lane) const;

  /// Ends the CTA with an error, unless it has ended with one before. `lane` is
  /// kLanes for all lanes.
  void fail(uint32_t warp, uint32_t pc, unsigned lane,
            const std::string &message);
  bool hasFailed() const { return !failure.empty(); }
  const std::string &getFailure() const { return failure; }

  /// Reports a violation of a rule, detected at `pc`. `otherPc` is the other
  /// instruction involved, if any.
  void reportHazard(Rule rule, uint32_t warp, uint32_t pc, unsigned lane,
                    const std::string &message, uint32_t otherPc = kNone);
  /// Whether such a report would be used.
  bool wantsHazard(Rule rule, uint32_t pc, uint32_t otherPc) const;
  /// Reports violations found by register trackers. Returns whether execution
  /// continues.
  bool report(Rule rule, uint32_t warp, uint32_t pc, const std::string &message,
              unsigned lane = kLanes);
  const Reports &getReports() const { return reports; }

private:
  /// Whether a report ends the launch.
  bool isFatal(Rule rule) const;

  const Program &program;
  const GridLaunch &launch;
  const HazardMode mode;
  const uint64_t number;
  std::string failure;
  Reports reports;
};

} // namespace attn::sim

#endif // ATTN_SIM_CORE_CTA_REPORTS_H
