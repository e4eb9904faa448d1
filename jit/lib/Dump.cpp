// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dump.h"
#include "attn/runtime/bundle.h"
#include "attn/runtime/internal/for_compiler.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::jit;
using llvm::StringRef;

static void warn(const std::string &path, std::error_code error) {
  std::string message = "cannot write '" + path + "': " + error.message();
  attn_internal_log(ATTN_LOG_WARNING, message.c_str());
}

Dump::Dump(StringRef folder, const CacheKey &key,
           std::optional<size_t> variant) {
  if (folder.empty()) {
    return;
  }
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    warn(folder.str(), error);
    return;
  }
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(
      path, key.toHex() + (variant ? "." + std::to_string(*variant) : ""));
  stem = path.str().str();
}

void Dump::write(StringRef suffix, StringRef bytes) const {
  if (stem.empty() || bytes.empty()) {
    return;
  }
  std::string path = stem + suffix.str();
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error) {
    warn(path, error);
  }
}

void Dump::writeInput(const Request &request) const {
  write(".mlir", request.ir);
  write(".schedule.mlir", request.schedule.value_or(""));
}

void Dump::writeOutput(StringRef bytes) const {
  runtime::Bundle bundle;
  std::string error;
  if (stem.empty() ||
      !runtime::readBundle(bytes.data(), bytes.size(), bundle, error)) {
    return;
  }
  write(".json", bundle.plan);
  write(".ptx", bundle.ptx);
  write(".cubin", StringRef(bundle.cubin.data(), bundle.cubin.size()));
}
