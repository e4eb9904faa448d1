// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Function bodies.

#ifndef ATTN_SIM_PTX_PARSE_BODY_H
#define ATTN_SIM_PTX_PARSE_BODY_H

#include "ptx/token_stream.h"

namespace attn::sim::ptx {

/// Parses "{ ... }" of `function`; false after reporting an error.
bool parseBody(TokenStream &tokens, Function &function);

} // namespace attn::sim::ptx

#endif // ATTN_SIM_PTX_PARSE_BODY_H
