// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One of a kernel's `attn.checks`, translated once so that it can be evaluated
// for many launches.
#ifndef ATTN_PASSES_MIDDLE_LAUNCHCONDITION_H
#define ATTN_PASSES_MIDDLE_LAUNCHCONDITION_H

#include "attn/dialect/Launch.h"
#include "mlir/IR/Attributes.h"

namespace attn {

class LaunchCondition {
public:
  using NumberOf = llvm::function_ref<std::optional<unsigned>(llvm::StringRef)>;

  /// `numberOf` returns the index of a name's value. A check that is invalid in
  /// a launch plan never holds; attn-lower-to-nvvm refuses it.
  LaunchCondition(mlir::Attribute check, NumberOf numberOf);

  bool holds(llvm::ArrayRef<int64_t> values) const;

  mlir::Attribute getCheck() const { return check; }
  llvm::ArrayRef<unsigned> getNames() const { return names; }
  llvm::ArrayRef<int64_t> getLiterals() const { return literals; }

private:
  /// A literal, the index of a name's value, or an operator on the values
  /// before it.
  struct Word {
    enum Kind { Literal, Name, Operator } kind;
    int64_t number = 0;
    const LaunchOperator *op = nullptr;
  };

  bool read(mlir::Attribute expr, NumberOf numberOf);
  bool readApply(launch::ApplyAttr apply, NumberOf numberOf);

  mlir::Attribute check;
  /// Operands come before their operator. Empty if the check is invalid.
  llvm::SmallVector<Word> words;
  int64_t equals = 0;
  llvm::SmallVector<unsigned> names;
  llvm::SmallVector<int64_t> literals;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_LAUNCHCONDITION_H
