// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a replica of a role does with shared memory and barriers, a line each,
// in words that the judge and the emitted program have in common. Barriers are
// numbered as they first occur.
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

/// Of a scheduled kernel before attn-subtile, by the judge of schedules.
mlir::FailureOr<Reading> readJudged(tile::KernelOp kernel, const Items &items);

/// Of the kernel that was emitted, by attn-verify-sync.
mlir::FailureOr<Reading> readEmitted(ws::KernelOp kernel, const Items &items);

/// The tokens of all replicas. `agents`: their places in `programs`, by name.
/// `describe` says what a token of an instance does with data; empty: nothing
/// to compare.
Reading
writeLines(const TokenPrograms &programs,
           const std::map<std::string, int> &agents,
           llvm::function_ref<std::string(int, const Token &)> describe);

} // namespace attn::readings

#endif // ATTN_TEST_READINGS_READING_H
