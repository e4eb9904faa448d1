// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace attn::runtime;

namespace {
struct Sink {
  std::mutex mutex;
  attn_log_callback callback = nullptr;
  void *user = nullptr;
};

/// Never destroyed: other threads may log while the process exits.
Sink &sink() {
  static Sink *instance = new Sink;
  return *instance;
}

/// Selects the messages that go to standard error while there is no callback.
class Fallback {
public:
  Fallback() {
    const char *level = std::getenv("ATTN_LOG");
    info = level && std::strcmp(level, "info") == 0;
    warnings = info || (level && std::strcmp(level, "warning") == 0);
  }

  void write(attn_log_level level, const std::string &message) const {
    bool warning = level == ATTN_LOG_WARNING;
    if (warning ? warnings : info) {
      std::fprintf(stderr, "attn: %s%s\n", warning ? "warning: " : "",
                   message.c_str());
    }
  }

private:
  bool info, warnings;
};
} // namespace

void attn::runtime::logMessage(attn_log_level level,
                               const std::string &message) {
  attn_log_callback callback;
  void *user;
  {
    std::lock_guard<std::mutex> lock(sink().mutex);
    callback = sink().callback;
    user = sink().user;
  }
  if (callback) {
    callback(level, message.c_str(), user);
    return;
  }
  static const Fallback fallback;
  fallback.write(level, message);
}

void attn::runtime::setLogCallback(attn_log_callback callback, void *user) {
  std::lock_guard<std::mutex> lock(sink().mutex);
  sink().callback = callback;
  sink().user = user;
}
