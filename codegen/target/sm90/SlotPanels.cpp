// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The panels of slots of which products read shares of columns: a share has to
// begin with a panel, or within one that has several shares.
#include "Sm90.h"
#include "SmemTile.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::codegen::sm90::SmemTile;

/// Gives all slots of `channel` with tiles of type `from` tiles of type `to`.
static void retype(ws::KernelOp kernel, FlatSymbolRefAttr channel,
                   RankedTensorType from, RankedTensorType to) {
  auto old = ws::SlotType::get(kernel.getContext(), channel, from);
  auto changed = ws::SlotType::get(kernel.getContext(), channel, to);
  auto retypeAll = [&](ValueRange values) {
    for (Value value : values) {
      if (value.getType() == old) {
        value.setType(changed);
      }
    }
  };
  kernel.walk([&](Operation *op) {
    retypeAll(op->getResults());
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        retypeAll(block.getArguments());
      }
    }
  });
  auto declared = kernel.lookupSymbol<ws::ChannelOp>(channel);
  auto types = llvm::map_to_vector(
      declared.getTypes(), [&](Attribute type) -> Attribute {
        return type == TypeAttr::get(from) ? TypeAttr::get(to) : type;
      });
  declared.setTypesAttr(ArrayAttr::get(kernel.getContext(), types));
}

void Sm90::layOutSlots(ws::KernelOp kernel) const {
  SmallVector<ws::MmaOp> readers;
  kernel.walk([&](ws::MmaOp op) {
    if (op.getColumns() && isa<VectorType>(op.getResult().getType())) {
      readers.push_back(op);
    }
  });
  for (ws::MmaOp op : readers) {
    ws::SlotType slot = op.getB().getType();
    RankedTensorType tile = slot.getTile();
    int64_t share =
        2 * cast<VectorType>(op.getResult().getType()).getNumElements();
    int64_t panel = SmemTile(tile).panelColumns();
    if (share % panel != 0 && panel % share != 0) {
      auto ends =
          IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), share);
      retype(
          kernel, slot.getChannel(), tile,
          RankedTensorType::get(tile.getShape(), tile.getElementType(), ends));
    }
  }
}
