// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled bundles on disk, shared by processes.
//
// An entry is the file KEY.attn. It appears atomically (temporary file, fsync,
// rename), and is checked whenever it is read: owner, permissions, key, digest.
// An entry that fails a check counts as absent. The process that makes an entry
// holds a lock on KEY.lock, which the system releases however the process ends.
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

/// The right to make one entry. It is released on destruction.
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

  /// Closes the file without removing it.
  void abandon();

private:
  int descriptor = -1;
  std::string path;
};

/// Returns the reason why a file of the cache cannot be trusted, or "". Its
/// owner must be one of `owners`, and no one else may be able to write to it.
std::string distrust(const llvm::sys::fs::file_status &file,
                     llvm::ArrayRef<uint32_t> owners);

class DiskCache {
public:
  /// Called for each entry or directory that is not used, with the reason.
  using Report = llvm::function_ref<void(const std::string &message)>;

  /// Without directories: finds nothing and keeps nothing.
  DiskCache() = default;

  /// Searches the folder `build` of each of `readonlyDirs`, then of `dir` (or
  /// ""), which is created for its owner only.
  DiskCache(llvm::ArrayRef<std::string> readonlyDirs, llvm::StringRef dir,
            llvm::StringRef build, Report report);

  std::optional<std::string> lookup(const CacheKey &key, Report refused) const;

  /// Waits for the right to make the entry of `key`. Returns no lock if there
  /// is no writable directory, or after `patience`. The threads of one process
  /// do not exclude each other: they must not ask for the same key at once.
  EntryLock lockEntry(const CacheKey &key,
                      std::chrono::milliseconds patience) const;

  /// Writes an entry; the caller holds its lock.
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
