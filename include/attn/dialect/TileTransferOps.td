// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and additions of tiles and row vectors to memory.
#ifndef ATTN_DIALECT_TILETRANSFEROPS_TD
#define ATTN_DIALECT_TILETRANSFEROPS_TD

include "attn/dialect/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "loads a tile of a tensor, rows from `row` on; elements out of bounds are zero";
  let description = [{
    `map` is the access map: (batch, head, position, dim) to the tensor's
    dimensions. The rows of the tile are positions, its columns are dims. With packed heads,
    (b, h, i, c) -> (b, i floordiv m, h * n + i mod m, c), it has a row for each of n heads
    of each position, and m - n empty ones. With `part` the tensor has one more dimension, before the others:
    each part is a tensor of partial results for the same batches, heads and positions.
    With `grouped` the rows of the tensor are contiguous, and their elements are in the order in which warps hold them. Of each
    block of 64 rows, row r and column c are element c / 8 * 512 + r / 16 * 128 + r % 8 * 16 + c / 2 % 4 * 4 + r / 8 % 2 * 2 + c % 2: groups of
    16 rows and 8 columns, of which those of the same columns follow each other. The number of rows is a multiple of 64, and so is `row`.
    With `transposed(n)`, too, warps held transposed tiles of n rows each. Each group of 8 rows and 64 columns is 512 consecutive
    elements, of which row r and column c are element c / 16 * 128 + c % 8 * 16 + r / 2 * 4 + c / 8 % 2 * 2 + r % 2. Of the
    groups of n rows, those of the same columns follow each other. The number of rows is a multiple of n.

    **Constraints**
    - C1: the source has rank 4, or 5 with `part`, and a static last dimension
    - C2: `map` is a permutation of 4 dimensions that keeps the last one, or a map of packed
      heads, where n is at most 64 and m is n rounded up to a power of two
    - C3: the tile has rank 2, the source's element type, and at least as many columns as the
      head dim; after `attn-distribute` it is a vector, whose shape is not checked
    - C4: `grouped` only with f32 elements, a last dimension that is a multiple of 16 and, without `transposed`, a tile of a
      multiple of 64 rows
    - C5: `transposed` only with `grouped`, of a multiple of 16 rows, and with a last dimension that is a multiple of 64

    **Example**
    ```mlir
    %t = tile.load %x at(%batch, %head, %row) affine_map<(b, h, i, c) -> (b, i, h, c)>
        : tensor<?x?x?x64xbf16> -> tensor<128x64xbf16>
    ```
  }];
  let arguments = (ins Tile_MemoryOrParts:$source, I32:$batch, I32:$head, I32:$row,
    Optional<I32>:$part, AffineMapAttr:$map, UnitAttr:$grouped, OptionalAttr<I64Attr>:$transposed);
  let results = (outs Tile_TileOrShare:$tile);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)? $map (`grouped` $grouped^)?
    (`transposed` `(` $transposed^ `)`)? attr-dict
    `:` type($source) `->` type($tile)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$source,
    "::mlir::Value":$batch, "::mlir::Value":$head, "::mlir::Value":$row, "::mlir::AffineMap":$map), [{
    build($_builder, $_state, tile, source, batch, head, row, ::mlir::Value(), map, /*grouped=*/false, /*transposed=*/::mlir::IntegerAttr());
  }]>, OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$source,
    "::mlir::Value":$batch, "::mlir::Value":$head, "::mlir::Value":$row, "::mlir::AffineMapAttr":$map), [{
    build($_builder, $_state, tile, source, batch, head, row, ::mlir::Value(), map, ::mlir::UnitAttr(), ::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
}
def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>, AllElementTypesMatch<["tile", "dest"]>]> {
  let summary = "stores a tile; elements out of bounds are dropped";
  let description = [{
    **Constraints**
    - C1 to C3 of `tile.load`, for the destination

    **Example**
    ```mlir
    tile.store %o, %y at(%batch, %head, %row) #bshd : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
    ```
  }];
  let arguments = (ins Tile_Tile:$tile, Tile_Memory:$dest, I32:$batch, I32:$head,
    I32:$row, AffineMapAttr:$map);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row `)` $map attr-dict
    `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}
def Tile_StoreRowOp : Tile_Op<"store_row", [MemoryEffects<[MemWrite]>, AllElementTypesMatch<["tile", "dest"]>]> {
  let summary = "stores a row vector at (batch, head, row); rows out of bounds are dropped";
  let description = [{
    With `pack` n there is a row for each of n heads of each position, as in `tile.load`;
    `part` has the meaning that it has there.

    **Constraints**
    - C1: the row vector has rank 1, the destination rank 3, or 4 with `part`, with one
      element type
    - C2: `pack` is in 2..64

    **Example** `tile.store_row %l, %lse at(%batch, %head, %row) : tensor<64xf32>, tensor<?x?x?xf32>`
  }];
  let arguments = (ins Tile_RowOrShare:$tile, Tile_RowMemoryOrParts:$dest, I32:$batch, I32:$head, I32:$row,
    Optional<I32>:$part, OptionalAttr<I64Attr>:$pack);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)?
    (`pack` $pack^)? attr-dict `:` type($tile) `,` type($dest)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$tile, "::mlir::Value":$dest,
    "::mlir::Value":$batch, "::mlir::Value":$head, "::mlir::Value":$row,
    "::mlir::IntegerAttr":$pack), [{
    build($_builder, $_state, tile, dest, batch, head, row, ::mlir::Value(), pack);
  }]>];
  let hasVerifier = 1;
}

def Tile_LoadRowOp : Tile_Op<"load_row", [MemoryEffects<[MemRead]>, AllElementTypesMatch<["source", "tile"]>]> {
  let summary = "loads a row vector at (batch, head, row); rows out of bounds are zero";
  let description = [{
    `part` has the meaning that it has in `tile.load`.

    **Constraints**
    - C1: the row vector has rank 1, the source rank 3, or 4 with `part`, with one element
      type

    **Example**
    ```mlir
    %r = tile.load_row %lse at(%batch, %head, %row) : tensor<?x?x?xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_RowMemoryOrParts:$source, I32:$batch, I32:$head, I32:$row,
    Optional<I32>:$part);
  let results = (outs Tile_RowOrShare:$tile);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)? attr-dict
    `:` type($source) `->` type($tile)
  }];
  let hasVerifier = 1;
}
def Tile_ReduceAddOp : Tile_Op<"reduce_add", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds a tile to a tensor in memory; rows out of bounds are dropped";
  let description = [{
    CTAs add to one element in any order. `grouped` has the meaning that it has in `tile.load`. With `column`, the tile
    has only the columns from that one on, and all of its columns are in the tensor. With `transposed` the rows of the tile
    are columns of the tensor, from `row` on it has as many of its rows as the tile has columns, and `grouped` has the
    meaning that it has in `tile.load` beside `transposed` of these rows. With `first` the tile is stored, not added, where that is
    true, whatever the tensor has there; all other additions to these rows come after it.

    **Constraints**
    - C1 to C3 of `tile.load`, for the destination; with `column`, the tile has at most as many
      columns as the destination, not at least
    - C4: the elements are f32; C4 and C5 of `tile.load`, with `column` also for the columns of the tile, with
      `transposed` for its rows and columns

    **Example**
    ```mlir
    tile.reduce_add %acc, %dq at(%batch, %head, %row) #bshd : tensor<64x64xf32>, tensor<?x?x?x64xf32>
    ```
  }];
  let arguments = (ins Tile_F32TileOrShare:$tile, Tile_Memory:$dest, I32:$batch, I32:$head,
    I32:$row, Optional<I32>:$column, Optional<I1>:$first, AffineMapAttr:$map, UnitAttr:$grouped, UnitAttr:$transposed);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row (`,` $column^)? `)` (`first` `(` $first^ `)`)? $map (`grouped` $grouped^)? (`transposed` $transposed^)? attr-dict
    `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}
class Tile_TurnOp<string mnemonic> : Tile_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let hasVerifier = 1;
}
def Tile_TurnWaitOp : Tile_TurnOp<"turn_wait"> {
  let summary = "waits, if `waits`, until it is the turn of `turn` at (batch, head, row)";
  let description = [{
    What the role does afterwards, and what others do that wait for it then, comes after all that another CTA did before its
    `tile.turn_pass` to this turn. A launch starts with zeros. No CTA may wait for a turn that a later work item passes.

    **Constraints**
    - C1: the turns are i32

    **Example** `tile.turn_wait %turns at(%batch, %head, %row) until %block if %waits : tensor<?x?x?xi32>`
  }];
  let arguments = (ins Tile_RowMemory:$turns, I32:$batch, I32:$head, I32:$row, I32:$turn, I1:$waits);
  let assemblyFormat = [{
    $turns `at` `(` $batch `,` $head `,` $row `)` `until` $turn `if` $waits attr-dict `:` type($turns)
  }];
}
def Tile_TurnPassOp : Tile_TurnOp<"turn_pass"> {
  let summary = "gives the turn at (batch, head, row) to `turn`";
  let description = [{
    All that the role has done before, and others before they signaled it, is visible to whoever has waited for that turn with
    `tile.turn_wait`.

    **Constraints**
    - C1: the turns are i32

    **Example** `tile.turn_pass %turns at(%batch, %head, %row) to %next : tensor<?x?x?xi32>`
  }];
  let arguments = (ins Tile_RowMemory:$turns, I32:$batch, I32:$head, I32:$row, I32:$turn);
  let assemblyFormat = [{
    $turns `at` `(` $batch `,` $head `,` $row `)` `to` $turn attr-dict `:` type($turns)
  }];
}
def Tile_StoreRegOp : Tile_Op<"store_reg", [MemoryEffects<[MemWrite]>]> {
  let summary = "stores a tile from registers; rows out of bounds are dropped";
  let description = [{
    The threads that hold the tile store it, unlike `tile.store`, which hands it to
    a copy engine. `part` has the meaning that it has in `tile.load`.

    **Constraints**
    - C1 to C3 of `tile.load`, for the destination

    **Example**
    ```mlir
    tile.store_reg %o, %y at(%batch, %head, %row) #bshd : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
    ```
  }];
  let arguments = (ins Tile_TileOrShare:$tile, Tile_MemoryOrParts:$dest, I32:$batch, I32:$head,
    I32:$row, Optional<I32>:$part, AffineMapAttr:$map);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)? $map
    attr-dict `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_TILETRANSFEROPS_TD
