// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel with one thing changed, as an edit of its statements or of its
// launch plan's text.

#ifndef ATTN_TEST_MUTATION_MUTANT_H
#define ATTN_TEST_MUTATION_MUTANT_H

#include "attn/runtime/bundle.h"
#include "code.h"

namespace attn::mutation {

/// Replaces the statements [begin, end) by `text`.
struct Edit {
  size_t begin = 0;
  size_t end = 0;
  std::string text;
};

/// Exchanges the statements [begin, middle) with [middle, end).
struct Swap {
  size_t begin = 0;
  size_t middle = 0;
  size_t end = 0;
};

struct Mutant {
  /// The changed site: its class, and its number in that class in the kernel's
  /// order, for example "wait.3". With `operation` it is a stable name:
  /// instructions of other classes may come and go before it.
  std::string site;
  /// The kind of change, for example "drop".
  std::string operation;
  /// The statement and its PTX line; none in the launch plan.
  size_t statement = 0;
  unsigned line = 0;
  std::string before;
  /// No thread comes twice to the statement, or to what its result leads to.
  bool once = false;
  /// The new text; empty if the statement is removed.
  std::string after;

  // One of these.
  std::vector<Edit> edits; // in the kernel's order
  std::vector<Swap> swaps; // none or one
  std::string plan;        // the whole text
};

/// Everything that can be changed in the first kernel of `bundle`, in order.
std::vector<Mutant> enumerateMutants(const runtime::Bundle &bundle,
                                     const ptx::Module &module);

/// `bundle` with the mutant's change.
runtime::Bundle applyMutant(const runtime::Bundle &bundle,
                            const ptx::Module &module, const Mutant &mutant);

/// The first kernel of a module; null if there is none.
const ptx::Function *findKernel(const ptx::Module &module);

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_MUTANT_H
