// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks whether a wgmma descriptor describes a matrix in shared memory.

#ifndef ATTN_SIM_HAZARDS_OPERAND_CHECK_H
#define ATTN_SIM_HAZARDS_OPERAND_CHECK_H

#include <string>

namespace attn::sim {

class Warp;
struct MatrixOperand;

/// Checks the descriptor `bits` of operand "A" or "B" and stores it in
/// `operand`. Reports errors; returns false if execution does not continue.
bool checkOperand(Warp &warp, uint64_t bits, const char *name,
                  MatrixOperand &operand);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_OPERAND_CHECK_H
