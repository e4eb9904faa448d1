// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/target.h"

#include <algorithm>
#include <cstdlib>

using namespace attn::sim;

/// The range of ISA versions whose instructions are known: from LLVM's first to
/// nvcc 13.1's.
static constexpr double kFirstVersion = 3.2;
static constexpr double kLastVersion = 9.1;

static const struct {
  std::string_view name;
  Target target;
  /// The first '.version' that supports it.
  const char *version;
} kTargets[] = {{"sm_50", kUpToSm90, "3.2"}, {"sm_52", kUpToSm90, "3.2"},
                {"sm_53", kUpToSm90, "3.2"}, {"sm_60", kUpToSm90, "3.2"},
                {"sm_61", kUpToSm90, "3.2"}, {"sm_62", kUpToSm90, "3.2"},
                {"sm_70", kUpToSm90, "3.2"}, {"sm_72", kUpToSm90, "3.2"},
                {"sm_75", kUpToSm90, "3.2"}, {"sm_80", kUpToSm90, "3.2"},
                {"sm_86", kUpToSm90, "3.2"}, {"sm_87", kUpToSm90, "3.2"},
                {"sm_88", kUpToSm90, "3.2"}, {"sm_89", kUpToSm90, "3.2"},
                {"sm_90", kUpToSm90, "3.2"}, {"sm_90a", kSm90a, "3.2"},
                {"sm_100", kSm100, "8.6"},   {"sm_100f", kSm100f, "8.8"},
                {"sm_100a", kSm100a, "8.6"}, {"sm_103", kSm103, "8.8"},
                {"sm_103f", kSm103f, "8.8"}, {"sm_103a", kSm103a, "8.8"}};

static double numberOf(std::string_view version) {
  return std::strtod(std::string(version).c_str(), nullptr);
}

/// The names of `targets`, of those up to sm_90 the last.
static std::string namesOf(TargetSet targets) {
  std::string names;
  for (const auto &each : kTargets) {
    bool isNamed = each.target != kUpToSm90 || each.name == "sm_90";
    if ((each.target & targets) && isNamed) {
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
  }
  return names;
}

std::string attn::sim::notForTarget(const std::string &what, TargetSet targets,
                                    Target target) {
  return "expected '.target' " + namesOf(targets) + " for " + what + ", got " +
         namesOf(target);
}

std::string attn::sim::readTarget(const ptx::Module &module, Target &target) {
  double version = numberOf(module.version);
  if (version < kFirstVersion || version > kLastVersion) {
    return "expected '.version' 3.2 to 9.1, got " + std::string(module.version);
  }
  target = kUpToSm90;
  for (std::string_view name : module.targets) {
    if (name == "debug" || name == "texmode_independent" ||
        name == "texmode_unified") {
      continue;
    }
    const auto *found =
        std::find_if(std::begin(kTargets), std::end(kTargets),
                     [&](const auto &each) { return each.name == name; });
    if (found == std::end(kTargets)) {
      return "expected '.target' sm_50 to sm_90, or one of " +
             namesOf(kEveryTarget & ~kUpToSm90) + ", got " + std::string(name);
    }
    if (version < numberOf(found->version)) {
      return "expected '.version' " + std::string(found->version) +
             " or later for '.target' " + std::string(name) + ", got " +
             std::string(module.version);
    }
    target = found->target;
  }
  return "";
}
