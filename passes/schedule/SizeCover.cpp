// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/passes/schedule/SizeCover.h"

using namespace mlir;
using namespace attn;

StaticSizes StaticSizes::of(AttentionOp op) {
  StaticSizes sizes;
  auto note = [](std::optional<int64_t> &size, Value tensor, unsigned dim) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dim)) {
      size = type.getDimSize(dim);
    }
  };
  unsigned position = op.getPositionDim(), heads = op.getHeadsDim();
  for (Value tensor :
       {op.getQuery(), op.getKey(), op.getValue(), op.getOut(), op.getLse()}) {
    note(sizes.batch, tensor, 0);
  }
  for (Value tensor : {op.getQuery(), op.getOut()}) {
    note(sizes.seqlenQ, tensor, position);
    note(sizes.heads, tensor, heads);
  }
  for (Value tensor : {op.getKey(), op.getValue()}) {
    note(sizes.seqlenK, tensor, position);
    note(sizes.keyHeads, tensor, heads);
  }
  note(sizes.heads, op.getLse(), 1);
  note(sizes.seqlenQ, op.getLse(), 2);
  return sizes;
}

SizeCover::SizeCover(const StaticSizes &sizes) {
  Box all;
  auto fix = [&](LaunchSize size, std::optional<int64_t> value) {
    if (value) {
      all[static_cast<size_t>(size)] = {*value, *value};
    }
  };
  fix(LaunchSize::SeqlenQ, sizes.seqlenQ);
  fix(LaunchSize::SeqlenK, sizes.seqlenK);
  if (sizes.batch && sizes.heads && sizes.seqlenQ) {
    int64_t heads, rows;
    if (!llvm::MulOverflow(*sizes.batch, *sizes.heads, heads) &&
        !llvm::MulOverflow(heads, *sizes.seqlenQ, rows)) {
      fix(LaunchSize::Rows, rows);
    }
  }
  left.push_back(all);
}

std::optional<SizeCover::Box> SizeCover::intersect(Box box,
                                                   ConditionAttr condition) {
  for (BoundAttr bound :
       condition ? condition.getBounds() : ArrayRef<BoundAttr>()) {
    Range &range = box[static_cast<size_t>(bound.getSize())];
    if (bound.getSide() == BoundSide::AtMost) {
      range.most = std::min(range.most, bound.getValue());
    } else if (bound.getValue() >= range.least) {
      if (bound.getValue() >= range.most) {
        return std::nullopt;
      }
      range.least = bound.getValue() + 1;
    }
    if (range.least > range.most) {
      return std::nullopt;
    }
  }
  return box;
}

void SizeCover::addOutside(Box box, const Box &hole) {
  for (auto [range, inner] : llvm::zip(box, hole)) {
    Range whole = range;
    if (whole.least < inner.least) {
      range = {whole.least, inner.least - 1};
      left.push_back(box);
    }
    if (inner.most < whole.most) {
      range = {inner.most + 1, whole.most};
      left.push_back(box);
    }
    range = inner;
  }
}

bool SizeCover::take(ConditionAttr condition) {
  SmallVector<Box> before = std::exchange(left, {});
  bool taken = false;
  for (const Box &box : before) {
    std::optional<Box> hole = intersect(box, condition);
    if (!hole) {
      left.push_back(box);
      continue;
    }
    taken = true;
    addOutside(box, *hole);
  }
  return taken;
}
