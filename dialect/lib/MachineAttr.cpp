// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accessors and checks of #attn.machine.
#include "attn/dialect/Attn.h"

using namespace mlir;
using namespace attn;

static SpaceInfoAttr findIn(ArrayRef<SpaceInfoAttr> spaces, Space space) {
  for (SpaceInfoAttr info : spaces) {
    if (info.getName() == space) {
      return info;
    }
  }
  return {};
}

SpaceInfoAttr MachineAttr::findSpace(Space space) const {
  return findIn(getSpaces(), space);
}

int64_t MachineAttr::getRegisterCount() const {
  return findSpace(Space::Reg).getCapacity();
}

int64_t MachineAttr::getSmemLimit() const {
  SpaceInfoAttr smem = findSpace(Space::Smem);
  return smem ? smem.getCapacity() * smem.getUnit() : 0;
}

LogicalResult MachineAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringAttr name, StringAttr chip,
                                  ArrayRef<SpaceInfoAttr> spaces,
                                  MmaInfoAttr mma, RegisterInfoAttr registers,
                                  BarrierInfoAttr barriers, WarpInfoAttr warps,
                                  TileInfoAttr tiles,
                                  ArrayRef<Mechanism> lacks) {
  for (auto [i, info] : llvm::enumerate(spaces)) {
    if (findIn(spaces.take_front(i), info.getName())) {
      return emitError() << "expected space '" << stringifySpace(info.getName())
                         << "' once, got it twice";
    }
    if (info.getCapacity() < 1 || info.getUnit() < 1) {
      return emitError() << "expected capacity and unit of space '"
                         << stringifySpace(info.getName())
                         << "' to be positive, got " << info.getCapacity()
                         << " and " << info.getUnit();
    }
  }
  auto checkSpace = [&](StringRef what, Space space) -> LogicalResult {
    if (findIn(spaces, space)) {
      return success();
    }
    return emitError() << "expected " << what << " of 'mma' in a space of the "
                       << "machine, got '" << stringifySpace(space) << "'";
  };
  LogicalResult result = checkSpace("the accumulator", mma.getAccumulator());
  for (Space space : mma.getA()) {
    result = failure(failed(result) || failed(checkSpace("operand a", space)));
  }
  for (Space space : mma.getB()) {
    result = failure(failed(result) || failed(checkSpace("operand b", space)));
  }
  if (failed(result)) {
    return failure();
  }
  if (!findIn(spaces, Space::Reg)) {
    return emitError() << "expected a space 'reg', got none";
  }
  if (registers.getGranule() < 1 || warps.getLanes() < 1 ||
      warps.getGroup() < 1 || warps.getMost() < 1) {
    return emitError() << "expected 'registers' and 'warps' to be positive, "
                          "got registers in granules of "
                       << registers.getGranule() << ", " << warps.getLanes()
                       << " lanes, groups of " << warps.getGroup() << " and "
                       << warps.getMost() << " warps";
  }
  if (tiles && (tiles.getRows() < 1 || tiles.getColumns() < 1 ||
                tiles.getDepth() < 1 || tiles.getCopied() < 1)) {
    return emitError() << "expected 'tiles' to be positive, got "
                       << tiles.getRows() << " rows, " << tiles.getColumns()
                       << " columns, a depth of " << tiles.getDepth() << " and "
                       << tiles.getCopied() << " copied rows";
  }
  return success();
}
