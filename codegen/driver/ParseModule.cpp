// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads modules. MLIR's parser recurses for every level of nesting, and
// overflows the stack at some thousand levels: such text is refused before.
#include "attn/codegen/driver/Compiler.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace attn;

/// More than any stage prints.
static constexpr unsigned kMaxNesting = 256;

/// Returns the end of the string or comment that begins at `at`, or `at`.
static size_t skipOpaque(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//")) {
    return std::min(text.find('\n', at), text.size());
  }
  if (text[at] != '"') {
    return at;
  }
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
    at += text[at] == '\\';
  }
  return std::min(at + 1, text.size());
}

/// Whether `<` or `>` is part of an arrow or a comparison.
static bool isOperator(StringRef text, size_t at) {
  return text.substr(at + 1).starts_with("=") ||
         (text[at] == '>' && text.take_front(at).ends_with("-"));
}

/// Returns the largest number of open brackets. Unpaired ones do not matter:
/// text that contains them is not a module.
static unsigned nestingOf(StringRef text) {
  unsigned depth = 0, deepest = 0;
  for (size_t at = 0; at < text.size();) {
    if (size_t end = skipOpaque(text, at); end != at) {
      at = end;
      continue;
    }
    char c = text[at];
    bool isBracket = !StringRef("<>").contains(c) || !isOperator(text, at);
    if (StringRef("({[<").contains(c) && isBracket) {
      deepest = std::max(deepest, ++depth);
    } else if (StringRef(")}]>").contains(c) && isBracket) {
      depth -= depth > 0;
    }
    ++at;
  }
  return deepest;
}

OwningOpRef<ModuleOp> attn::parseModule(MLIRContext &context, StringRef source,
                                        StringRef name) {
  bool isText = !isBytecode(llvm::MemoryBufferRef(source, name));
  unsigned nesting = isText ? nestingOf(source) : 0;
  if (nesting > kMaxNesting) {
    emitError(FileLineColLoc::get(&context, name, 1, 1))
        << "expected at most " << kMaxNesting
        << " brackets within each other, got " << nesting;
    return {};
  }
  return parseSourceString<ModuleOp>(source, ParserConfig(&context), name);
}

OwningOpRef<ModuleOp> attn::readModule(MLIRContext &context, StringRef path) {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &problem);
  if (!file) {
    emitError(UnknownLoc::get(&context)) << problem;
    return {};
  }
  return parseModule(context, file->getBuffer(), file->getBufferIdentifier());
}
