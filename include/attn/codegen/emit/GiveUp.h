// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilations ahead of need, which are given up when the program ends.
#ifndef ATTN_CODEGEN_EMIT_GIVEUP_H
#define ATTN_CODEGEN_EMIT_GIVEUP_H

namespace attn::codegen {

/// As long as it lives, its thread compiles ahead of need.
class CompilesAhead {
public:
  CompilesAhead();
  ~CompilesAhead();
  CompilesAhead(const CompilesAhead &) = delete;
  CompilesAhead &operator=(const CompilesAhead &) = delete;
};

/// Makes the compilations ahead of need fail soon, now and later: their
/// assemblers are killed, and no other starts.
void giveUpAhead();

/// Whether the compilation of this thread is given up.
bool isGivenUp();

} // namespace attn::codegen

#endif // ATTN_CODEGEN_EMIT_GIVEUP_H
