// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/EmbeddedData.h"

using namespace attn;

std::optional<llvm::StringRef> attn::findEmbeddedFile(llvm::StringRef path) {
  for (const EmbeddedFile &file : embeddedFiles()) {
    if (file.path == path) {
      return file.text;
    }
  }
  return std::nullopt;
}

llvm::SmallVector<EmbeddedFile>
attn::listEmbeddedFiles(llvm::StringRef folder) {
  llvm::SmallVector<EmbeddedFile> files;
  for (const EmbeddedFile &file : embeddedFiles()) {
    llvm::StringRef rest = file.path;
    if (rest.consume_front(folder) && rest.consume_front("/")) {
      files.push_back(file);
    }
  }
  return files;
}
