// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckList.h"
#include "ArgumentNames.h"

using namespace mlir;
using namespace attn;

void CheckList::requireValue(Attribute expr, int64_t value,
                             const Twine &message) {
  auto text = StringAttr::get(expr.getContext(), message);
  checks.push_back(LaunchCheck{expr, value, text}.toAttr());
}

void CheckList::requireBlocksOfSums(int64_t rowsOfBlock) {
  requireValue(apply(LaunchOp::Mod, names::rows, rowsOfBlock), 0,
               "expected full blocks of " + Twine(rowsOfBlock) +
                   " rows of sums, got {sr} rows");
}

void CheckList::addTo(tile::KernelOp kernel) const {
  SmallVector<Attribute> all;
  if (auto given = kernel->getAttrOfType<ArrayAttr>(kChecksAttr)) {
    all.append(given.begin(), given.end());
  }
  all.append(checks);
  kernel->setDiscardableAttr(kChecksAttr,
                             ArrayAttr::get(kernel.getContext(), all));
}
