// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From ops of `ws` and `tile` to instructions: a pattern an op; these are the
// same on all chips (Target.h has the others). What several of them read of the
// kernel is made before them and does not change.
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

/// Slots become the offsets of their tiles; nothing stands for tokens.
void populateTypeConversions(mlir::TypeConverter &types);

/// Values that are there: slots by their offset, bytes of shared memory, cuts.
void populateValuePatterns(mlir::RewritePatternSet &patterns,
                           const mlir::TypeConverter &types,
                           const ParamValues &params);
/// Elements of global memory at given indices.
void populateElementPatterns(mlir::RewritePatternSet &patterns,
                             const mlir::TypeConverter &types,
                             const ParamValues &params);
void populateStampPatterns(mlir::RewritePatternSet &patterns,
                           const mlir::TypeConverter &types,
                           const StampWriter &stamps);
void populateJoinPatterns(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &types,
                          const ParamValues &params, JoinLayout join);

/// An element as memory holds it: a byte for an i1, and no sign.
mlir::Type storedType(mlir::Value tensor);

/// The address of an element.
mlir::Value elementPointer(const Arithmetic &emit, const ParamValues &params,
                           mlir::Value tensor, mlir::ValueRange indices);

} // namespace attn::codegen

#endif // ATTN_CODEGEN_INSTRUCTIONPATTERNS_H
