// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `attn` dialect: types, attributes and ops.
#ifndef ATTN_DIALECT_ATTN_H
#define ATTN_DIALECT_ATTN_H

#include "attn/support/mlir_pch.h"

#include "attn/dialect/AttnDialect.h.inc"
#include "attn/dialect/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/dialect/AttnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/dialect/AttnTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/dialect/AttnOps.h.inc"

#endif // ATTN_DIALECT_ATTN_H
