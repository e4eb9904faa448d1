// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bundle: one checksummed file that holds a launch plan and its kernels.
//
// Layout, little endian:
//   header   magic "ATTNBNDL", u32 version, u32 section count, u64 file size,
//            u64 checksum of the section table
//   table    per section: u32 kind, u32 zero, u64 offset, u64 size,
//            u64 checksum
//   sections in table order, each at the next multiple of 16 bytes; every
//            padding byte is zero
// Checksums are 64-bit FNV-1a. The same bundle always gives the same bytes.

#ifndef ATTN_RUNTIME_BUNDLE_H
#define ATTN_RUNTIME_BUNDLE_H

#include <cstddef>
#include <string>
#include <vector>

namespace attn::runtime {

/// A compiled artifact. An empty `ptx` or `cubin` means that there is none; a
/// bundle always has a plan.
struct Bundle {
  /// The launch plan, JSON text.
  std::string plan;
  /// PTX text, without a terminating zero.
  std::string ptx;
  /// The machine code of the kernels for the plan's target.
  std::vector<char> cubin;
};

/// Returns the file image of `bundle`.
std::vector<char> writeBundle(const Bundle &bundle);

/// Reads the `size` bytes at `data`, which may be arbitrary. On failure returns
/// false and sets `err` to the wrong field, with the expected and the actual
/// value; `bundle` is then unchanged.
bool readBundle(const void *data, std::size_t size, Bundle &bundle,
                std::string &err);

/// Writes `bundle` to `path` atomically, so that a reader sees either the old
/// or the new file: temporary file in the same folder, fsync, rename.
bool writeBundleFile(const Bundle &bundle, const std::string &path,
                     std::string &err);

/// Why no bundle was read: because of the file, or of its content.
enum class BundleFault { None, File, Content };

/// Reads the bundle in the regular file `path`, which may have up to
/// kMaxBundleFileSize bytes. On failure sets `err`; `bundle` is then unchanged.
BundleFault readBundleFile(const std::string &path, Bundle &bundle,
                           std::string &err);

constexpr std::size_t kMaxBundleFileSize = std::size_t(256) << 20;

} // namespace attn::runtime

#endif // ATTN_RUNTIME_BUNDLE_H
