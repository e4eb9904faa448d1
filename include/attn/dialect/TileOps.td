// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level L1: one CTA's program on tile values.
#ifndef ATTN_DIALECT_TILEOPS_TD
#define ATTN_DIALECT_TILEOPS_TD

include "attn/dialect/ArgumentAttrs.td"
include "attn/dialect/TileTypes.td"
include "attn/dialect/VariantAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, opMnemonic, traits>;

// The items that a launch hands out, and what is said of them.
def Tile_WorkItems : Resource<"::attn::tile::WorkItemsResource">;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "a kernel: its arguments and one `tile.work`";
  let description = [{
    The arguments are whole tensors and scalars, outputs among them; `args` names
    them and says what the kernel does with them.

    **Constraints**
    - C1: as many `args` as arguments; as many names of dimensions, if any, as dimensions
    - C2: one `tile.work` and, beside it, pure scalar ops and constants only
    - C3: every step name occurs once
    - C4: an argument that is stored to is one to write; one that is added to
      (`tile.reduce_add`) is one to accumulate; one that is loaded is one to read
    - C5: only an f32 argument has `from` and `to`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Attn_ArgumentsAttr:$args,
    Attn_ProblemAttr:$problem, OptionalAttr<Attn_ConfigAttr>:$config,
    OptionalAttr<Attn_VariantAttr>:$variant, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `args` $args `problem` $problem (`config` $config^)?
    (`variant` $variant^)? (`schedule` $schedule^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Tile_WorkOp : Tile_Op<"work", [NoTerminator, SingleBlock]> {
  let summary = "what is done for each work item";
  let description = [{
    **Constraints**
    - C1: inside a `tile.kernel`
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_StepOp : Tile_Op<"step", [SingleBlock]> {
  let summary = "the unit of scheduling: a named piece of the program";
  let description = [{
    Its operands are the values of other steps; kernel arguments, scalars and
    constants are used directly. `when = masked` says that the step exists only
    in the code of masked ranges; it then must pass its first operand through
    elsewhere.

    **Constraints**
    - C1: as many block arguments as operands, of the same types
    - C2: `tile.yield` yields the result types
    - C3: a body uses no tile or work value from outside, except through operands
    - C4: a `tile.load`, `tile.load_row`, `tile.store`, `tile.store_row`,
      `tile.store_reg`, `tile.reduce_add` or `tile.mma` is the only such op of its step
    - C5: a masked step has one result, of the type of its first operand
  }];
  let arguments = (ins SymbolNameAttr:$name, Variadic<AnyType>:$operands_, UnitAttr:$masked);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`masked` $masked^)? `(` $operands_ `)` attr-dict-with-keyword `:`
    functional-type($operands_, $results_) $body
  }];
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["StepOp", "ForOp", "BoundsOp", "JoinOp"]>]> {
  let summary = "the results of a step, of a loop's iteration, of bounds or of a merge";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_NextWorkOp : Tile_Op<"next_work", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<Tile_WorkItems>, MemWrite<Tile_WorkItems>]>]> {
  let summary = "the work item of this turn";
  let description = [{
    `extents`: row blocks, heads, batches. Their product is the number of items. In a
    cluster an item is a row block of each of its CTAs, which are counted as one.
    `section`: heads, of all batches, that are worked through together (absent: all).
    `cut`: the results of a `tile.cut`, by which the last items come in parts.
  }];
  let arguments = (ins I32:$blocks, I32:$heads, I32:$batches, Optional<I32>:$section,
    Optional<I32>:$whole, Optional<I32>:$parts);
  let results = (outs Tile_WorkType:$work);
  let assemblyFormat = [{
    `extents` `(` $blocks `,` $heads `,` $batches `)` (`section` `(` $section^ `)`)?
    (`cut` `(` $whole^ `,` $parts `)`)? attr-dict
  }];
}

def Tile_WithCareOp : Tile_Op<"with_care", [Pure]> {
  let summary = "whether this item is computed with care: in its second run, or as a part";
  let description = [{
    Results that are computed with care are not rejected. The second run is that of an item
    whose results `tile.reject` rejected; a part of an item is computed with care at once.
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I1:$result);
  let assemblyFormat = "$work attr-dict";
}

def Tile_RejectOp : Tile_Op<"reject", [MemoryEffects<[MemWrite<Tile_WorkItems>]>]> {
  let summary = "rejects the results of a work item where `failed` holds in some warp";
  let description = [{
    `failed` is one for all threads of a warp, as `tile.any` makes it. The item then has a
    second run, in which `tile.with_care` is true, and its results are written again. Results
    that are computed with care are not rejected.

    **Constraints**
    - C1: in no loop but the one over work items: each warp says it once an item
  }];
  let arguments = (ins Tile_WorkType:$work, I1:$failed);
  let assemblyFormat = "$work `if` $failed attr-dict";
  let hasVerifier = 1;
}

def Tile_WorkCoordsOp : Tile_Op<"work_coords", [Pure]> {
  let summary = "row block of this CTA, head and batch of a work item";
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$block, I32:$head, I32:$batch);
  let assemblyFormat = "$work attr-dict";
}

def Tile_BoundsOp : Tile_Op<"bounds", [Pure, SingleBlock]> {
  let summary = "the ends of the streamed ranges of a work item, as scalar arithmetic";
  let description = [{
    Result r is the bound at which range r of the loop begins, and r + 1 that at which it
    ends: block numbers, highest first, or lowest first with `up`. Every role computes them
    for itself. They are those of all rows of the item, or of sub-tile `subtile` of `of`, for which
    `tile.owned_rows` stands in the region.

    **Constraints**
    - C1: the region takes the work item and yields one i32 a result
    - C2: pure scalar ops and constants only
    - C3: `subtile` goes with `of`, which is at least 1
  }];
  let arguments = (ins Tile_WorkType:$work, Optional<I32>:$subtile, OptionalAttr<I64Attr>:$of,
    UnitAttr:$up);
  let results = (outs Variadic<I32>:$bounds);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $work (`up` $up^)? (`subtile` `(` $subtile^ `of` $of `)`)? attr-dict-with-keyword `:` type($bounds) $body
  }];
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$bounds, "::mlir::Value":$work), [{
    build($_builder, $_state, bounds, work, ::mlir::Value(), ::mlir::IntegerAttr(), /*up=*/false);
  }]>];
  let extraClassDeclaration = [{
    /// How many rows `tile.owned_rows` stands for in a kernel of `config`.
    int64_t countOwnedRows(::attn::ConfigAttr config);
  }];
}

