// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic of a kernel, translated once so that it can be evaluated
// for many inputs.
#ifndef ATTN_PASSES_MIDDLE_SCALARPROGRAM_H
#define ATTN_PASSES_MIDDLE_SCALARPROGRAM_H

#include "attn/dialect/Tile.h"

namespace attn {

class ScalarProgram {
public:
  /// Adds `value` and everything that it is computed from. A value that is not
  /// computed by integer arithmetic of `arith` becomes an input; results of
  /// `tile.bounds` are those that its region yields. Returns the index of the
  /// value in the results of run().
  unsigned add(mlir::Value value);

  /// The values to pass to run(), in order.
  llvm::ArrayRef<mlir::Value> getInputs() const { return inputs; }

  /// Computes all added values into `values`; returns false if an op would
  /// divide by zero. Values are sign-extended, those of one bit are 0 or 1.
  /// Sets `wraps` if a sum, difference or product does not fit its type.
  bool run(llvm::ArrayRef<int64_t> inputs,
           llvm::SmallVectorImpl<int64_t> &values, bool *wraps = nullptr) const;

private:
  struct Instruction {
    enum Kind {
      Input, // number `immediate`
      Constant,
      Add,
      Sub,
      Mul,
      DivS,
      DivU,
      CeilDivS,
      CeilDivU,
      FloorDivS,
      RemS,
      RemU,
      MinS,
      MinU,
      MaxS,
      MaxU,
      And,
      Or,
      Xor,
      ShL,
      ShRS,
      ShRU,
      Compare, // with predicate `immediate`
      Select,
      ExtendS, // or truncates: results are wrapped
      ExtendU,
    } kind;
    unsigned operands[3] = {};
    unsigned operandBits = 64, bits = 64;
    int64_t immediate = 0;
  };
  static std::optional<Instruction::Kind> kindOf(mlir::Operation *op);
  static std::optional<int64_t> compute(const Instruction &instruction,
                                        llvm::ArrayRef<int64_t> values);
  unsigned append(mlir::Value value, Instruction instruction);

  std::vector<Instruction> instructions;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_SCALARPROGRAM_H
