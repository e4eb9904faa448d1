// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/QueryRows.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;

std::optional<int64_t> QueryRows::sizeOf(ArgumentRole role,
                                         bool ofHeads) const {
  std::optional<unsigned> argument = args.find(role);
  if (!argument) {
    return std::nullopt;
  }
  bool headsFirst = problem.getLayout() == LayoutKind::BHSD;
  auto type = cast<RankedTensorType>(types[*argument]);
  int64_t size = type.getDimSize(headsFirst == ofHeads ? 1 : 2);
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

std::optional<int64_t> QueryRows::ofHead() const {
  std::optional<int64_t> positions =
      sizeOf(ArgumentRole::Query, /*ofHeads=*/false);
  if (!positions) {
    return std::nullopt;
  }
  return *positions * AccessMap::rowsOfPosition(config.getPackGqa());
}

int64_t QueryRows::inTile() const {
  return std::min(ofHead().value_or(config.getTileM()), config.getTileM());
}

bool QueryRows::areInOneItem() const {
  std::optional<int64_t> rows = ofHead();
  if (problem.getKind() != KernelKind::Fwd || !rows ||
      *rows > config.getTileM()) {
    return false;
  }
  if (config.getPackGqa() > 1) {
    return true;
  }
  std::optional<int64_t> heads = sizeOf(ArgumentRole::Query, true);
  return heads && heads == sizeOf(ArgumentRole::Key, true);
}
