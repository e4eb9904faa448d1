// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON lines for programs that read attn-run's results.

#ifndef ATTN_TOOLS_ATTN_RUN_REPORT_H
#define ATTN_TOOLS_ATTN_RUN_REPORT_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace attn::run {

/// One JSON object under construction.
class JsonLine {
public:
  JsonLine &add(const char *key, const std::string &value);
  JsonLine &add(const char *key, const char *value);
  /// Infinities and NaNs, which JSON lacks, become null.
  JsonLine &add(const char *key, double value);
  JsonLine &add(const char *key, int64_t value);
  JsonLine &add(const char *key, uint64_t value);
  JsonLine &add(const char *key, bool value);
  std::string finish() const { return "{" + body + "}"; }

private:
  JsonLine &addRaw(const char *key, const std::string &value);
  std::string body;
};

/// The file of --json, or none.
class JsonFile {
public:
  JsonFile() = default;
  JsonFile(const JsonFile &) = delete;
  ~JsonFile();
  bool open(const std::string &path, std::string &err);
  void write(const JsonLine &line);

private:
  std::FILE *file = nullptr;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_REPORT_H
