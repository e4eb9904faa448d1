// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles on disk: reads whole files, and writes files atomically.

#include "attn/runtime/bundle.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
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

/// Reads up to `out.size()` bytes, and shrinks `out` to the bytes read.
static bool readAll(int fd, std::vector<char> &out) {
  size_t size = 0;
  while (size < out.size()) {
    ssize_t got = ::read(fd, out.data() + size, out.size() - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      out.resize(size);
      return got == 0;
    }
    size += size_t(got);
  }
  return true;
}

static const char *describeKind(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISCHR(mode)  ? "a character device"
         : S_ISBLK(mode)  ? "a block device"
         : S_ISSOCK(mode) ? "a socket"
                          : "another kind of file";
}

/// A name next to `path` that no other writer uses.
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

/// Reads all of the open file `fd`.
static BundleFault readImage(int fd, const std::string &path,
                             std::vector<char> &image, std::string &err) {
  struct stat status;
  if (::fstat(fd, &status) != 0) {
    fail("read", path, err);
    return BundleFault::File;
  }
  if (!S_ISREG(status.st_mode)) {
    err = "bundle: expected '" + path + "' to be a regular file, got " +
          describeKind(status.st_mode);
    return BundleFault::File;
  }
  if (uint64_t(status.st_size) > kMaxBundleFileSize) {
    err = "bundle: expected the size of '" + path + "' to be at most " +
          std::to_string(kMaxBundleFileSize) + " bytes, got " +
          std::to_string(status.st_size);
    return BundleFault::Content;
  }
  image.resize(size_t(status.st_size));
  if (!readAll(fd, image)) {
    fail("read", path, err);
    return BundleFault::File;
  }
  return BundleFault::None;
}

BundleFault attn::runtime::readBundleFile(const std::string &path,
                                          Bundle &bundle, std::string &err) {
  // O_NONBLOCK: do not wait for the other end of a pipe.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    fail("open", path, err);
    return BundleFault::File;
  }
  std::vector<char> image;
  BundleFault fault = readImage(fd, path, image, err);
  ::close(fd);
  if (fault != BundleFault::None) {
    return fault;
  }
  return readBundle(image.data(), image.size(), bundle, err)
             ? BundleFault::None
             : BundleFault::Content;
}
