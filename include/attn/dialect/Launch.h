// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `launch` dialect: launch plans, and their expressions.
#ifndef ATTN_DIALECT_LAUNCH_H
#define ATTN_DIALECT_LAUNCH_H

#include "attn/dialect/LaunchChecks.h"
#include "attn/dialect/LaunchDialect.h.inc"
#include "attn/dialect/LaunchEnums.h.inc"
#include "attn/dialect/Ws.h"
#include "attn/support/mlir_pch.h"

namespace attn::launch {

/// The largest nesting of expressions; an operand is one level deeper than its
/// operator.
constexpr int mostDepth = 32;

/// The largest number of checks of a plan; and of an operator's words: itself
/// and its operands.
constexpr size_t mostList = 256;

/// Whether `attr` is an expression: an i64 number, a name, or an ApplyAttr.
bool isExpression(mlir::Attribute attr);

/// Returns the number of levels of an expression.
int depthOf(mlir::Attribute expr);

/// Calls `visit` with each name in an expression.
void forEachName(mlir::Attribute expr,
                 llvm::function_ref<void(llvm::StringRef)> visit);

/// Makes expressions.
class Expressions {
public:
  explicit Expressions(mlir::MLIRContext *context) : context(context) {}

  mlir::Attribute number(int64_t value) const;
  mlir::Attribute name(const llvm::Twine &text) const;
  mlir::Attribute apply(LaunchOp op,
                        llvm::ArrayRef<mlir::Attribute> operands) const;

private:
  mlir::MLIRContext *context;
};

/// Returns the sizes of tensor argument `index`: their names, or the numbers to
/// which `types` fix them.
llvm::SmallVector<mlir::Attribute>
sizesOf(ArgumentsAttr args, mlir::TypeRange types, unsigned index);

/// Returns the size or number of that name: the name, or the number to which
/// `types` or `args` fix it.
mlir::Attribute sizeNamed(ArgumentsAttr args, mlir::TypeRange types,
                          mlir::StringAttr name);

/// Returns the names in braces in the message of a check.
llvm::SmallVector<llvm::StringRef> namesIn(llvm::StringRef message);

// Parts of the text of ops and attributes.
mlir::ParseResult parseExpr(mlir::AsmParser &parser, mlir::Attribute &expr);
void printExpr(mlir::AsmPrinter &printer, mlir::Attribute expr);
mlir::ParseResult parseStride(mlir::AsmParser &parser, mlir::Attribute &expr);
void printStride(mlir::AsmPrinter &printer, mlir::Attribute expr);
mlir::ParseResult parseAlignedRows(mlir::AsmParser &parser, bool &isAligned);
void printAlignedRows(mlir::AsmPrinter &printer, bool isAligned);

} // namespace attn::launch

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/LaunchAttrs.h.inc"
#define GET_OP_CLASSES
#include "attn/dialect/LaunchOps.h.inc"

#endif // ATTN_DIALECT_LAUNCH_H
