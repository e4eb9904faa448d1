// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.h"

#include <cerrno>
#include <cmath>
#include <cstring>

using namespace attn::run;

static std::string jsonString(const std::string &value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", unsigned(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

JsonLine &JsonLine::addRaw(const char *key, const std::string &value) {
  body += (body.empty() ? "" : ",") + jsonString(key) + ":" + value;
  return *this;
}

JsonLine &JsonLine::add(const char *key, const std::string &value) {
  return addRaw(key, jsonString(value));
}

JsonLine &JsonLine::add(const char *key, const char *value) {
  return addRaw(key, jsonString(value));
}

JsonLine &JsonLine::add(const char *key, double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return addRaw(key, std::isfinite(value) ? text : "null");
}

JsonLine &JsonLine::add(const char *key, int64_t value) {
  return addRaw(key, std::to_string(value));
}

JsonLine &JsonLine::add(const char *key, uint64_t value) {
  return addRaw(key, std::to_string(value));
}

JsonLine &JsonLine::add(const char *key, bool value) {
  return addRaw(key, value ? "true" : "false");
}

JsonFile::~JsonFile() {
  if (file) {
    std::fclose(file);
  }
}

bool JsonFile::open(const std::string &path, std::string &err) {
  file = std::fopen(path.c_str(), "w");
  if (!file) {
    err =
        "option '--json': cannot open '" + path + "': " + std::strerror(errno);
  }
  return file != nullptr;
}

void JsonFile::write(const JsonLine &line) {
  if (file) {
    std::fprintf(file, "%s\n", line.finish().c_str());
    std::fflush(file);
  }
}
