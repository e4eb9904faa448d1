// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole file as text.

#ifndef ATTN_TOOLS_ATTN_RUN_READ_FILE_H
#define ATTN_TOOLS_ATTN_RUN_READ_FILE_H

#include <string>

namespace attn::run {

/// False, with `err` saying why, for what cannot be opened or read: a folder
/// can be opened.
bool readFile(const std::string &path, std::string &text, std::string &err);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_READ_FILE_H
