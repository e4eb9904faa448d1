// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sm90.h"
#include "BlindColumns.h"
#include "Patterns.h"
#include "SmemTile.h"
#include "attn/codegen/target/Sm90.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
using attn::tile::Atom;
using attn::tile::LayoutAttr;

namespace {
constexpr int64_t atomRows = 64;
constexpr int64_t atomColumns = 8;
constexpr int64_t operandColumns = 16;
} // namespace

static LogicalResult checkRows(int64_t rows, Chip::Error error) {
  if (rows == atomRows) {
    return success();
  }
  return error() << "expected " << atomRows << " rows a warpgroup, got "
                 << rows;
}

static LogicalResult checkColumns(int64_t columns, Chip::Error error) {
  if (columns % atomColumns == 0) {
    return success();
  }
  return error() << "expected a multiple of " << atomColumns << " columns, got "
                 << columns;
}

FailureOr<LayoutAttr> Sm90::accumulatorLayout(RankedTensorType tile,
                                              Error error) const {
  if (failed(checkRows(tile.getDimSize(0), error)) ||
      failed(checkColumns(tile.getDimSize(1), error))) {
    return failure();
  }
  return LayoutAttr::get(tile.getContext(), Atom::WgmmaAcc,
                         tile.getDimSize(1) / atomColumns, /*slice=*/0);
}

FailureOr<LayoutAttr> Sm90::vectorLayout(RankedTensorType vector, int64_t dim,
                                         Error error) const {
  int64_t size = vector.getDimSize(0);
  if (failed(dim == 1 ? checkRows(size, error) : checkColumns(size, error))) {
    return failure();
  }
  int64_t repeats = dim == 1 ? 1 : size / atomColumns;
  return LayoutAttr::get(vector.getContext(), Atom::WgmmaAcc, repeats,
                         /*slice=*/0)
      .without(dim);
}

FailureOr<LayoutAttr> Sm90::operandLayout(RankedTensorType tile,
                                          Error error) const {
  if (tile.getElementTypeBitWidth() != 16 ||
      tile.getDimSize(1) % operandColumns != 0) {
    return error() << tile << " to layout " << tile::stringifyAtom(Atom::WgmmaA)
                   << ", which holds 16-bit elements in multiples of "
                   << operandColumns << " columns";
  }
  return LayoutAttr::get(tile.getContext(), Atom::WgmmaA,
                         tile.getDimSize(1) / operandColumns, /*slice=*/0);
}

void Sm90::setRegisters(const Arithmetic &emit, int64_t registers,
                        int64_t launched) const {
  auto action = registers > launched ? NVVM::SetMaxRegisterAction::increase
                                     : NVVM::SetMaxRegisterAction::decrease;
  NVVM::SetMaxRegisterOp::create(emit.builder, emit.loc, registers, action);
}

std::optional<int64_t> Sm90::registersSetBy(Operation *op) const {
  auto set = dyn_cast<NVVM::SetMaxRegisterOp>(op);
  return set ? std::optional<int64_t>(set.getRegCount()) : std::nullopt;
}

bool Sm90::waitsForProducts(Operation *op) const {
  return isa<nvx::WgmmaWaitOp>(op);
}

CopyBox Sm90::copyBox(RankedTensorType type, int64_t tensorColumns,
                      int64_t ctas) const {
  sm90::SmemTile tile(type);
  sm90::SmemTile::Copy copy = tile.copyOf(tensorColumns, ctas);
  return {copy.rows, tile.panelColumns(), copy.panels,
          tile.isOneCopy(tensorColumns), tile.spanBytes()};
}

void Sm90::markTileOps(ws::RoleOp role) const { sm90::markBlindColumns(role); }

void Sm90::populateTilePatterns(RewritePatternSet &patterns,
                                const TypeConverter &types, ws::KernelOp kernel,
                                ws::RoleOp role) const {
  sm90::populateTilePatterns(patterns, types, role);
  sm90::populateSharedElementPatterns(patterns, types);
  sm90::populateExp2Patterns(patterns, types, kernel);
}

void Sm90::populateInstructionPatterns(RewritePatternSet &patterns,
                                       const TypeConverter &types,
                                       const ParamValues &params) const {
  sm90::populateCopyPatterns(patterns, types, params);
  sm90::populatePutPatterns(patterns, types);
  sm90::populateRegisterTilePatterns(patterns, types, params);
  sm90::populateSumPatterns(patterns, types, params);
  sm90::populateMmaPatterns(patterns, types);
}

void Sm90::populateCompletionPatterns(RewritePatternSet &patterns,
                                      RoleSync &sync) const {
  sm90::populateCompletionPatterns(patterns, sync);
}

void codegen::registerSm90(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, tile::TileDialect *dialect) {
    static const Sm90 chip;
    auto *chips =
        dialect->getRegisteredInterface(ChipInterface::getInterfaceID());
    static_cast<ChipInterface *>(chips)->add(&chip);
  });
}
