// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Chip.h"

using namespace mlir;
using namespace attn;

const Chip *ChipInterface::find(StringRef name) const {
  auto found = llvm::find_if(
      chips, [&](const Chip *chip) { return chip->getName() == name; });
  return found == chips.end() ? nullptr : *found;
}

const Chip *attn::findChip(MLIRContext *context, StringRef name) {
  auto *dialect = context->getLoadedDialect<tile::TileDialect>();
  return dialect->getRegisteredInterface<ChipInterface>()->find(name);
}
