// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace.h"

#include "device/sim_device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::run;

/// More would be too much to look at.
static constexpr uint64_t kMostCtas = 16;
static constexpr uint32_t kWarpsOfGroup = 4;

static uint32_t countOf(const nlohmann::json &role, const char *key) {
  constexpr uint32_t most = 32;
  auto found = role.find(key);
  return found != role.end() && found->is_number_unsigned()
             ? uint32_t(std::min<uint64_t>(found->get<uint64_t>(), most))
             : 0;
}

std::vector<sim::TraceRole> run::readRoles(const std::string &planText,
                                           size_t variant) {
  auto plan = nlohmann::json::parse(planText, nullptr, false);
  std::vector<sim::TraceRole> roles;
  auto at = nlohmann::json::json_pointer(
      "/variants/" + std::to_string(variant) + "/report/roles");
  if (plan.is_discarded() || !plan.contains(at) || !plan[at].is_array()) {
    return roles;
  }
  // The compiler's rule: roles of less than a warpgroup share one with their
  // neighbour, others begin with a warpgroup.
  uint32_t next = 0;
  bool isSharing = false;
  for (const nlohmann::json &role : plan[at]) {
    if (!role.is_object() || !role.contains("name") ||
        !role["name"].is_string()) {
      continue;
    }
    auto name = role["name"].get<std::string>();
    uint32_t warps = countOf(role, "warps");
    uint32_t replicas = countOf(role, "replicas");
    bool isSmall = warps < kWarpsOfGroup;
    if (!isSmall || !isSharing) {
      next = (next + kWarpsOfGroup - 1) / kWarpsOfGroup * kWarpsOfGroup;
    }
    isSharing = isSmall;
    for (uint32_t i = 0; i < replicas; ++i, next += warps) {
      roles.push_back(
          {replicas > 1 ? name + "[" + std::to_string(i) + "]" : name, next,
           warps});
    }
  }
  return roles;
}

Tracing::Tracing(const Options &options, std::vector<sim::TraceRole> roles)
    : options(options), recorder(std::move(roles), kMostCtas) {
  if (!options.trace.empty() || !options.timeline.empty()) {
    sim::getSimDevice().getOptions().observers = &recorder;
  }
}

Tracing::~Tracing() { sim::getSimDevice().getOptions().observers = nullptr; }

static bool writeText(const char *option, const std::string &path,
                      const std::string &text, std::string &err) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    err = std::string("option '") + option + "': cannot write '" + path +
          "': " + std::strerror(errno);
  }
  return bool(file);
}

/// The CTA that takes longest: short ones show little.
static const trace::CtaTimeline &
findLongest(const std::vector<trace::CtaTimeline> &ctas) {
  auto lengthOf = [](const trace::CtaTimeline &cta) {
    uint64_t last = 0;
    for (const trace::Track &track : cta.tracks) {
      for (const trace::Event &event : track.events) {
        last = std::max(last, event.end);
      }
    }
    return last;
  };
  return *std::max_element(
      ctas.begin(), ctas.end(),
      [&](const auto &a, const auto &b) { return lengthOf(a) < lengthOf(b); });
}

bool Tracing::write(const std::string &kernel, std::string &err) {
  trace::Timeline timeline = recorder.take();
  timeline.details.push_back({"kernel", kernel});
  timeline.details.push_back({"seed", std::to_string(options.scheduleSeed)});
  if (!options.trace.empty() &&
      !writeText("--trace", options.trace, trace::writeChromeTrace(timeline),
                 err)) {
    return false;
  }
  if (options.timeline.empty()) {
    return true;
  }
  if (timeline.ctas.empty()) {
    err = "option '--timeline': expected a CTA to draw, but none ran";
    return false;
  }
  return writeText("--timeline", options.timeline,
                   trace::drawTimeline(timeline, findLongest(timeline.ctas)),
                   err);
}
