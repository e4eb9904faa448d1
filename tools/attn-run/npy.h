// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// numpy's .npy files, little endian and row major.

#ifndef ATTN_TOOLS_ATTN_RUN_NPY_H
#define ATTN_TOOLS_ATTN_RUN_NPY_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn::run {

/// Reads the elements of `path` into `out`, which has `bytes` bytes. The file
/// must have type `npy` and `shape`.
bool readNpy(const std::string &path, const std::string &npy,
             const std::vector<int64_t> &shape, uint8_t *out, size_t bytes,
             std::string &err);

bool writeNpy(const std::string &path, const std::string &npy,
              const std::vector<int64_t> &shape, const uint8_t *data,
              size_t bytes, std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_NPY_H
