// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which statements a trial's problems reach.

#ifndef ATTN_TEST_MUTATION_COVERAGE_H
#define ATTN_TEST_MUTATION_COVERAGE_H

#include "mutant.h"
#include "runner.h"

namespace attn::mutation {

class Coverage {
public:
  Coverage(const runtime::Bundle &bundle, const ptx::Module &module,
           Runner &runner);

  /// Whether some problem executes the statement: puts a trap at the beginning
  /// of its basic block.
  bool isReached(size_t statement);

private:
  enum class Answer { Unknown, Yes, No };

  const runtime::Bundle &bundle;
  const ptx::Module &module;
  Runner &runner;
  /// The statement with which each statement's block begins.
  std::vector<size_t> blocks;
  std::vector<Answer> answers;
};

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_COVERAGE_H
