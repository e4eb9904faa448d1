// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DiskCache.h"
#include "CacheEntry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace attn::jit;
namespace fs = llvm::sys::fs;

/// Permissions for the owner only.
static const unsigned kPrivate = fs::owner_read | fs::owner_write;

static std::string inFolder(StringRef folder, const Twine &name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static std::string entryPath(StringRef folder, const CacheKey &key) {
  return inFolder(folder, key.toHex() + ".attn");
}

std::string attn::jit::distrust(const fs::file_status &file,
                                ArrayRef<uint32_t> owners) {
  if (!is_contained(owners, file.getUser())) {
    return "it belongs to user " + std::to_string(file.getUser());
  }
  if (file.permissions() & (fs::group_write | fs::others_write)) {
    return "others than its owner may write to it";
  }
  return "";
}

EntryLock::~EntryLock() {
  if (descriptor >= 0) {
    // Removes the file before releasing the lock: a process that waits for the
    // lock then sees that its file is no longer the one at `path`.
    (void)fs::remove(path);
    abandon();
  }
}

void EntryLock::abandon() {
  (void)sys::Process::SafelyCloseFileDescriptor(descriptor);
  descriptor = -1;
}

/// Creates the folder if necessary; returns "" if it cannot be used for
/// writing.
static std::string makeFolder(StringRef path) {
  if (std::error_code error = fs::create_directories(
          path, /*IgnoreExisting=*/true, fs::owner_all)) {
    return "it cannot be created: " + error.message();
  }
  fs::file_status status;
  if (std::error_code error = fs::status(path, status)) {
    return error.message();
  }
  return distrust(status, {uint32_t(::geteuid())});
}

DiskCache::DiskCache(ArrayRef<std::string> readonlyDirs, StringRef dir,
                     StringRef build, Report report) {
  // The user who named the directory trusts its owner.
  for (const std::string &path : readonlyDirs) {
    fs::file_status status;
    if (std::error_code error = fs::status(path, status)) {
      report("cache directory '" + path + "' is not used: " + error.message());
      continue;
    }
    folders.push_back(
        {inFolder(path, build), {0, uint32_t(::geteuid()), status.getUser()}});
  }
  if (dir.empty()) {
    return;
  }
  std::string folder = inFolder(dir, build);
  for (StringRef path : {dir, StringRef(folder)}) {
    if (std::string reason = makeFolder(path); !reason.empty()) {
      report("cache directory '" + path.str() + "' is not used: " + reason);
      return;
    }
  }
  folders.push_back({folder, {uint32_t(::geteuid())}});
  writable = folder;
}

/// Reads a file if it exists and can be trusted.
static Expected<std::optional<std::string>>
readTrusted(StringRef path, ArrayRef<uint32_t> owners) {
  // Does not wait for the other end of a pipe.
  fs::file_t file =
      ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    std::error_code error = errnoAsErrorCode();
    if (error == errc::no_such_file_or_directory) {
      return std::nullopt;
    }
    return errorCodeToError(error);
  }
  scope_exit close([&] { (void)fs::closeFile(file); });
  fs::file_status status;
  if (std::error_code error = fs::status(file, status)) {
    return errorCodeToError(error);
  }
  if (status.type() != fs::file_type::regular_file) {
    return createStringError("it is no regular file");
  }
  if (std::string reason = distrust(status, owners); !reason.empty()) {
    return createStringError(reason);
  }
  // Volatile: the file is read, not mapped. A mapped file that shrinks raises a
  // signal.
  auto buffer = MemoryBuffer::getOpenFile(file, path, /*FileSize=*/-1,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!buffer) {
    return errorCodeToError(buffer.getError());
  }
  return (*buffer)->getBuffer().str();
}

/// Returns the payload of an entry, if the entry exists.
static Expected<std::optional<std::string>>
readEntry(StringRef path, ArrayRef<uint32_t> owners, const CacheKey &key) {
  Expected<std::optional<std::string>> bytes = readTrusted(path, owners);
  if (!bytes || !*bytes) {
    return bytes;
  }
  Expected<StringRef> payload = decodeEntry(key, **bytes);
  if (!payload) {
    return payload.takeError();
  }
  return payload->str();
}

std::optional<std::string> DiskCache::lookup(const CacheKey &key,
                                             Report refused) const {
  for (const Folder &folder : folders) {
    std::string path = entryPath(folder.path, key);
    Expected<std::optional<std::string>> payload =
        readEntry(path, folder.owners, key);
    if (!payload) {
      refused("cache entry '" + path +
              "' is refused: " + toString(payload.takeError()));
    } else if (*payload) {
      return std::move(*payload);
    }
  }
  return std::nullopt;
}

/// Whether `path` is still the file behind `descriptor`.
static bool isSameFile(int descriptor, StringRef path) {
  fs::file_status open, there;
  return !fs::status(descriptor, open) && !fs::status(path, there) &&
         open.getUniqueID() == there.getUniqueID();
}

EntryLock DiskCache::lockEntry(const CacheKey &key,
                               std::chrono::milliseconds patience) const {
  if (!isWritable()) {
    return {};
  }
  std::string path = inFolder(writable, key.toHex() + ".lock");
  auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    int descriptor = -1;
    if (fs::openFileForReadWrite(path, descriptor, fs::CD_OpenAlways,
                                 fs::OF_None, kPrivate)) {
      return {};
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    // Unlike those of flock, these locks are not inherited by children: a child
    // that a framework forks meanwhile does not keep them.
    if (fs::tryLockFile(descriptor, std::max(left, left.zero()))) {
      (void)sys::Process::SafelyCloseFileDescriptor(descriptor);
      return {};
    }
    EntryLock lock(descriptor, path);
    if (isSameFile(descriptor, path)) {
      return lock;
    }
    lock.abandon();
  }
}

/// Writes all of `bytes` through to the disk.
static std::error_code writeThrough(int descriptor, StringRef bytes) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  stream << bytes;
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  if (!error && ::fsync(descriptor) != 0) {
    error = errnoAsErrorCode();
  }
  return error;
}

Error DiskCache::publish(const CacheKey &key, StringRef payload) const {
  std::string path = entryPath(writable, key);
  // One name is enough, since only one process has the lock. A file left by a
  // killed process is replaced.
  std::string temporary = inFolder(writable, key.toHex() + ".tmp");
  (void)fs::remove(temporary);
  int descriptor = -1;
  if (std::error_code error = fs::openFileForWrite(
          temporary, descriptor, fs::CD_CreateNew, fs::OF_None, kPrivate)) {
    return createFileError(temporary, error);
  }
  std::error_code error = writeThrough(descriptor, encodeEntry(key, payload));
  if (std::error_code failed =
          sys::Process::SafelyCloseFileDescriptor(descriptor);
      !error) {
    error = failed;
  }
  if (!error) {
    error = fs::rename(temporary, path);
  }
  if (error) {
    (void)fs::remove(temporary);
    return createFileError(path, error);
  }
  return Error::success();
}
