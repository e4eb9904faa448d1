// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the input and the outputs of a compilation to files, for inspection.
#ifndef ATTN_JIT_DUMP_H
#define ATTN_JIT_DUMP_H

#include "Request.h"

namespace attn::jit {

/// Writes KEY.mlir, KEY.schedule.mlir, KEY.json (the plan), KEY.ptx and
/// KEY.cubin; of a variant that is compiled alone KEY.N.json and so on. A file
/// that cannot be written is a warning.
class Dump {
public:
  /// An empty `folder` disables writing.
  Dump(llvm::StringRef folder, const CacheKey &key,
       std::optional<size_t> variant = std::nullopt);

  void writeInput(const Request &request) const;
  void writeOutput(llvm::StringRef bundle) const;

private:
  void write(llvm::StringRef suffix, llvm::StringRef bytes) const;

  std::string stem; // "": none
};

} // namespace attn::jit

#endif // ATTN_JIT_DUMP_H
