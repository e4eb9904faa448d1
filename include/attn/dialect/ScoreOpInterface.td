// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_SCOREOPINTERFACE_TD
#define ATTN_DIALECT_SCOREOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Attn_ScoreOpInterface : OpInterface<"ScoreOpInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    What makes an op legal in a score or mask region: a pure scalar op that can
    be applied to tiles element by element. Upstream ops get it by external
    models, those of ScoreOps.td alone.
  }];
  let methods = [
    InterfaceMethod<[{
      The partial derivative of the op's result by its operand `number`, both
      floats, as new scalar ops at the builder's insertion point, where the op's
      operands and result are visible. It is f64 if the result is, otherwise f32.
      Failure: not differentiable by that operand.
      }], "::mlir::FailureOr<::mlir::Value>", "differentiate",
      (ins "::mlir::OpBuilder &":$builder, "unsigned":$number), [{}],
      [{ return ::mlir::failure(); }]>,
    InterfaceMethod<[{
      The range of an integer result (signed, both ends included) from the
      ranges of the operands; nothing where it cannot be told.
      }], "::std::optional<::mlir::ConstantIntRanges>", "inferRange",
      (ins "::llvm::ArrayRef<::mlir::ConstantIntRanges>":$operands), [{}],
      [{ return ::attn::inferIntegerRange($_op, operands); }]>,
  ];
}

#endif // ATTN_DIALECT_SCOREOPINTERFACE_TD
