// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/cta_reports.h"

#include <cstdio>

using namespace attn::sim;

std::string attn::sim::toHex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// An instruction's text, without its middle if it is long.
static std::string shorten(const std::string &text) {
  constexpr size_t longest = 100;
  return text.size() <= longest ? text
                                : text.substr(0, longest - 20) + " ... " +
                                      text.substr(text.size() - 15);
}

std::string CtaReports::describePlace(uint64_t cta, uint32_t warp, uint32_t pc,
                                      unsigned lane) const {
  const ptx::Instruction &origin = program.origin(program.code[pc]);
  std::string text = "PTX line " + std::to_string(origin.at.line);
  if (origin.source.line) {
    text += " (source " + std::to_string(origin.source.line) + ":" +
            std::to_string(origin.source.column) + ")";
  }
  const unsigned *grid = launch.grid;
  text += ", CTA (" + std::to_string(cta % grid[0]) + "," +
          std::to_string(cta / grid[0] % grid[1]) + "," +
          std::to_string(cta / grid[0] / grid[1]) + "), warp " +
          std::to_string(warp);
  if (lane < kLanes) {
    text += ", lane " + std::to_string(lane);
  }
  return text + ": '" + shorten(ptx::print(origin)) + "'";
}

std::string CtaReports::describeLine(uint32_t pc) const {
  return "PTX line " + std::to_string(program.origin(program.code[pc]).at.line);
}

void CtaReports::fail(uint32_t warp, uint32_t pc, unsigned lane,
                      const std::string &message) {
  if (failure.empty()) {
    failure = describePlace(number, warp, pc, lane) + ": " + message;
  }
}

bool CtaReports::isFatal(Rule rule) const {
  bool isStrict = (program.target & kBlackwell) && isStrictOnBlackwell(rule);
  return mode == HazardMode::Error && !isStrict &&
         getRuleInfo(rule).severity == Severity::Error;
}

bool CtaReports::wantsHazard(Rule rule, uint32_t pc, uint32_t otherPc) const {
  return failure.empty() &&
         (isFatal(rule) || !reports.contains({rule, pc, otherPc}));
}

void CtaReports::reportHazard(Rule rule, uint32_t warp, uint32_t pc,
                              unsigned lane, const std::string &message,
                              uint32_t otherPc) {
  if (!wantsHazard(rule, pc, otherPc)) {
    return;
  }
  std::string text =
      describePlace(number, warp, pc, lane) + ": " + message + ruleSuffix(rule);
  if (isFatal(rule)) {
    failure = std::move(text);
  } else {
    reports.add({rule, pc, otherPc}, {std::move(text), number});
  }
}

bool CtaReports::report(Rule rule, uint32_t warp, uint32_t pc,
                        const std::string &message, unsigned lane) {
  if (mode != HazardMode::Off) {
    reportHazard(rule, warp, pc, lane, message);
  }
  return failure.empty();
}
