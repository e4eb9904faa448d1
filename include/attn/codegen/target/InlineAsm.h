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

/// The inverse: `type` is that of the value to make.
mlir::Value packElements(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type type, mlir::ValueRange elements);

/// Operands of an assembly text. Results come first in its numbering; a
/// read-write operand is a result tied to an input, which takes a number too.
class InlineAsm {
public:
  InlineAsm(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// A group of results, one for each element of `type`.
  void addResult(mlir::Type type);
  /// A group of results that start as the elements of `value`.
  void addReadWrite(mlir::Value value);
  /// A group of inputs, after every result group and read-write group.
  void addInput(mlir::Value value);

  /// The text's name of element `element` of result group `group`.
  std::string result(unsigned group, unsigned element) const;
  /// The text's name of element `element` of input group `group`.
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
