// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "device.h"

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
  }
}

void attn::runtime::setLogCallback(attn_log_callback callback, void *user) {
  std::lock_guard<std::mutex> lock(sink().mutex);
  sink().callback = callback;
  sink().user = user;
}
