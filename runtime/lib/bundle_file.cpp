// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles on disk: whole-file read, and a write that is never half seen.

#include "attn/runtime/bundle.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace attn::runtime;

static bool fail(const char *what, const std::string &path, std::string &err) {
  err = std::string("bundle: cannot ") + what + " '" + path +
        "': " + std::strerror(errno);
  return false;
}

static bool writeAll(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t done = ::write(fd, data, size);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    data += done;
    size -= size_t(done);
  }
  return true;
}

static bool readAll(int fd, std::vector<char> &out) {
  char buffer[1 << 16];
  while (true) {
    ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return got == 0;
    }
    out.insert(out.end(), buffer, buffer + got);
  }
}

/// A name beside `path` that no other writer uses.
static std::string temporaryName(const std::string &path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp." + std::to_string(::getpid()) + "." +
         std::to_string(counter++);
}

bool attn::runtime::writeBundleFile(const Bundle &bundle,
                                    const std::string &path, std::string &err) {
  std::vector<char> image = writeBundle(bundle);
  std::string temporary = temporaryName(path);
  int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) {
    return fail("create a temporary file beside", path, err);
  }
  bool good = writeAll(fd, image.data(), image.size()) && ::fsync(fd) == 0;
  good = (::close(fd) == 0) && good;
  if (good && ::rename(temporary.c_str(), path.c_str()) == 0) {
    return true;
  }
  fail("write", path, err);
  ::unlink(temporary.c_str());
  return false;
}

bool attn::runtime::readBundleFile(const std::string &path, Bundle &bundle,
                                   std::string &err) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail("open", path, err);
  }
  std::vector<char> image;
  bool good = readAll(fd, image);
  if (!good) {
    fail("read", path, err);
  }
  ::close(fd);
  return good && readBundle(image.data(), image.size(), bundle, err);
}
