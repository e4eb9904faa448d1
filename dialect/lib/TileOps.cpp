// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/dialect/Tile.h"

using namespace mlir;
using namespace attn::tile;

LogicalResult KernelOp::verifyRegions() { return success(); }
LogicalResult WorkOp::verify() { return success(); }
LogicalResult StepOp::verifyRegions() { return success(); }
LogicalResult BoundsOp::verifyRegions() { return success(); }
LogicalResult ForOp::verifyRegions() { return success(); }
LogicalResult LoadOp::verify() { return success(); }
LogicalResult StoreOp::verify() { return success(); }
LogicalResult StoreRowOp::verify() { return success(); }
LogicalResult MmaOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult CoordsOp::verify() { return success(); }
LogicalResult GatherOp::verify() { return success(); }
