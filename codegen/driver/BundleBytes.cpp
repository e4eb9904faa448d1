// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BundleBytes.h"
#include "attn/runtime/bundle.h"

using namespace mlir;
using namespace attn;

std::string attn::objectOf(gpu::BinaryOp binary,
                           gpu::CompilationTarget format) {
  for (Attribute attribute : binary.getObjects()) {
    auto object = cast<gpu::ObjectAttr>(attribute);
    if (object.getFormat() == format) {
      return object.getObject().getValue().str();
    }
  }
  return "";
}

std::string attn::bundleBytes(std::string plan, gpu::BinaryOp binary) {
  attn::runtime::Bundle bundle;
  bundle.plan = std::move(plan);
  if (binary) {
    bundle.ptx = objectOf(binary, gpu::CompilationTarget::Assembly);
    std::string cubin = objectOf(binary, gpu::CompilationTarget::Binary);
    bundle.cubin.assign(cubin.begin(), cubin.end());
  }
  std::vector<char> bytes = attn::runtime::writeBundle(bundle);
  return std::string(bytes.begin(), bytes.end());
}
