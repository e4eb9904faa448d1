// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_CODEGEN_EMIT_LOSSES_H
#define ATTN_CODEGEN_EMIT_LOSSES_H

namespace attn::codegen {

/// The treatment of a kernel with spills or a warning C75xx (serialized
/// instructions, ignored setmaxnreg): an error, a warning, or nothing. The
/// properties of the cubin count them in any case.
enum class Losses { Refuse, Warn, Accept };

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_LOSSES_H
