// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `attn` dialect: types, attributes and ops.
#ifndef ATTN_DIALECT_ATTN_H
#define ATTN_DIALECT_ATTN_H

#include "attn/dialect/KnobValue.h"
#include "attn/support/mlir_pch.h"

#include "attn/dialect/AttnDialect.h.inc"
#include "attn/dialect/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/AttnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/AttnTypes.h.inc"

namespace attn {
/// The attribute of the arguments of a function whose gradients are asked for.
constexpr llvm::StringLiteral kGradientAttr = "attn.gradient";

/// The columns of sums of dQ are a multiple of this, and so are the queries of
/// a transposed share (`grouped` and `transposed` of tile.load).
constexpr int64_t kColumnsOfSums = 16;
/// The rows of a share of dQ are a multiple of this, or it is transposed.
constexpr int64_t kRowsOfSums = 64;

/// The queries that may see a group of this many keys are found in so many
/// shares of all queries, as blocks of this many.
constexpr int64_t kSeenKeys = 128, kSeeingShares = 4, kSeeingRows = 64;
/// The numbers of a group: of each share the first block that may see a key and
/// the end of these, and the first of a run that sees all keys and its end.
constexpr int64_t kSeeingNumbers = 4 * kSeeingShares;

/// Returns the range of `op`'s result by upstream's integer range inference.
std::optional<mlir::ConstantIntRanges>
inferIntegerRange(mlir::Operation *op,
                  llvm::ArrayRef<mlir::ConstantIntRanges> operands);
/// Attaches ScoreOpInterface to the upstream ops that regions may use.
void attachScoreModels(mlir::MLIRContext &context);
/// Returns the names of those ops, for messages.
std::string listScoreOps();
/// Returns the type of a capture inside a region: its elements are signless.
mlir::Type regionTypeOf(mlir::Type capture);
/// Whether a `row_keys` region, which may be empty, yields the end of a prefix.
bool hasPrefix(mlir::Region &rowKeys);
/// The sides on which a `row_keys` region, which may be empty, bounds the keys.
RowKeys rowKeysSides(mlir::Region &rowKeys);
/// Checks that `args` describes the arguments of `kernel`'s body, which
/// computes `problem`.
llvm::LogicalResult verifyArguments(mlir::Operation *kernel, ArgumentsAttr args,
                                    ProblemAttr problem, mlir::Block &body);
/// Checks that `op` may access `tensor` in this way, if it is an argument of
/// the kernel with that `body`.
llvm::LogicalResult verifyArgumentUse(mlir::Operation *op, mlir::Value tensor,
                                      ArgumentAccess access, ArgumentsAttr args,
                                      mlir::Block &body);
// Keywords of attn.attention.
mlir::ParseResult parseMask(mlir::OpAsmParser &parser, MaskKindAttr &mask);
void printMask(mlir::OpAsmPrinter &printer, mlir::Operation *, MaskKindAttr);
mlir::ParseResult parseLayout(mlir::OpAsmParser &parser, LayoutKindAttr &);
void printLayout(mlir::OpAsmPrinter &printer, mlir::Operation *,
                 LayoutKindAttr);
mlir::ParseResult
parseBounds(mlir::OpAsmParser &parser,
            llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &values,
            MaskBoundsAttr &kinds);
void printBounds(mlir::OpAsmPrinter &printer, mlir::Operation *,
                 mlir::ValueRange values, MaskBoundsAttr kinds);
/// Returns which of dQ, dK and dV are computed: the number of the first one,
/// and their count.
std::pair<unsigned, unsigned> gradientRange(Gradients gradients);
// A keyword of attn.attention_bwd.
mlir::ParseResult parseGradients(mlir::OpAsmParser &parser,
                                 GradientsAttr &gradients,
                                 mlir::IntegerAttr &capture,
                                 mlir::AffineMapAttr &indices);
void printGradients(mlir::OpAsmPrinter &printer, mlir::Operation *,
                    GradientsAttr gradients, mlir::IntegerAttr capture,
                    mlir::AffineMapAttr indices);
// The words of a table entry for the problems that it covers.
mlir::ParseResult parseTableMasks(mlir::OpAsmParser &parser, TableMasksAttr &);
void printTableMasks(mlir::OpAsmPrinter &printer, mlir::Operation *,
                     TableMasksAttr masks);
} // namespace attn
#include "attn/dialect/ScoreOpInterface.h.inc"
#define GET_OP_CLASSES
#include "attn/dialect/AttnOps.h.inc"

#endif // ATTN_DIALECT_ATTN_H
