// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects mutants of a kernel, and the edits that they share.

#ifndef ATTN_TEST_MUTATION_COLLECTOR_H
#define ATTN_TEST_MUTATION_COLLECTOR_H

#include "mutant.h"

namespace attn::mutation {

/// A copy of an instruction that is being changed. Changed source registers are
/// computed before it, in a scope of their own.
class Draft {
public:
  explicit Draft(const ptx::Instruction &original) : changed(original) {}

  ptx::Instruction &get() { return changed; }
  /// Increases an operand by `delta`: an immediate, an address, or a register
  /// of 32 bits.
  void add(ptx::Operand &operand, int64_t delta);
  /// The same for a register of 64 bits.
  void addWide(ptx::Operand &operand, int64_t delta);
  /// Flips the lowest bit of a register or immediate.
  void flip(ptx::Operand &operand);
  /// Negates a predicate.
  void negate(ptx::Operand &operand);
  std::string text() const;

private:
  void computeBefore(ptx::Operand &operand, const std::string &type,
                     const std::string &opcode, const std::string &by);

  ptx::Instruction changed;
  std::string before;
};

class Collector {
public:
  explicit Collector(const Code &code) : code(code) {}

  const Code &code;
  std::vector<Mutant> mutants;

  /// Begins the site around statement `core`; it is numbered in its class.
  void beginSite(const std::string &kind, size_t core);
  /// The same for something outside the code.
  void beginSite(const std::string &kind, const std::string &text);

  // Mutants of the current site.
  void drop(size_t begin, size_t end);
  void twice(size_t statement);
  void change(const std::string &operation, const Draft &draft);
  void edit(const std::string &operation, Edit edit, const std::string &after);
  void swap(const std::string &operation, Swap swap, const std::string &after);
  void changePlan(const std::string &operation, std::string plan,
                  const std::string &after);

private:
  Mutant &add(const std::string &operation, const std::string &after);

  std::map<std::string, unsigned> counts;
  Mutant site;
};

// The mutants to collect, by subject.
void addSyncMutants(Collector &collector);
void addFlagMutants(Collector &collector);
void addOrderMutants(Collector &collector);
void addCopyMutants(Collector &collector);
void addMatrixMutants(Collector &collector);
void addTensorMutants(Collector &collector);
void addPredicateMutants(Collector &collector);
void addValueMutants(Collector &collector);
void addPlanMutants(Collector &collector, const std::string &plan);

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_COLLECTOR_H
