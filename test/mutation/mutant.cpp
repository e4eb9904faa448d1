// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mutant.h"

#include "collector.h"

#include <algorithm>

using namespace attn::mutation;

const ptx::Function *attn::mutation::findKernel(const ptx::Module &module) {
  for (const ptx::Function &function : module.functions) {
    if (function.isEntry && function.hasBody) {
      return &function;
    }
  }
  return nullptr;
}

std::vector<Mutant>
attn::mutation::enumerateMutants(const runtime::Bundle &bundle,
                                 const ptx::Module &module) {
  Code code(*findKernel(module));
  Collector collector(code);
  addSyncMutants(collector);
  addOrderMutants(collector);
  addCopyMutants(collector);
  addMatrixMutants(collector);
  addTensorMutants(collector);
  addPredicateMutants(collector);
  addValueMutants(collector);
  addFlagMutants(collector);
  addPlanMutants(collector, bundle.plan);
  return std::move(collector.mutants);
}

static void applyEdit(std::vector<ptx::Statement> &body, const Edit &edit) {
  auto begin = body.begin() + ptrdiff_t(edit.begin);
  auto after = body.erase(begin, body.begin() + ptrdiff_t(edit.end));
  if (!edit.text.empty()) {
    ptx::Statement statement;
    statement.kind = ptx::Statement::Kind::Raw;
    statement.text = edit.text;
    body.insert(after, statement);
  }
}

attn::runtime::Bundle attn::mutation::applyMutant(const runtime::Bundle &bundle,
                                                  const ptx::Module &module,
                                                  const Mutant &mutant) {
  runtime::Bundle result;
  result.plan = mutant.plan.empty() ? bundle.plan : mutant.plan;
  ptx::Module changed = module;
  size_t kernel = size_t(findKernel(module) - module.functions.data());
  std::vector<ptx::Statement> &body = changed.functions[kernel].body;
  for (auto edit = mutant.edits.rbegin(); edit != mutant.edits.rend(); ++edit) {
    applyEdit(body, *edit);
  }
  for (const Swap &swap : mutant.swaps) {
    std::rotate(body.begin() + ptrdiff_t(swap.begin),
                body.begin() + ptrdiff_t(swap.middle),
                body.begin() + ptrdiff_t(swap.end));
  }
  result.ptx = ptx::print(changed);
  return result;
}
