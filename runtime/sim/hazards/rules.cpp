// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/rules.h"

using namespace attn::sim;

static const RuleInfo kRules[] = {
#define ATTN_SIM_RULE(name, id, severity, text) {id, Severity::severity, text},
    ATTN_SIM_RULES(ATTN_SIM_RULE)
#undef ATTN_SIM_RULE
};

const RuleInfo &attn::sim::getRuleInfo(Rule rule) {
  return kRules[unsigned(rule)];
}
