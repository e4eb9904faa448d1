// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "coverage.h"

using namespace attn::mutation;

static bool endsBlock(const Code &code, size_t statement) {
  return code.statement(statement).kind == ptx::Statement::Kind::Label ||
         code[statement].is("bra") || code[statement].is("ret") ||
         code[statement].is("exit");
}

Coverage::Coverage(const runtime::Bundle &bundle, const ptx::Module &module,
                   Runner &runner)
    : bundle(bundle), module(module), runner(runner) {
  Code code(*findKernel(module));
  blocks.resize(code.size());
  answers.resize(code.size());
  size_t block = 0;
  bool begins = false;
  for (size_t i = 0; i < code.size(); ++i) {
    if (begins && code[i].instruction) {
      block = i;
      begins = false;
    }
    blocks[i] = block;
    begins |= endsBlock(code, i);
  }
}

bool Coverage::isReached(size_t statement) {
  size_t block = blocks[statement];
  Answer &answer = answers[block];
  if (answer == Answer::Unknown) {
    Mutant mutant;
    mutant.edits.push_back({block, block, "trap;"});
    bool reached = runner.reachesTrap(applyMutant(bundle, module, mutant));
    answer = reached ? Answer::Yes : Answer::No;
  }
  return answer == Answer::Yes;
}
