// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/umma_check.h"

#include "core/cta.h"
#include "units/umma.h"

using namespace attn::sim;

/// A swizzle pattern that does not begin at a multiple of its size needs a base
/// offset; K steps within a row do not move it.
static bool startsWithinRows(const MatrixDescriptor &descriptor) {
  uint32_t span = swizzleSpan(descriptor.swizzle);
  uint32_t rows = swizzlePeriod(descriptor.swizzle) - span;
  return span != 0 && (descriptor.start & rows) != 0;
}

bool UmmaOperandCheck::decode(uint64_t bits, const char *name,
                              MatrixDescriptor &descriptor) {
  const std::string what = std::string("descriptor of ") + name + ": ";
  std::string problem = decodeUmmaDescriptor(bits, descriptor);
  if (problem.empty() && startsWithinRows(descriptor)) {
    problem = "the start " + toHex(descriptor.start) +
              " is within the rows of a swizzle pattern of " +
              std::to_string(swizzlePeriod(descriptor.swizzle)) +
              " bytes, which takes a base offset";
  }
  if (problem.empty()) {
    return true;
  }
  warp.fault(Rule::UmmaDescriptor, what + problem, lane);
  return false;
}

bool UmmaOperandCheck::checkBounds(const char *name, size_t first) {
  for (size_t i = first; i < chunks.size(); ++i) {
    if (!warp.cta.shared(warp.cta.ownAddress(chunks[i]), 16)) {
      warp.fault(Rule::UmmaBounds,
                 std::string("descriptor of ") + name +
                     ": its 16 bytes at shared address " + toHex(chunks[i]) +
                     " are outside shared memory",
                 lane);
      return false;
    }
  }
  return true;
}

bool UmmaOperandCheck::run(uint64_t bits, const char *name,
                           MatrixOperand &operand) {
  if (!decode(bits, name, operand.descriptor)) {
    return false;
  }
  std::string problem = checkUmmaSwizzle(operand.type, operand.mnMajor,
                                         operand.descriptor.swizzle);
  if (!problem.empty()) {
    warp.fault(Rule::UmmaDescriptor,
               std::string("descriptor of ") + name + ": " + problem, lane);
    return false;
  }
  size_t first = chunks.size();
  forEachChunk(operand, ummaChunkAddress,
               [&](uint32_t address) { chunks.push_back(address); });
  return checkBounds(name, first);
}
