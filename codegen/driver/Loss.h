// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The losses that the assembler reports: spilled registers and serialized
// instructions.
#ifndef ATTN_CODEGEN_DRIVER_LOSS_H
#define ATTN_CODEGEN_DRIVER_LOSS_H

#include "attn/support/mlir_pch.h"

namespace attn {

/// The losses in some kernels. Spilled bytes count both where they are stored
/// and where they are loaded.
struct Loss {
  int64_t serialized = 0, spilledBytes = 0;

  static Loss of(mlir::ModuleOp module);
  bool any() const { return serialized != 0 || spilledBytes != 0; }
  bool operator<(const Loss &other) const {
    return std::tuple(serialized, spilledBytes) <
           std::tuple(other.serialized, other.spilledBytes);
  }
  std::string describe() const;
};

/// Returns the spilled bytes that the assembler reports of a kernel.
int64_t countSpilledBytes(mlir::DictionaryAttr report);

} // namespace attn

#endif // ATTN_CODEGEN_DRIVER_LOSS_H
