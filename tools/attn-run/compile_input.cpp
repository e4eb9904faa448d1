// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compile_input.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

using namespace attn::run;

namespace {
using CompileFile = int (*)(const char *path, const char *target,
                            const char *schedulePath, bool gradients,
                            bool instrument, const char *outPath, char *err,
                            size_t errSize);
} // namespace

/// Returns the folder of this executable, or "." if the system does not know
/// it.
static std::string executableFolder() {
  char path[4096];
  ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string text(path, size > 0 ? size_t(size) : 0);
  size_t slash = text.rfind('/');
  return slash == std::string::npos ? "." : text.substr(0, slash);
}

static CompileFile findCompiler(std::string &err) {
  std::string path = executableFolder() + "/../lib/libattn_jit.so";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    err = std::string("cannot load the compiler: ") + dlerror();
    return nullptr;
  }
  auto compile =
      reinterpret_cast<CompileFile>(dlsym(library, "attn_jit_compile_file"));
  if (!compile) {
    err = "cannot load the compiler: " + path + " has no attn_jit_compile_file";
  }
  return compile;
}

bool attn::run::compileInput(const Options &options, std::string &bundlePath,
                             std::string &err) {
  CompileFile compile = findCompiler(err);
  if (!compile) {
    return false;
  }
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/attn-XXXXXX";
  int fd = ::mkstemp(&path[0]);
  if (fd < 0) {
    err = "cannot create '" + path + "'";
    return false;
  }
  ::close(fd);
  char message[16384] = "";
  auto orNull = [](const std::string &text) {
    return text.empty() ? nullptr : text.c_str();
  };
  if (compile(options.input.c_str(), orNull(options.target),
              orNull(options.schedule), options.bwd, options.instrument,
              path.c_str(), message, sizeof(message)) != 0) {
    ::unlink(path.c_str());
    err = "compiling '" + options.input + "': " + message;
    return false;
  }
  bundlePath = path;
  return true;
}
