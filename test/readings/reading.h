// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a replica of a role does with shared memory and barriers, one line a
// token, in words that judged schedules and emitted programs share. Barriers
// are numbered in order of first occurrence.
#ifndef ATTN_TEST_READINGS_READING_H
#define ATTN_TEST_READINGS_READING_H

#include "attn/dialect/Tile.h"
#include "attn/dialect/Ws.h"
#include "attn/passes/schedule/TokenPrograms.h"
#include <map>

namespace attn::readings {

/// The work items of a CTA: blocks in each range of the loop.
using Items = llvm::SmallVector<llvm::SmallVector<int64_t, 3>>;

/// By replica: "wg[1] of CTA 0".
using Reading = std::map<std::string, std::vector<std::string>>;

/// Reads a scheduled kernel before attn-subtile, as attn-verify-schedule does.
mlir::FailureOr<Reading> readJudged(tile::KernelOp kernel, const Items &items);

/// Reads an emitted kernel, as attn-verify-sync does.
mlir::FailureOr<Reading> readEmitted(ws::KernelOp kernel, const Items &items);

/// The tokens of all replicas. `agents`: their indices in `programs`, by name.
/// `describe` spells what a token of an instance does with data; empty if there
/// is nothing to compare.
Reading
writeLines(const TokenPrograms &programs,
           const std::map<std::string, int> &agents,
           llvm::function_ref<std::string(int, const Token &)> describe);

} // namespace attn::readings

#endif // ATTN_TEST_READINGS_READING_H
