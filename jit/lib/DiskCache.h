// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled things on disk, shared by processes.
//
// An entry is the file KEY.attn. It appears there whole (temporary file, fsync,
// rename), and is checked whenever it is read: owner, permissions, key, digest.
// What does not pass is as good as absent. Who makes an entry holds a lock on
// KEY.lock meanwhile, which the system releases however the process ends.
#ifndef ATTN_JIT_DISKCACHE_H
#define ATTN_JIT_DISKCACHE_H

#include "CacheKey.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <optional>
#include <vector>

namespace attn::jit {

/// The right to make one entry. Released when destroyed.
class EntryLock {
public:
  EntryLock() = default;
  EntryLock(int descriptor, std::string path)
      : descriptor(descriptor), path(std::move(path)) {}
  EntryLock(EntryLock &&other) { *this = std::move(other); }
  EntryLock &operator=(EntryLock &&other) {
    std::swap(descriptor, other.descriptor);
    std::swap(path, other.path);
    return *this;
  }
  ~EntryLock();

  explicit operator bool() const { return descriptor >= 0; }

  /// Closes the file and leaves it where it is.
  void abandon();

private:
  int descriptor = -1;
  std::string path;
};

/// Why a file of the cache is not to be trusted; "" if it is. Its owner has to
/// be one of `owners`, and nobody else may be able to write to it.
std::string distrust(const llvm::sys::fs::file_status &file,
                     llvm::ArrayRef<uint32_t> owners);

class DiskCache {
public:
  /// Told of each entry or directory that is not used, and why.
  using Report = llvm::function_ref<void(const std::string &message)>;

  /// No directories: finds nothing and keeps nothing.
  DiskCache() = default;

  /// Looks in the folder `build` of each of `readonlyDirs`, then of `dir` (""
  /// for none), which is created, for its owner alone.
  DiskCache(llvm::ArrayRef<std::string> readonlyDirs, llvm::StringRef dir,
            llvm::StringRef build, Report report);

  std::optional<std::string> lookup(const CacheKey &key, Report refused) const;

  /// Waits for the right to make the entry of `key`. No lock if there is
  /// nowhere to write, or after `patience`. The threads of one process do not
  /// exclude each other: they must not ask for the same key at once.
  EntryLock lockEntry(const CacheKey &key,
                      std::chrono::milliseconds patience) const;

  /// Makes an entry, with its lock held.
  llvm::Error publish(const CacheKey &key, llvm::StringRef payload) const;

  bool isWritable() const { return !writable.empty(); }

private:
  struct Folder {
    std::string path;
    std::vector<uint32_t> owners;
  };

  std::vector<Folder> folders;
  std::string writable; // the last of them, or ""
};

} // namespace attn::jit

#endif // ATTN_JIT_DISKCACHE_H
