// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON file of --launch: how to launch a PTX kernel, and the expected
// outputs. docs/simulator.md documents the keys.

#ifndef ATTN_TOOLS_ATTN_RUN_LAUNCH_FILE_H
#define ATTN_TOOLS_ATTN_RUN_LAUNCH_FILE_H

#include "element_type.h"

#include "attn/runtime/internal/status.h"
#include "trace/recorder.h"
#include "units/tensor_map.h"

namespace attn::run {

/// The source of a buffer's values.
struct Values {
  enum class Kind { Zeros, Iota, Poison, Constant, Random, File };
  Kind kind = Kind::Zeros;
  double constant = 0;
  uint64_t seed = 0;
  std::string file;
};

struct BufferSpec {
  std::string name;
  const ElementType *type = nullptr;
  std::vector<int64_t> shape;
  Values fill;
  std::string path; // the location in the file, for messages

  int64_t elementCount() const;
  uint64_t byteCount() const { return uint64_t(elementCount()) * type->bytes; }
};

/// A kernel's parameter, or a field of one.
struct ParamSpec {
  enum class Kind { Scalar, Buffer, TensorMap, Bytes, Struct };
  Kind kind = Kind::Scalar;
  /// For Scalar and Bytes.
  std::vector<uint8_t> bytes;
  /// For Buffer and TensorMap: the index of the buffer, and a byte offset in
  /// it.
  size_t buffer = 0;
  uint64_t offset = 0;
  /// Without the address.
  sim::TensorMap map;
  /// For Struct: the fields with their offsets.
  std::vector<std::pair<uint64_t, ParamSpec>> fields;
  std::string path;
};

struct OutputSpec {
  size_t buffer = 0;
  bool isChecked = false;
  Values expect;
  double absolute = 0;
  double relative = 0;
  std::string dump; // a .npy file, or empty
  std::string path;
};

struct LaunchSpec {
  std::string kernel; // empty for the module's only one
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {1, 1, 1};
  uint32_t shared = 0;
  std::vector<BufferSpec> buffers;
  std::vector<ParamSpec> params;
  std::vector<OutputSpec> outputs;
  std::vector<sim::TraceRole> roles;
};

/// Reads a launch file's text and checks all of it. Errors name the key.
runtime::Status parseLaunchFile(const std::string &text, LaunchSpec &launch);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_LAUNCH_FILE_H
