// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards of branches and of other instructions.

#include "collector.h"

using namespace attn::mutation;

void attn::mutation::addPredicateMutants(Collector &collector) {
  const Code &code = collector.code;
  for (size_t i = 0; i < code.size(); ++i) {
    // Retry loops of waits are sites of their own.
    if (!code[i].instruction || code[i].instruction->guard.empty() ||
        code[i].inScope) {
      continue;
    }
    collector.beginSite("guard", i);
    collector.edit("never", {i, i + 1, ""}, "");
    Draft always(*code[i].instruction);
    always.get().guard = {};
    collector.change("always", always);
    Draft negated(*code[i].instruction);
    negated.get().guardNegated = !negated.get().guardNegated;
    collector.change("negate", negated);
  }
}
