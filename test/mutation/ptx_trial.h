// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs PTX and its mutants as launch files describe.

#ifndef ATTN_TEST_MUTATION_PTX_TRIAL_H
#define ATTN_TEST_MUTATION_PTX_TRIAL_H

#include "runner.h"

#include <vector>

namespace attn::mutation {

class PtxTrial final : public Runner {
public:
  /// Of the PTX in `bundle`, with a problem for each launch file.
  PtxTrial(const runtime::Bundle &bundle, std::vector<std::string> launches);

  Verdict runOriginal(uint64_t schedules) override;
  Verdict runMutant(const runtime::Bundle &bundle, uint64_t begin, uint64_t end,
                    bool changed = false) override;

private:
  const runtime::Bundle &original;
  const std::vector<std::string> launches;
};

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_PTX_TRIAL_H
