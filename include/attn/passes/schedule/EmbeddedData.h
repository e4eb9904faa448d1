// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of passes/schedule/data, embedded at build time.
#ifndef ATTN_PASSES_SCHEDULE_EMBEDDEDDATA_H
#define ATTN_PASSES_SCHEDULE_EMBEDDEDDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace attn {

struct EmbeddedFile {
  llvm::StringRef
      path; // path below passes/schedule/data: "machines/sm_90a.mlir"
  llvm::StringRef text; // followed by a zero byte
};

/// All files, sorted by path.
llvm::ArrayRef<EmbeddedFile> embeddedFiles();

/// The text of one file.
std::optional<llvm::StringRef> findEmbeddedFile(llvm::StringRef path);

/// Returns the files below `folder` ("machines"), including subfolders, sorted
/// by path.
llvm::SmallVector<EmbeddedFile> listEmbeddedFiles(llvm::StringRef folder);

} // namespace attn

#endif // ATTN_PASSES_SCHEDULE_EMBEDDEDDATA_H
