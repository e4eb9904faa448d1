// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Loss.h"
#include "ResourceReport.h"

using namespace mlir;
using namespace attn;

int64_t attn::countSpilledBytes(DictionaryAttr report) {
  int64_t count = 0;
  for (StringRef name : {"spill_stores", "spill_loads"}) {
    auto bytes = report.getAs<IntegerAttr>(name);
    count += bytes ? bytes.getInt() : 0;
  }
  return count;
}

Loss Loss::of(ModuleOp module) {
  Loss loss;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    loss.serialized += countSerialized(binary);
    forEachAssembly(binary, [&](StringRef, DictionaryAttr report) {
      loss.spilledBytes += countSpilledBytes(report);
    });
  }
  return loss;
}

std::string Loss::describe() const {
  return llvm::formatv("{0} bytes of spills and {1} warnings C75xx",
                       spilledBytes, serialized);
}