def Tile_OwnedRowsOp : Tile_Op<"owned_rows", [Pure, HasParent<"BoundsOp">]> {
  let summary = "the first of the rows whose bounds are asked for, and how many they are";
  let description = [{
    Those of all CTAs of a cluster, or of the sub-tile of this CTA that the `tile.bounds` names.
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$first, I32:$rows);
  let assemblyFormat = "$work attr-dict";
}

def Tile_ForOp : Tile_Op<"for", [SingleBlock, AttrSizedOperandSegments]> {
  let summary = "the one streaming loop, over ordered ranges of blocks";
  let description = [{
    The region's first argument is the block number (i32), then come the carried values.

    **Constraints**
    - C1: one more bound than ranges; those that are results of a `tile.bounds` follow its order,
      and it has the direction of the ranges
    - C2: block arguments are i32 and the types of `inits`; results and
      yielded values have those types
    - C3: only `tile.step`s, pure scalar ops and constants in the body
    - C4: no range is skipped
  }];
  let arguments = (ins Variadic<I32>:$bounds, Tile_RangesAttr:$ranges, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ranges` $ranges `bounds` `(` $bounds `)` `init` `(` $inits `)` attr-dict-with-keyword
    `:` functional-type($inits, $results_) $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getBlockNumber() { return getBody().getArgument(0); }
  }];
}
def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile of a tensor, rows from `row` on; what lies past its ends is zero";
  let description = [{
    `map` is the access map: (batch, head, position, dim) to the tensor's
    dimensions. The tile has positions as rows and dims as columns. With packed heads,
    (b, h, i, c) -> (b, i floordiv n, h * n + i mod n, c), it has the rows of n heads
    of each position. With `part` the tensor has one more dimension, before the others:
    each part is a tensor of partial results, of the same batches, heads and positions.

    **Constraints**
    - C1: the source has rank 4, or 5 with `part`, and a static last dimension
    - C2: `map` is a permutation of 4 dimensions that keeps the last, or one of packed
      heads, a power of two up to 64
    - C3: the tile has rank 2, the source's element type and at least its head dim; after
      `attn-distribute` it is a vector, and its shape is not looked at
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$batch, I32:$head, I32:$row,
    Optional<I32>:$part, AffineMapAttr:$map);
  let results = (outs AnyType:$tile);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)? $map attr-dict
    `:` type($source) `->` type($tile)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$source,
    "::mlir::Value":$batch, "::mlir::Value":$head, "::mlir::Value":$row, "::mlir::AffineMap":$map), [{
    build($_builder, $_state, tile, source, batch, head, row, ::mlir::Value(), map);
  }]>, OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$source,
    "::mlir::Value":$batch, "::mlir::Value":$head, "::mlir::Value":$row, "::mlir::AffineMapAttr":$map), [{
    build($_builder, $_state, tile, source, batch, head, row, ::mlir::Value(), map);
  }]>];
  let hasVerifier = 1;
}
def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile; what lies past the tensor's ends is dropped";
  let description = [{
    **Constraints**
    - C1 to C3 of `tile.load`, for the destination
  }];
  let arguments = (ins AnyRankedTensor:$tile, AnyRankedTensor:$dest, I32:$batch, I32:$head,
    I32:$row, AffineMapAttr:$map);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row `)` $map attr-dict
    `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}
def Tile_StoreRowOp : Tile_Op<"store_row", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a row vector to (batch, head, row); rows past the end are dropped";
  let description = [{
    With `pack` n, rows are those of n heads of each position, as in `tile.load`; `part`
    is that of `tile.load`.

    **Constraints**
    - C1: the row vector has rank 1, the destination rank 3, or 4 with `part`, with one
      element type
    - C2: `pack` is a power of two in 2..64
  }];
  let arguments = (ins AnyType:$tile, AnyRankedTensor:$dest, I32:$batch, I32:$head, I32:$row,
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

def Tile_LoadRowOp : Tile_Op<"load_row", [MemoryEffects<[MemRead]>]> {
  let summary = "a row vector from (batch, head, row); rows past the end are zero";
  let description = [{
    `part` is that of `tile.load`.

    **Constraints**
    - C1: the row vector has rank 1, the source rank 3, or 4 with `part`, with one element
      type
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$batch, I32:$head, I32:$row,
    Optional<I32>:$part);
  let results = (outs AnyType:$tile);
  let assemblyFormat = [{
    $source `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)? attr-dict
    `:` type($source) `->` type($tile)
  }];
  let hasVerifier = 1;
}
def Tile_ReduceAddOp : Tile_Op<"reduce_add", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds a tile to a tensor in memory, like a store; rows past the end are dropped";
  let description = [{
    Additions of several CTAs to one element happen in any order.

    **Constraints**
    - C1 to C3 of `tile.load`, for the destination
    - C4: the elements are f32
  }];
  let arguments = (ins AnyType:$tile, AnyRankedTensor:$dest, I32:$batch, I32:$head,
    I32:$row, AffineMapAttr:$map);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row `)` $map attr-dict
    `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}
def Tile_StoreRegOp : Tile_Op<"store_reg", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile from where it was computed; rows past the end are dropped";
  let description = [{
    The threads that hold the tile write it, unlike `tile.store`, which hands it to
    a copy engine. `part` is that of `tile.load`.

    **Constraints**
    - C1 to C3 of `tile.load`, for the destination
  }];
  let arguments = (ins AnyType:$tile, AnyRankedTensor:$dest, I32:$batch, I32:$head,
    I32:$row, Optional<I32>:$part, AffineMapAttr:$map);
  let assemblyFormat = [{
    $tile `,` $dest `at` `(` $batch `,` $head `,` $row `)` (`part` `(` $part^ `)`)? $map
    attr-dict `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def Tile_MmaOp : Tile_Op<"mma", [Pure]> {
  let summary = "A * B (or of their transposes), added to `acc` where given, in fp32";
  let description = [{
    **Constraints**
    - C1: ranks are 2, A and B have one 16-bit float type and agree in the
      contracted dimension
    - C2: the result is f32, M x N; `acc` has its type
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, Optional<AnyRankedTensor>:$acc,
    UnitAttr:$transpose_b, UnitAttr:$transpose_a);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b (`acc` `(` $acc^ `:` type($acc) `)`)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "reduces a tile along `dim` to a vector";
  let description = [{
    With `partial`, lanes that hold a row each keep their own share: `tile.complete`
    adds the shares. `max_floored` compares the bits as integers: a NaN counts as more
    than infinity, or as nothing if its sign is set.

    **Constraints**
    - C1: the source has rank 2, `dim` is 0 or 1, the result lacks that dimension
    - C2: only `add` may be partial
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, AnyRankedTensor:$source, I64Attr:$dim, UnitAttr:$partial);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $kind $source `dim` $dim (`partial` $partial^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Tile_CompleteOp : Tile_Op<"complete", [Pure]> {
  let summary = "adds the shares of a partial row sum";
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}
def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a vector along `dim`";
  let description = [{
    **Constraints**
    - C1: the source is the result without dimension `dim`
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `dim` $dim attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_CoordsOp : Tile_Op<"coords", [Pure]> {
  let summary = "`offset` + the coordinate of each element along `dim`";
  let description = [{
    **Constraints**
    - C1: the result is i32 and has dimension `dim`
  }];
  let arguments = (ins I32:$offset, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$offset `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>]> {
  let summary = "reads elements of a captured tensor; an index out of bounds reads zero";
  let description = [{
    Each index is an i32 or an i32 tile of the result's shape. How it is loaded
    follows from what the indices depend on. Elements lie in memory as torch stores
    them: an i1 takes a byte, which is true unless it is 0.

    **Constraints**
    - C1: as many indices as the capture has dimensions
    - C2: tile indices have the result's shape
    - C3: the result has the source's element type: f32 of f16 and bf16, which f32
      holds exactly, and without a sign of unsigned integers
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<AnyType>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source `[` $indices `:` type($indices) `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Tile_RoundOp : Tile_Op<"round", [Pure, SameOperandsAndResultType]> {
  let summary = "the nearest value that a narrower float type has, as f32";
  let description = [{
    The arithmetic of regions is on f32, where f16 and bf16 have exact values.

    **Constraints**
    - C1: f32 or a tile of f32, rounded to f16 or bf16
  }];
  let arguments = (ins AnyType:$source, TypeAttr:$to);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `to` $to attr-dict `:` type($source)";
  let hasVerifier = 1;
}
def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "true where some row of those sharing a warp is true";
  let description = [{
    A uniform over-approximation: it may guard work that is a no-op for rows
    that are false.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasFolder = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{
    Between the accumulator's layout and the A operand's, on 16-bit elements, the
    elements stay where they are.

    **Constraints**
    - C1: shapes and element types agree
  }];
  let arguments = (ins AnyType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Tile_AttendOp : Tile_Op<"attend", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "the softmax-weighted sum of V over the whole row, as one abstract reduction";
  let description = [{
    Adds one block of scores and values to a state that stands for
    sum_j softmax(s)_j v_j over the whole row; `tile.attend_result` reads it out.
    `attn-fuse-online-softmax` replaces both by the (m, l, O) recurrence. `scale`
    multiplies the scores first.
  }];
  let arguments = (ins AnyRankedTensor:$scores, AnyRankedTensor:$values, AnyRankedTensor:$state, F32:$scale);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $scores `,` $values `state` `(` $state `)` `scale` `(` $scale `)` attr-dict
    `:` type($scores) `,` type($values) `->` type($result)
  }];
}
def Tile_AttendResultOp : Tile_Op<"attend_result", [Pure]> {
  let summary = "O (normalized) and LSE of an attend state";
  let arguments = (ins AnyRankedTensor:$state);
  let results = (outs AnyRankedTensor:$o, AnyRankedTensor:$lse);
  let assemblyFormat = "$state attr-dict `:` type($state) `->` type($o) `,` type($lse)";
}

def Tile_PieceOp : Tile_Op<"piece", [Pure]> {
  let summary = "the rows of one sub-tile of a whole tile";
  let arguments = (ins AnyRankedTensor:$source, I32:$subtile);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `[` $subtile `]` attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}
def Tile_SubtileIdOp : Tile_Op<"subtile_id", [Pure]> {
  let summary = "which sub-tile this program is for";
  let results = (outs I32:$id);
  let assemblyFormat = "attr-dict";
}

include "attn/dialect/TileCutOps.td"

#endif // ATTN_DIALECT_TILEOPS_TD
