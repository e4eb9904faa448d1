// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers ops of `ws` and `tile` to instructions, with one pattern for each op;
// these are the same on all chips (Target.h has the others). Shared information
// about the kernel is collected before and does not change.
#ifndef ATTN_CODEGEN_INSTRUCTIONPATTERNS_H
#define ATTN_CODEGEN_INSTRUCTIONPATTERNS_H

#include "Arithmetic.h"
#include "ParamValues.h"
#include "SharedMemory.h"
#include "attn/dialect/Nvx.h"
#include "attn/dialect/Ws.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::codegen {

class StampWriter;
struct JoinLayout;

/// A pattern that needs the kernel's parameters.
template <typename Op> struct ParamPattern : mlir::OpConversionPattern<Op> {
  ParamPattern(const mlir::TypeConverter &types, mlir::MLIRContext *context,
               const ParamValues &params)
      : mlir::OpConversionPattern<Op>(types, context), params(params) {}

protected:
  const ParamValues &params;
};

/// Slots become the offsets of their tiles; tokens disappear.
void populateTypeConversions(mlir::TypeConverter &types);

/// Lowers ops that compute no new data: slots by their offset, bytes of shared
/// memory, cuts.
void populateValuePatterns(mlir::RewritePatternSet &patterns,
                           const mlir::TypeConverter &types,
                           const ParamValues &params);
/// Accesses elements of global memory at given indices.
void populateElementPatterns(mlir::RewritePatternSet &patterns,
                             const mlir::TypeConverter &types,
                             const ParamValues &params);
void populateStampPatterns(mlir::RewritePatternSet &patterns,
                           const mlir::TypeConverter &types,
                           const StampWriter &stamps);
void populateJoinPatterns(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &types,
                          const ParamValues &params, const JoinLayout &join,
                          int64_t registers);

/// Returns the type of an element in memory: a byte for an i1, and signless.
mlir::Type storedType(mlir::Value tensor);

/// The address of an element.
mlir::Value elementPointer(const Arithmetic &emit, const ParamValues &params,
                           mlir::Value tensor, mlir::ValueRange indices);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_INSTRUCTIONPATTERNS_H
