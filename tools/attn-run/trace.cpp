// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace.h"

#include "device/sim_device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

using namespace attn;
using namespace attn::run;

/// More CTAs would be too many to look at.
static constexpr uint64_t kMostCtas = 16;
static constexpr uint32_t kWarpsOfGroup = 4;

static uint32_t countOf(const nlohmann::json &role, const char *key) {
  constexpr uint32_t most = 32;
  auto found = role.find(key);
  return found != role.end() && found->is_number_unsigned()
             ? uint32_t(std::min<uint64_t>(found->get<uint64_t>(), most))
             : 0;
}

static std::string nameOf(const nlohmann::json &launch) {
  auto found = launch.find("kernel");
  return found != launch.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
}

/// Reads a report from a variant with one launch, or from one of several
/// launches.
static TracedKernel tracedKernelOf(const nlohmann::json &reported,
                                   const nlohmann::json &launch) {
  TracedKernel traced;
  if (launch.is_object() && reported.contains("report") &&
      reported["report"].is_object()) {
    traced.report = reported["report"];
    traced.name = nameOf(launch);
  }
  return traced;
}

/// The larger, the more there is to see.
static std::pair<bool, uint32_t> rankOf(const TracedKernel &kernel) {
  uint32_t replicas = 0;
  for (const nlohmann::json &role :
       kernel.report.value("roles", nlohmann::json::array())) {
    replicas += role.is_object() ? countOf(role, "replicas") : 0;
  }
  return {kernel.report.contains("stamps"), replicas};
}

/// Reads a variant; empty if the plan has none.
static nlohmann::json readVariant(const std::string &planText, size_t number) {
  auto plan = nlohmann::json::parse(planText, nullptr, false);
  nlohmann::json::json_pointer at("/variants/" + std::to_string(number));
  bool isKnown = !plan.is_discarded() && plan.contains(at);
  return isKnown && plan[at].is_object() ? plan[at] : nlohmann::json::object();
}

TracedKernel run::readTracedKernel(const std::string &planText,
                                   size_t variant) {
  nlohmann::json found = readVariant(planText, variant);
  nlohmann::json launches = found.value("launches", nlohmann::json::array());
  TracedKernel traced;
  for (const nlohmann::json &launch : launches) {
    TracedKernel own =
        tracedKernelOf(launches.size() == 1 ? found : launch, launch);
    bool isKnown = !own.report.is_null();
    if (isKnown && (traced.report.is_null() || rankOf(own) > rankOf(traced))) {
      traced = own;
    }
  }
  return traced;
}

std::vector<sim::TraceRole> run::readRoles(const std::string &planText,
                                           size_t variant) {
  return rolesOf(
      readVariant(planText, variant).value("report", nlohmann::json()));
}

std::vector<sim::TraceRole> run::rolesOf(const nlohmann::json &report) {
  std::vector<sim::TraceRole> roles;
  if (!report.is_object() || !report.contains("roles") ||
      !report["roles"].is_array()) {
    return roles;
  }
  // The compiler's rule: roles smaller than a warpgroup share one with their
  // neighbor; others begin at a warpgroup.
  uint32_t next = 0;
  bool isSharing = false;
  for (const nlohmann::json &role : report["roles"]) {
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

bool run::isTracing(const Options &options) { return !options.trace.empty(); }

Tracing::Tracing(const Options &options, std::vector<sim::TraceRole> roles)
    : options(options), recorder(std::move(roles), kMostCtas) {
  if (isTracing(options)) {
    sim::getSimDevice().getOptions().observers = &recorder;
  }
}

Tracing::~Tracing() { sim::getSimDevice().getOptions().observers = nullptr; }

bool Tracing::write(const std::string &kernel, std::string &err) {
  return writeTimeline(options, kernel, recorder.take(), err);
}

bool run::writeTimeline(const Options &options, const std::string &kernel,
                        trace::Timeline timeline, std::string &err) {
  if (!isTracing(options)) {
    return true;
  }
  timeline.details.push_back({"kernel", kernel});
  if (options.device == "sim") {
    timeline.details.push_back({"seed", std::to_string(options.scheduleSeed)});
  }
  std::ofstream file(options.trace, std::ios::binary);
  file << trace::writeChromeTrace(timeline);
  file.close();
  if (!file) {
    err = "option '--trace': cannot write '" + options.trace +
          "': " + std::strerror(errno);
  }
  return bool(file);
}
