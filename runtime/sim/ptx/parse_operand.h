// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of instructions, with limited nesting.

#ifndef ATTN_SIM_PTX_PARSE_OPERAND_H
#define ATTN_SIM_PTX_PARSE_OPERAND_H

#include "ptx/token_stream.h"

namespace attn::sim::ptx {

/// Parses one operand; false after reporting an error.
bool parseOperand(TokenStream &tokens, Operand &operand);

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_PARSE_OPERAND_H
