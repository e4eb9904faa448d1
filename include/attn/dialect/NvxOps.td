// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level L3: the few instructions that upstream's nvvm dialect cannot say.
#ifndef ATTN_DIALECT_NVXOPS_TD
#define ATTN_DIALECT_NVXOPS_TD

include "attn/dialect/NvxEnums.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nvx_Dialect : Dialect {
  let name = "nvx";
  let cppNamespace = "::attn::nvx";
  let summary = "Instructions of NVIDIA GPUs that upstream nvvm lacks";
}

#endif // ATTN_DIALECT_NVXOPS_TD
