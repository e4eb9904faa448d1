// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile dialect, its layout attribute and its types.
#ifndef ATTN_DIALECT_TILETYPES_TD
#define ATTN_DIALECT_TILETYPES_TD

include "attn/dialect/ScheduleAttrs.td"
include "attn/dialect/TileEnums.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attn::tile";
  let summary = "One CTA's attention program: named steps on tile values";
  let description = [{
    Level L1. A tile is a ranked tensor of static shape; elementwise work is upstream
    `arith` and `math`. A kernel is one `tile.work` region of `tile.step`s round
    one `tile.for` over the streamed dimension. Nothing here mentions memory
    spaces, roles, barriers or a chip: that is said by `#attn.schedule`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::attn::AttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect"];
}

def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "reduce_kind"> {
  let assemblyFormat = "$value";
}
class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}
def Tile_LayoutAttr : Tile_Attr<"Layout", "layout"> {
  let summary = "how the elements of a tile lie in the registers of a warpgroup";
  let description = [{
    `atom` repeated `repeats` times along the columns. `slice` = 1 is a row
    vector: the layout with its columns dropped, each row held by all
    lanes that hold a part of the row.
  }];
  let parameters = (ins EnumParameter<Tile_Atom>:$atom, "int64_t":$repeats,
    DefaultValuedParameter<"int64_t", "0">:$slice);
  let assemblyFormat = "`<` struct(params) `>`";
}

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def Tile_WorkType : Tile_Type<"Work", "work"> {
  let summary = "a work item: which rows of Q, which head, which batch";
}

#endif // ATTN_DIALECT_TILETYPES_TD
