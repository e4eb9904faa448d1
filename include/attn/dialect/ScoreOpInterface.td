// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_SCOREOPINTERFACE_TD
#define ATTN_DIALECT_SCOREOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Attn_ScoreOpInterface : OpInterface<"ScoreOpInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    Makes an op legal in a score or mask region. It must be a pure scalar op that
    can be applied to tiles element by element. External models attach the
    interface to the upstream ops that ScoreOps.td lists.
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
      ranges of the operands; nothing if it is unknown.
      }], "::std::optional<::mlir::ConstantIntRanges>", "inferRange",
      (ins "::llvm::ArrayRef<::mlir::ConstantIntRanges>":$operands), [{}],
      [{ return ::attn::inferIntegerRange($_op, operands); }]>,
  ];
}

#endif // ATTN_DIALECT_SCOREOPINTERFACE_TD
