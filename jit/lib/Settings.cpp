// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Settings.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace attn::jit;

static constexpr StringLiteral kNames[] = {
    "cache_dir",   "cache_readonly_dirs", "disable_cache",
    "disable_jit", "max_compiles",        "dump_dir",
    "ptxas"};

static std::string defaultCacheDir() {
  SmallString<128> path;
  if (!sys::path::cache_directory(path)) {
    return "";
  }
  sys::path::append(path, "attn");
  return path.str().str();
}

static std::vector<std::string> splitPaths(StringRef value) {
  SmallVector<StringRef> parts;
  value.split(parts, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return {parts.begin(), parts.end()};
}

static Error wrong(StringRef name, const Twine &want, StringRef got) {
  return createStringError("expected '" + name + "' to be " + want + ", got '" +
                           got + "'");
}

static Error setFlag(StringRef name, StringRef value, bool &flag) {
  if (!value.empty() && value != "0" && value != "1") {
    return wrong(name, "0 or 1", value);
  }
  flag = value == "1";
  return Error::success();
}

static Error setLimit(StringRef name, StringRef value, uint64_t &limit) {
  uint64_t number = std::numeric_limits<uint64_t>::max();
  if (!value.empty() && value.getAsInteger(10, number)) {
    return wrong(name, "a number", value);
  }
  limit = number;
  return Error::success();
}

Error Settings::set(StringRef name, StringRef value) {
  if (name == "cache_dir") {
    cacheDir = value.empty() ? defaultCacheDir() : value.str();
  } else if (name == "cache_readonly_dirs") {
    readonlyCacheDirs = splitPaths(value);
  } else if (name == "disable_cache") {
    return setFlag(name, value, disableCache);
  } else if (name == "disable_jit") {
    return setFlag(name, value, disableJit);
  } else if (name == "max_compiles") {
    return setLimit(name, value, maxCompiles);
  } else if (name == "dump_dir") {
    dumpDir = value.str();
  } else if (name == "ptxas") {
    ptxas = value.str();
  } else {
    return wrong("name", "one of " + join(ArrayRef(kNames), ", "), name);
  }
  return Error::success();
}

Expected<Settings> Settings::fromEnvironment() {
  Settings settings;
  for (StringRef name : kNames) {
    std::string variable = "ATTN_" + name.upper();
    std::string value = sys::Process::GetEnv(variable).value_or("");
    if (Error error = settings.set(name, value)) {
      return createStringError(variable + ": " + toString(std::move(error)));
    }
  }
  return settings;
}
