// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the expressions of a launch plan.

#ifndef ATTN_RUNTIME_LIB_EXPR_READER_H
#define ATTN_RUNTIME_LIB_EXPR_READER_H

#include "expr.h"
#include "json_reader.h"

#define RETURN_IF_FAILED(call)                                                 \
  if (Status status = (call)) {                                                \
    return status;                                                             \
  }

namespace attn::runtime {

/// Reads an expression whose names are in `symbols`.
Status readExpr(const JsonReader &json, const SymbolTable &symbols, Expr &out);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_EXPR_READER_H
