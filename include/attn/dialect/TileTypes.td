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
    `arith` and `math`. A kernel is one `tile.work` of `tile.step`s and one `tile.for`
    over the streamed dimension. Memory spaces, roles and barriers are not in the ops: they
    come from `#attn.schedule`. Tiles have no layout until `attn-resolve-layouts` gives each
    a `#tile.layout`, whose atoms belong to a chip.
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
    `atom` repeated `repeats` times along the columns. `slice`: 0 for a tile; 1 for a vector
    with one element per row, the layout without its columns (dimension 1); 2 for a vector
    with one element per column, the layout without its rows (dimension 0). Every thread that
    holds elements of a row or column also holds the vector's element for it.

    **Constraints**
    - C1: `repeats` is at least 1
    - C2: `slice` is 0, 1 or 2
    - C3: a vector has the atom `wgmma_acc`
    - C4: a vector without columns has 1 repeat
  }];
  let parameters = (ins EnumParameter<Tile_Atom>:$atom, "int64_t":$repeats,
    DefaultValuedParameter<"int64_t", "0">:$slice);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The shape of a tile or vector with this layout.
    ::llvm::SmallVector<int64_t> getShape() const;
    /// The dimension of its tile that a vector lacks; none for a tile.
    std::optional<int64_t> getDroppedDim() const;
    /// The layout of a vector: this one without dimension `dim`.
    LayoutAttr without(int64_t dim) const;
    /// Elements that each thread holds.
    int64_t getElementsPerThread() const;
    /// The row (`dim` 0) or column (1) of a thread's element, counted among those of the thread.
    int64_t getIndexAlong(int64_t dim, int64_t element) const;
    /// The distance in the tile from the thread's first row or column to that of the element.
    int64_t getOffsetAlong(int64_t dim, int64_t element) const;
  }];
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_RangeAttr : AttrDef<Tile_Dialect, "Range"> {
  let attrName = "tile.part.Range";
  let summary = "one range of blocks; only #tile.ranges prints it";
  let parameters = (ins EnumParameter<Tile_RangeKind>:$kind,
    OptionalParameter<"std::optional<int64_t>">:$atMost);
}
def Tile_RangesAttr : Tile_Attr<"Ranges", "ranges"> {
  let summary = "the ranges of blocks that a loop runs over, in order";
  let description = [{
    ```
    ranges := `<` (`down` | `up`) `[` range (`,` range)* `]` `>`
    range  := (`masked` | `full` | `skipped`) [`at_most` n]
    ```
    With bounds b0, b1, ... range r has the blocks b[r] - 1 down to b[r + 1] (`down`), or
    b[r] up to b[r + 1] - 1 (`up`). The blocks of a masked range run all steps, those of a
    full range may leave out the masked ones, and those of a skipped range run none.
    `at_most`: the largest number of blocks that the range has for any item.
    `attn-verify-ranges` proves this and the order of the bounds.

    **Constraints**
    - C1: at least one range
    - C2: `at_most` is at least 0

    **Example** `#tile.ranges<down [masked at_most 1, full]>`
  }];
  let parameters = (ins EnumParameter<Tile_Direction>:$direction,
    ArrayRefParameter<"::attn::tile::RangeAttr">:$list);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getList().size(); }
    RangeAttr operator[](size_t index) const { return getList()[index]; }
    bool isDown() const { return getDirection() == Direction::Down; }
  }];
}

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}
def Tile_WorkType : Tile_Type<"Work", "work"> {
  let summary = "a work item: which rows of Q, which head, which batch";
}

//===----------------------------------------------------------------------===//
// Types of operands and results. After `attn-distribute` a tile is a vector: the share that a thread holds.
//===----------------------------------------------------------------------===//

class Tile_RankOf<int rank, string text> : Type<
    And<[IsRankedTensorTypePred, HasAnyRankOfPred<[rank]>]>, text, "::mlir::RankedTensorType">;
class Tile_ElementsOf<Type type, list<string> tests, string elements> : Type<
    And<[type.predicate, Or<!foreach(test, tests,
      CPred<"::mlir::getElementTypeOrSelf($_self)." # test # "()">)>]>,
    type.summary # " of " # elements, type.cppType>;

def Tile_Tile : Tile_RankOf<2, "tile of rank 2">;
def Tile_Row : Tile_RankOf<1, "vector of rank 1">;
def Tile_HalfTile : Tile_ElementsOf<Tile_Tile, ["isBF16", "isF16"], "bf16 or f16">;
def Tile_F32Tile : Tile_ElementsOf<Tile_Tile, ["isF32"], "f32">;
def Tile_TileOrShare : AnyTypeOf<[Tile_Tile, AnyVectorOfNonZeroRank], "tile of rank 2 or a thread's share">;
def Tile_RowOrShare : AnyTypeOf<[Tile_Row, AnyVectorOfNonZeroRank], "vector of rank 1 or a thread's share">;
def Tile_F32TileOrShare : Tile_ElementsOf<Tile_TileOrShare, ["isF32"], "f32">;

// Tensors in memory: (batch, head, position) in any order, then the dim; and parts before them.
class Tile_MemoryOf<list<int> ranks, string text> : Type<
    And<[IsRankedTensorTypePred, HasAnyRankOfPred<ranks>,
         CPred<"!::mlir::ShapedType::isDynamic(::llvm::cast<::mlir::ShapedType>($_self).getShape().back())">]>,
    text # " with a static last dimension", "::mlir::RankedTensorType">;
def Tile_Memory : Tile_MemoryOf<[4], "tensor of rank 4">;
def Tile_MemoryOrParts : Tile_MemoryOf<[4, 5], "tensor of rank 4, or 5 with parts,">;
def Tile_RowMemory : Type<
    And<[IsRankedTensorTypePred, HasAnyRankOfPred<[3]>]>, "tensor of rank 3", "::mlir::RankedTensorType">;
def Tile_RowMemoryOrParts : Type<
    And<[IsRankedTensorTypePred, HasAnyRankOfPred<[3, 4]>]>, "tensor of rank 3, or 4 with parts",
    "::mlir::RankedTensorType">;

def Tile_Scalar : AnyTypeOf<[AnySignlessIntegerOrIndex, AnyFloat], "number">;
def Tile_I32OrTile : AnyTypeOf<[I32, RankedTensorOf<[I32]>, VectorOfNonZeroRankOf<[I32]>],
  "i32, or a tile or a thread's share of them">;
def Tile_F32OrTile : AnyTypeOf<[F32, RankedTensorOf<[F32]>], "f32 or a tile of them">;
def Tile_JoinedValue : AnyTypeOf<[StaticShapeTensorOf<[F32]>, VectorOfNonZeroRankOf<[F32]>],
  "tile of f32 or a thread's share">;
// Values that steps pass on: loops carry tiles and numbers, and a step may compute the work item.
def Tile_CarriedValue : AnyTypeOf<[AnyRankedTensor, Tile_Scalar], "tile or number">;
def Tile_StepValue : AnyTypeOf<[AnyRankedTensor, Tile_Scalar, Tile_WorkType], "tile, number or work item">;
def Tile_AnyValue : AnyTypeOf<[AnyRankedTensor, AnyVectorOfNonZeroRank, Tile_Scalar, Tile_WorkType],
  "tile or a thread's share, number or work item">;

#endif // ATTN_DIALECT_TILETYPES_TD
