// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fields of tensor maps, which are in the launch plan.

#include "collector.h"

#include <cstdlib>

using namespace attn::mutation;

/// Calls `visit(begin, end, value)` for the number after each `"key":`.
template <typename Visit>
static void forNumbers(const std::string &plan, const std::string &key,
                       Visit visit) {
  std::string text = '"' + key + "\":";
  for (size_t at = plan.find(text); at != std::string::npos;
       at = plan.find(text, at + 1)) {
    size_t begin = at + text.size();
    size_t end = plan.find_first_not_of("0123456789", begin);
    visit(begin, end, std::atol(plan.c_str() + begin));
  }
}

static void setNumber(Collector &collector, const std::string &operation,
                      const std::string &plan, size_t begin, size_t end,
                      long value) {
  std::string text = std::to_string(value);
  std::string changed = plan;
  changed.replace(begin, end - begin, text);
  collector.changePlan(operation, std::move(changed), text);
}

void attn::mutation::addPlanMutants(Collector &collector,
                                    const std::string &plan) {
  forNumbers(plan, "swizzle", [&](size_t begin, size_t end, long value) {
    collector.beginSite("map-swizzle", "\"swizzle\":" + std::to_string(value));
    for (long other : {0, 32, 64, 128}) {
      if (other != value) {
        setNumber(collector, "swizzle=" + std::to_string(other), plan, begin,
                  end, other);
      }
    }
  });
  forNumbers(plan, "box", [&](size_t begin, size_t end, long value) {
    if (value > 1) {
      collector.beginSite("map-box", "\"box\":" + std::to_string(value));
      setNumber(collector, "half", plan, begin, end, value / 2);
      setNumber(collector, "box-8", plan, begin, end, value - 8);
    }
  });
}
