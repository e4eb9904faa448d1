// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers that vary between launches of a kernel: sizes and integer
// arguments.
#ifndef ATTN_PASSES_MIDDLE_LAUNCHNUMBERS_H
#define ATTN_PASSES_MIDDLE_LAUNCHNUMBERS_H

#include "attn/dialect/Ws.h"

namespace attn {

class LaunchNumbers {
public:
  struct Number {
    std::string name;
    int64_t least, most;
    bool isFixed() const { return least == most; }
  };

  /// If one argument has a static size, all sizes with its name are static.
  explicit LaunchNumbers(ws::KernelOp kernel);

  std::optional<unsigned> find(llvm::StringRef name) const;
  /// Returns the index of `value`, or nothing if it is neither a size nor an
  /// argument.
  std::optional<unsigned> find(mlir::Value value) const;

  const Number &operator[](unsigned number) const { return list[number]; }
  unsigned size() const { return list.size(); }

private:
  void add(llvm::StringRef name, int64_t least, int64_t most);

  mlir::Block *body;
  ArgumentsAttr args;
  std::vector<Number> list;
};

} // namespace attn

#endif // ATTN_PASSES_MIDDLE_LAUNCHNUMBERS_H
