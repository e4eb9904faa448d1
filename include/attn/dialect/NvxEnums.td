// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_NVXENUMS_TD
#define ATTN_DIALECT_NVXENUMS_TD

include "mlir/IR/EnumAttr.td"

def Nvx_ElementType : I32Enum<"ElementType",
    "element type of the operands of a matrix instruction", [
      I32EnumCase<"BF16", 0, "bf16">,
      I32EnumCase<"F16", 1, "f16">,
      I32EnumCase<"E4M3", 2, "e4m3">,
      I32EnumCase<"E5M2", 3, "e5m2">]> {
  let cppNamespace = "::attn::nvx";
}

#endif // ATTN_DIALECT_NVXENUMS_TD
