// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_ATTNDIALECT_TD
#define ATTN_DIALECT_ATTNDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "Attention on tensors, and the attributes that say how it is mapped";
  let description = [{
    Level L0: attention as an op on whole tensors with run-time shapes, its
    score and mask regions and their captures. Also the home of the
    attributes that later levels carry: `#attn.problem` (what is computed),
    `#attn.config` (the shape of one CTA's work) and `#attn.schedule` (who does
    which step, in what order, how deep). No op of this dialect mentions
    threads, memory spaces or a chip.

    A kernel that a pass has shaped by a knob has `attn.consumed`, a dictionary
    from the names of such knobs to the values used. Its verifier refuses a
    `config`, `schedule` or `problem` with other values.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // ATTN_DIALECT_ATTNDIALECT_TD
