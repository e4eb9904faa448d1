// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `nvx` dialect: types, attributes and ops.
#ifndef ATTN_DIALECT_NVX_H
#define ATTN_DIALECT_NVX_H

#include "attn/support/mlir_pch.h"

#include "attn/dialect/NvxDialect.h.inc"
#include "attn/dialect/NvxEnums.h.inc"

#define GET_OP_CLASSES
#include "attn/dialect/NvxOps.h.inc"

#endif // ATTN_DIALECT_NVX_H
