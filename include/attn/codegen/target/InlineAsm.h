// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds one `llvm.inline_asm` whose operands are the elements of vectors.
#ifndef ATTN_CODEGEN_TARGET_INLINEASM_H
#define ATTN_CODEGEN_TARGET_INLINEASM_H

#include "attn/support/mlir_pch.h"

namespace attn::codegen {

/// The elements of a vector value, or the scalar itself.
llvm::SmallVector<mlir::Value>
unpackElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// The inverse: `type` is the type of the value.
mlir::Value packElements(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type type, mlir::ValueRange elements);

/// The operands of an assembly text. Results are numbered first; a read-write
/// operand is a result tied to an input, which also has a number.
class InlineAsm {
public:
  InlineAsm(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Adds a group of results, one for each element of `type`.
  void addResult(mlir::Type type);
  /// Adds a group of results that are initialized with the elements of `value`.
  void addReadWrite(mlir::Value value);
  /// Adds a group of inputs, after all result groups and read-write groups.
  void addInput(mlir::Value value);

  /// Returns the placeholder of element `element` of result group `group`.
  std::string result(unsigned group, unsigned element) const;
  /// Returns the placeholder of element `element` of input group `group`.
  std::string input(unsigned group, unsigned element) const;

  /// Creates the op: volatile, and a barrier for memory accesses. The values
  /// are those of the result groups.
  llvm::SmallVector<mlir::Value> create(llvm::StringRef text);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<unsigned> resultStarts, inputStarts;
  llvm::SmallVector<mlir::Type> elementTypes;
  llvm::SmallVector<mlir::Value> tied, inputs;
  llvm::SmallVector<unsigned> tiedResults;
};

} // namespace attn::codegen

#endif // ATTN_CODEGEN_TARGET_INLINEASM_H
