// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of tiles and rows between memory, shared memory and registers. WsOps.td includes it.
#ifndef ATTN_DIALECT_WSCOPYOPS_TD
#define ATTN_DIALECT_WSCOPYOPS_TD

def Ws_CopyOp : Ws_SharedOp<"copy", [], [MemRead]> {
  let summary = "copies a tile of a tensor into a slot, asynchronously; the slot is full when the tile has arrived";
  let description = [{
    Rows out of bounds arrive as zeros. `map` is the map of `tile.load`. `shared`:
    other CTAs read the same tile. `barrier` is set by `attn-lower-channels`. Without a map it copies a row vector, whose
    elements are consecutive in memory and all in bounds: see the checks of the launch.

    **Constraints**
    - C1: the source has rank 4 and a static last dimension; without `map`, rank 3
    - C2: `map` is a permutation of 4 dimensions that keeps the last
    - C3: the slot's tile has the source's element type, and at least as many columns as its head dim; without
      `map`, a row vector

    **Example**
    ```mlir
    ws.copy %q at(%b, %h, %row) #bshd to %slot : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Memory, Tile_RowMemory]>:$source, I32:$batch, I32:$head, I32:$row,
    OptionalAttr<AffineMapAttr>:$map, UnitAttr:$shared, Ws_CopiedSlot:$slot, Optional<LLVM_AnyPointer>:$barrier);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` ($map^)? (`shared` $shared^)? `to` $slot
    (`barrier` $barrier^)? attr-dict `:` type($source) `,` type($slot) (`,` type($barrier)^)?
  }];
  let hasVerifier = 1;
}
def Ws_ReadRowOp : Ws_SharedOp<"read_row"> {
  let summary = "reads the row vector of a slot into registers";
  let description = [{
    **Constraints**
    - C1: the result has the elements of the slot's row vector; after `attn-distribute` it is a thread's share

    **Example** `%r = ws.read_row %full : <@lse, tensor<64xf32>> -> tensor<64xf32>`
  }];
  let arguments = (ins Ws_RowSlot:$slot);
  let results = (outs Tile_RowOrShare:$tile);
  let assemblyFormat = "$slot attr-dict `:` type($slot) `->` type($tile)";
  let hasVerifier = 1;
}
def Ws_PutOp : Ws_SharedOp<"put"> {
  let summary = "stores a register tile into this replica's piece of a hold";
  let description = [{
    Every thread stores its elements of the tile.

    **Constraints**
    - C1: the value is a tile or a vector

    **Example** `ws.put %o in @oe[%replica] : tensor<64x64xbf16>`
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyVectorOfNonZeroRank]>:$value, FlatSymbolRefAttr:$hold, I32:$piece);
  let assemblyFormat = "$value `in` $hold `[` $piece `]` attr-dict `:` type($value)";
}
def Ws_HeldOp : Ws_Op<"held", [Pure]> {
  let summary = "this replica's piece of a hold, or all pieces, as operand A of an MMA";
  let description = [{
    Of its own piece a warp reads only the rows that it has put itself. The replica puts the next tile after
    all of its warps have awaited that MMA. Without a number the slot is all pieces, one below the other: the
    replicas meet between their puts and that MMA, and between it and the next puts.

    **Constraints**
    - C1: the result is a slot of the hold

    **Example** `%a = ws.held @qe[%replica] : !ws.slot<@qe, tensor<64x64xbf16>>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$hold, Optional<I32>:$piece);
  let results = (outs Ws_SlotType:$tile);
  let assemblyFormat = "$hold (`[` $piece^ `]`)? attr-dict `:` type($tile)";
  let hasVerifier = 1;
}
def Ws_StoreOp : Ws_SharedOp<"store", [], [MemWrite]> {
  let summary = "copies a piece of a hold to a tensor, asynchronously";
  let description = [{
    Before the store, all threads of the role have put their share. If another role puts
    the tile, this role has waited for an edge that the other role signals after its put.
    Rows out of bounds are dropped.

    `after_first_run`: the work item. If it is computed with care, the store waits until the
    role's earlier stores have arrived, since those of the first run write the same rows.

    **Constraints**
    - C1: the destination has rank 4 and a static last dimension
    - C2: `map` is a permutation of 4 dimensions that keeps the last

    **Example** `ws.store @oe[%replica], %out at(%b, %h, %row) #bshd : tensor<?x?x?x64xbf16>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$hold, I32:$piece, Tile_Memory:$dest, I32:$batch,
    I32:$head, I32:$row, AffineMapAttr:$map, Optional<Tile_WorkType>:$first_run);
  let assemblyFormat = [{
    $hold `[` $piece `]` `,` $dest `at` `(` $batch `,` $head `,` $row `)` $map
    (`after_first_run` $first_run^)? attr-dict `:` type($dest)
  }];
  let hasVerifier = 1;
}
def Ws_AwaitStoreOp : Ws_SharedOp<"await_store"> {
  let summary = "waits until the role's stores have read shared memory";
  let description = [{
    With `of_warp` each warp waits for its own `ws.reduce_add` alone.

    **Example** `ws.await_store`
  }];
  let arguments = (ins UnitAttr:$of_warp);
  let assemblyFormat = "(`of_warp` $of_warp^)? attr-dict";
}
def Ws_ReduceAddOp : Ws_SharedOp<"reduce_add", [], [MemRead, MemWrite]> {
  let summary = "adds a piece of a hold to a tensor in memory, asynchronously";
  let description = [{
    The tensor is in the order that `tile.load` calls `grouped`, as the hold is. CTAs add to one element in any
    order. With `column`, the tile has some of the columns, from that one on. Rows out of bounds are dropped. With
    `transposed` the rows of the piece are columns of the tensor, as in `tile.reduce_add`.

    In the role that puts the piece, each warp adds the rows that it has put, and puts its rows of the next tile after a
    `ws.await_store of_warp`. In another role, one thread adds the whole piece; an edge says that all warps have put theirs.

    **Constraints**
    - C1: the destination has rank 4, a static last dimension and elements f32
    - C2: `map` is a permutation of 4 dimensions that keeps the last
    - C3: the hold has elements f32 and the columns of the destination, with `column` at most as many; with `transposed`,
      its rows count, and the columns of the destination are a multiple of 64
    - C4: `transposed` only in a role other than the one that puts the piece

    **Example** `ws.reduce_add @dqe[%replica], %sums at(%b, %h, %row, %column) #bhsd : tensor<?x?x?x128xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$hold, I32:$piece, Tile_Memory:$dest, I32:$batch,
    I32:$head, I32:$row, Optional<I32>:$column, AffineMapAttr:$map, UnitAttr:$transposed);
  let assemblyFormat = [{
    $hold `[` $piece `]` `,` $dest `at` `(` $batch `,` $head `,` $row (`,` $column^)? `)` $map (`transposed` $transposed^)? attr-dict `:` type($dest)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_WSCOPYOPS_TD
