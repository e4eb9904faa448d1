// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/operand_check.h"

#include "core/cta.h"

#include <algorithm>

using namespace attn::sim;

namespace {

/// The bytes of eight rows of a swizzle pattern, or of eight 16-byte chunks.
uint32_t patternBytes(const MatrixOperand &operand) {
  return 8 * std::max(swizzleSpan(operand.descriptor.swizzle), 16u);
}

/// A swizzle pattern that does not begin at a multiple of its size needs a base
/// offset; K steps within a row do not change it.
bool startsWithinRows(const MatrixOperand &operand) {
  uint32_t span = swizzleSpan(operand.descriptor.swizzle);
  uint32_t rows = patternBytes(operand) - span;
  return span != 0 && (operand.descriptor.start & rows) != 0;
}

/// Returns the extent of the operand in patterns along its rows, and along K.
void countPatterns(const MatrixOperand &operand, uint32_t &alongRows,
                   uint32_t &alongK) {
  uint32_t width = std::max(swizzleSpan(operand.descriptor.swizzle), 16u);
  uint32_t bytes = operand.rows * matrixTypeBytes(operand.type);
  uint32_t k = wgmmaK(operand.type);
  alongRows = operand.mnMajor ? bytes / width : operand.rows / 8;
  alongK = operand.mnMajor ? k / 8 : 32 / width;
}

/// Layout and swizzle decide which of the two offsets steps along rows.
struct Steps {
  uint32_t rows;
  uint32_t k;
};

Steps findSteps(const MatrixOperand &operand) {
  const MatrixDescriptor &d = operand.descriptor;
  bool leadingIsRows = operand.mnMajor && d.swizzle != Swizzle::None;
  return leadingIsRows ? Steps{d.leadingOffset, d.strideOffset}
                       : Steps{d.strideOffset, d.leadingOffset};
}

/// The last byte, give or take a pattern that swizzling stays within.
uint64_t findReach(const MatrixOperand &operand) {
  uint32_t alongRows = 0;
  uint32_t alongK = 0;
  countPatterns(operand, alongRows, alongK);
  Steps steps = findSteps(operand);
  return operand.descriptor.start + 2 * uint64_t(patternBytes(operand)) +
         uint64_t(std::max(alongRows, 1u) - 1) * steps.rows +
         uint64_t(std::max(alongK, 1u) - 1) * steps.k;
}

/// Returns a chunk outside shared memory, or 0. Descriptors contain offsets in
/// the CTA itself, whatever its rank in the cluster.
uint32_t findOutside(Cta &cta, const MatrixOperand &operand) {
  uint64_t reach = findReach(operand);
  uint32_t start = operand.descriptor.start;
  if (reach <= UINT32_MAX &&
      cta.shared(cta.ownAddress(start), uint32_t(reach - start))) {
    return 0;
  }
  uint32_t outside = 0;
  forEachChunk(operand, chunkAddress, [&](uint32_t address) {
    outside = outside == 0 && !cta.shared(cta.ownAddress(address), 16)
                  ? address
                  : outside;
  });
  return outside;
}

} // namespace

static bool checkSteps(Warp &warp, const std::string &name,
                       const MatrixOperand &operand) {
  uint32_t alongRows = 0;
  uint32_t alongK = 0;
  countPatterns(operand, alongRows, alongK);
  Steps steps = findSteps(operand);
  uint32_t least = patternBytes(operand);
  bool rows = alongRows > 1 && steps.rows < least;
  if (!rows && (alongK < 2 || steps.k >= least)) {
    return true;
  }
  return warp.report(Rule::WgmmaOverlap,
                     name + ": a step of " +
                         std::to_string(rows ? steps.rows : steps.k) +
                         " bytes along " + (rows ? "rows" : "K") +
                         " over patterns of " + std::to_string(least));
}

bool attn::sim::checkOperand(Warp &warp, uint64_t bits, const char *name,
                             MatrixOperand &operand) {
  const std::string what = std::string("descriptor of ") + name;
  OperandStatus status = decodeDescriptor(bits, operand.descriptor);
  if (status != OperandStatus::Ok) {
    warp.fault(Rule::WgmmaDescriptor, what + ": " + describe(status));
    return false;
  }
  if (startsWithinRows(operand)) {
    warp.fault(Rule::WgmmaDescriptor,
               what + ": the start " + toHex(operand.descriptor.start) +
                   " is within the rows of a swizzle pattern of " +
                   std::to_string(patternBytes(operand)) +
                   " bytes, which takes a base offset");
    return false;
  }
  if (uint32_t outside = findOutside(warp.cta, operand)) {
    warp.fault(Rule::WgmmaBounds, what + ": its 16 bytes at shared address " +
                                      toHex(outside) +
                                      " are outside shared memory");
    return false;
  }
  return checkSteps(warp, what, operand);
}
