// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/report.h"

using namespace attn::sim;

void Reports::add(const ReportKey &key, Report report) {
  auto [found, isNew] = reports.try_emplace(key, report);
  if (!isNew && report.cta < found->second.cta) {
    found->second = std::move(report);
  }
}

void Reports::merge(const Reports &other) {
  for (const auto &[key, report] : other.reports) {
    add(key, report);
  }
}
