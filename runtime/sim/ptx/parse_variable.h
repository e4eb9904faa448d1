// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables and parameters. Each function returns false after reporting an
// error.

#ifndef ATTN_SIM_PTX_PARSE_VARIABLE_H
#define ATTN_SIM_PTX_PARSE_VARIABLE_H

#include "ptx/token_stream.h"

namespace attn::sim::ptx {

/// Whether a token names a state space that variables have.
bool isVariableSpace(const Token &token);

/// With its initializer, if it has one, and ";".
bool parseVariableToEnd(TokenStream &tokens, Variable &variable);

/// "(.param .b32 a, .param .b64 b)".
bool parseParams(TokenStream &tokens, std::vector<Variable> &params);

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_PARSE_VARIABLE_H
