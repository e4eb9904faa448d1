// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "read_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

bool attn::run::readFile(const std::string &path, std::string &text,
                         std::string &err) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  text.clear();
  char buffer[1 << 16];
  while (size_t got = file ? std::fread(buffer, 1, sizeof(buffer), file) : 0) {
    text.append(buffer, got);
  }
  bool isRead = file && !std::ferror(file);
  if (!isRead) {
    err = "cannot read '" + path + "': " + std::strerror(errno);
  }
  if (file) {
    std::fclose(file);
  }
  return isRead;
}
