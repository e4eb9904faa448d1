// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reports of a CTA or a grid, each only once for a rule and the two
// instructions involved.

#ifndef ATTN_SIM_HAZARDS_REPORT_H
#define ATTN_SIM_HAZARDS_REPORT_H

#include "hazards/rules.h"

#include <map>
#include <string>
#include <tuple>

namespace attn::sim {

/// The rule and the program counters of the instruction that detected the
/// violation and of the other one (~0: none).
using ReportKey = std::tuple<Rule, uint32_t, uint32_t>;

struct Report {
  std::string text;
  /// The CTA that made it.
  uint64_t cta = 0;
};

class Reports {
public:
  bool contains(const ReportKey &key) const { return reports.count(key); }
  void add(const ReportKey &key, Report report);
  /// Of equal reports, the one of the lowest CTA is kept.
  void merge(const Reports &other);
  const std::map<ReportKey, Report> &get() const { return reports; }

private:
  std::map<ReportKey, Report> reports;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REPORT_H
