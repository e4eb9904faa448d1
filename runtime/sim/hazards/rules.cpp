// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/rules.h"

#include "units/mbarrier.h"

using namespace attn::sim;

static const RuleInfo kInfos[] = {
#define ATTN_SIM_RULE(name, id, severity, text) {id, Severity::severity, text},
    ATTN_SIM_RULES(ATTN_SIM_RULE)
#undef ATTN_SIM_RULE
};

const RuleInfo &attn::sim::getRuleInfo(Rule rule) {
  return kInfos[unsigned(rule)];
}

bool attn::sim::isStrictOnBlackwell(Rule rule) {
  return rule == Rule::ExitTx || rule == Rule::ExitStore ||
         rule == Rule::RegistersGroup;
}

Rule attn::sim::ruleOf(MbarrierStatus status) {
  switch (status) {
  case MbarrierStatus::AlreadyLive:
    return Rule::MbarrierReinit;
  case MbarrierStatus::BadCount:
    return Rule::MbarrierCount;
  case MbarrierStatus::ArriveUnderflow:
    return Rule::MbarrierOverArrival;
  case MbarrierStatus::TxOutOfRange:
    return Rule::MbarrierTxRange;
  case MbarrierStatus::CompletesPhase:
    return Rule::MbarrierNoComplete;
  case MbarrierStatus::BadToken:
    return Rule::MbarrierToken;
  default:
    return Rule::MbarrierNotLive;
  }
}

std::string attn::sim::ruleSuffix(Rule rule) {
  return std::string(" [") + getRuleInfo(rule).id + "]";
}
