// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npy.h"

#include "read_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

using namespace attn::run;

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr size_t kMagicSize = 6;
/// Magic, version, and the length of the header.
static constexpr size_t kPrefix = kMagicSize + 2 + 2;

/// "(3, 4)", "(3,)".
static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Returns the text after `key` in a header, up to one of `ends`.
static std::string valueOf(const std::string &header, const std::string &key,
                           char end) {
  size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) {
    return "";
  }
  at = header.find_first_not_of(' ', at + key.size() + 3);
  size_t stop = header.find(end, at + 1);
  return stop == std::string::npos ? "" : header.substr(at, stop + 1 - at);
}

bool attn::run::readNpy(const std::string &path, const std::string &npy,
                        const std::vector<int64_t> &shape, uint8_t *out,
                        size_t bytes, std::string &err) {
  std::string content;
  if (!readFile(path, content, err)) {
    return false;
  }
  size_t header =
      content.size() < kPrefix
          ? 0
          : size_t(uint8_t(content[8])) + 256 * size_t(uint8_t(content[9]));
  if (header == 0 || content.compare(0, kMagicSize, kMagic) != 0 ||
      content[kMagicSize] != 1 || content.size() < kPrefix + header) {
    err = "'" + path + "': expected a .npy file of version 1";
    return false;
  }
  std::string fields = content.substr(kPrefix, header);
  auto require = [&](const std::string &what, const std::string &want,
                     const std::string &got) {
    if (want != got && err.empty()) {
      err = "'" + path + "': expected " + what + " " + want + ", got " +
            (got.empty() ? "none" : got);
    }
  };
  require("type", "'" + npy + "'", valueOf(fields, "descr", '\''));
  require("order", "False,", valueOf(fields, "fortran_order", ','));
  require("shape", shapeText(shape), valueOf(fields, "shape", ')'));
  require("bytes", std::to_string(bytes),
          std::to_string(content.size() - kPrefix - header));
  if (err.empty()) {
    std::memcpy(out, content.data() + kPrefix + header, bytes);
  }
  return err.empty();
}

bool attn::run::writeNpy(const std::string &path, const std::string &npy,
                         const std::vector<int64_t> &shape, const uint8_t *data,
                         size_t bytes, std::string &err) {
  std::string header =
      "{'descr': '" + npy +
      "', 'fortran_order': False, 'shape': " + shapeText(shape) + ", }";
  constexpr size_t alignment = 64;
  size_t used = kPrefix + header.size() + 1;
  header.append((alignment - used % alignment) % alignment, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write(kMagic, kMagicSize);
  const char prefix[4] = {1, 0, char(header.size() % 256),
                          char(header.size() / 256)};
  file.write(prefix, sizeof(prefix));
  file << header;
  file.write(reinterpret_cast<const char *>(data), std::streamsize(bytes));
  file.close();
  if (!file) {
    err = "cannot write '" + path + "': " + std::strerror(errno);
  }
  return bool(file);
}
