// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole file as text.

#ifndef ATTN_TOOLS_ATTN_RUN_READ_FILE_H
#define ATTN_TOOLS_ATTN_RUN_READ_FILE_H

#include <string>

namespace attn::run {

/// Returns false with the reason in `err` if the file cannot be opened or read.
/// (A folder can be opened, but not read.)
bool readFile(const std::string &path, std::string &text, std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_READ_FILE_H
