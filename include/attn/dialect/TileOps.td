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

// The work items of a launch, and the verdicts on them.
def Tile_WorkItems : Resource<"::attn::tile::WorkItemsResource">;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "a kernel: its arguments and one `tile.work`";
  let description = [{
    The arguments are whole tensors and scalars, inputs and outputs. `args` names each of
    them and says whether the kernel reads, writes or accumulates it.

    **Constraints**
    - C1: `args` has one entry for each argument, which names all of its dimensions or none
    - C2: one `tile.work` and, beside it, only pure scalar ops and constants
    - C3: every step name occurs once
    - C4: a stored argument is declared `write`, one of a `tile.reduce_add` or an added `tile.scatter` `accumulate`,
      and a loaded one `read`
    - C5: only an f32 argument has `from` and `to`
    - C6: either no argument has a role, or each has one. A kernel of kind `fwd` then has a `query`, `key`,
      `value`, `scale`, `output` and `lse`, and a bound for each of the problem's; one of kind `delta`
      has an `output`, `output_gradient`, `lse`, `lse_gradient`, `delta` and `lse2`; one of a kind `bwd...` has a
      `query`, `key`, `value`, `scale`, `output_gradient`, `lse2`, `delta` and the gradients of its kind, but one of kind `bwd_seeing`
      a `query`, `key` and `seeing_queries`; one of kind `sum` has
      `partial_sums` and a `capture_gradient`. The results of a kernel of kind `delta` are `delta` and `lse2`, those of a kind
      `bwd...` its gradients or `seeing_queries`, that of kind `sum` the `capture_gradient`; of other kinds, `output` and `lse`. Results are
      not read, other arguments are. Except in one of kind `custom`, there is a `dropout_rate` if and only if the problem has dropout
    - C7: `query`, `key` and their gradients are tensors of rank 4 of the problem's element type and head dim,
      `value`, its gradient, `output` and `output_gradient` have the head dim of V; `lse`, `lse_gradient`, `delta`,
      `lse2`, `partial_sums` and `seeing_queries` are tensors of rank 3 of f32, `scale` and `dropout_rate` are an f32, a `bound` an i32,
      `dropout_state` is a tensor<2xi64>, and `sinks` a tensor of rank 1 of f32

    **Example**
    ```mlir
    tile.kernel @copy args ["x" ("b", "s", "h", "d"), "y" write ("b", "s", "h", "d"), "blocks", "heads", "batches"]
        problem #problem {
    ^bb0(%x: tensor<?x?x?x64xbf16>, %y: tensor<?x?x?x64xbf16>, %blocks: i32, %heads: i32, %batches: i32):
      %c64 = arith.constant 64 : i32
      tile.work {
        %w = tile.step @next() : () -> !tile.work {
          %next = tile.next_work extents(%blocks, %heads, %batches)
          tile.yield %next : !tile.work
        }
        %t = tile.step @load(%w) : (!tile.work) -> tensor<64x64xbf16> {
        ^bb0(%item: !tile.work):
          %block, %head, %batch = tile.work_coords %item
          %row = arith.muli %block, %c64 : i32
          %rows = tile.load %x at(%batch, %head, %row) #bshd : tensor<?x?x?x64xbf16> -> tensor<64x64xbf16>
          tile.yield %rows : tensor<64x64xbf16>
        }
        tile.step @store(%t, %w) : (tensor<64x64xbf16>, !tile.work) -> () {
        ^bb0(%rows: tensor<64x64xbf16>, %item: !tile.work):
          %block, %head, %batch = tile.work_coords %item
          %row = arith.muli %block, %c64 : i32
          tile.store %rows, %y at(%batch, %head, %row) #bshd : tensor<64x64xbf16>, tensor<?x?x?x64xbf16>
          tile.yield
        }
      }
    }
    ```
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
  let summary = "the program of one work item";
  let description = [{
    **Constraints**
    - C1: inside a `tile.kernel`

    **Example**
    ```mlir
    tile.work {
      %w = tile.step @next() : () -> !tile.work {
        %next = tile.next_work extents(%blocks, %heads, %batches)
        tile.yield %next : !tile.work
      }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Tile_StepOp : Tile_Op<"step", [SingleBlock]> {
  let summary = "the unit of scheduling: a named piece of the program";
  let description = [{
    Its operands are the results of other steps; kernel arguments, scalars and
    constants are used directly. A `masked` step is needed only in the
    masked ranges of the loop: in the others its result equals its first operand, and the
    compiler leaves it out where it can.

    **Constraints**
    - C1: the block arguments have the types of the operands
    - C2: `tile.yield` yields the result types
    - C3: a body uses no tile and no work item from outside, except through operands
    - C4: a `tile.load`, `tile.load_row`, `tile.store`, `tile.store_row`,
      `tile.store_reg`, `tile.scatter`, `tile.reduce_add` or `tile.mma` is the only such op of its step
    - C5: a masked step has one result, of the type of its first operand

    **Example**
    ```mlir
    %s = tile.step @qk(%q, %k) : (tensor<64x64xbf16>, tensor<128x64xbf16>) -> tensor<64x128xf32> {
    ^bb0(%a: tensor<64x64xbf16>, %b: tensor<128x64xbf16>):
      %scores = tile.mma %a, %b transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
      tile.yield %scores : tensor<64x128xf32>
    }
    %m = tile.step @mask masked(%s) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
    ^bb0(%all: tensor<64x128xf32>):
      %key = tile.coords %i dim 1 : tensor<64x128xi32>
      %end = tensor.splat %n : tensor<64x128xi32>
      %allowed = arith.cmpi slt, %key, %end : tensor<64x128xi32>
      %minus_infinity = arith.constant dense<0xFF800000> : tensor<64x128xf32>
      %some = arith.select %allowed, %all, %minus_infinity : tensor<64x128xi1>, tensor<64x128xf32>
      tile.yield %some : tensor<64x128xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$name, Variadic<Tile_StepValue>:$operands_, UnitAttr:$masked);
  let results = (outs Variadic<Tile_StepValue>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`masked` $masked^)? `(` $operands_ `)` attr-dict-with-keyword `:`
    functional-type($operands_, $results_) $body
  }];
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["StepOp", "ForOp", "BoundsOp", "JoinOp"]>]> {
  let summary = "returns the values of a step, of a loop's iteration, of bounds or of a join";
  let description = [{
    **Example**
    ```mlir
    %w = tile.step @next() : () -> !tile.work {
      %next = tile.next_work extents(%blocks, %heads, %batches)
      tile.yield %next : !tile.work
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_AnyValue>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tile_NextWorkOp : Tile_Op<"next_work", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<Tile_WorkItems>, MemWrite<Tile_WorkItems>]>]> {
  let summary = "the work item of this iteration of the work loop";
  let description = [{
    `extents`: the numbers of row blocks, heads and batches. Their product is the number of
    items. In a cluster an item has one row block for each CTA, and `extents` counts them as one.
    `section`: how many heads, over all batches, are worked through together (absent: all, or one with
    `order = linear`), or, with `order = shortest_last`, as the last ones.
    `cut`: the results of a `tile.cut`, which splits the last items into parts.

    **Example** `%w = tile.next_work extents(%blocks, %heads, %batches) section(%n)`
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
    Results that are computed with care are never rejected. An item has a second run if
    `tile.reject` rejected the results of the first. A part of an item is computed with care
    in its only run.

    **Example** `%careful = tile.with_care %w`
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I1:$result);
  let assemblyFormat = "$work attr-dict";
}

def Tile_RejectOp : Tile_Op<"reject", [MemoryEffects<[MemWrite<Tile_WorkItems>]>]> {
  let summary = "rejects the results of a work item if `failed` holds in some warp";
  let description = [{
    `failed` is uniform in each warp, like the result of `tile.any`. A rejected item has a
    second run, in which `tile.with_care` is true, and its results are written again. Results
    that are computed with care are never rejected.

    **Constraints**
    - C1: in no loop except the one over work items: each warp runs it once per item

    **Example** `tile.reject %w if %failed`
  }];
  let arguments = (ins Tile_WorkType:$work, I1:$failed);
  let assemblyFormat = "$work `if` $failed attr-dict";
  let hasVerifier = 1;
}

def Tile_WorkCoordsOp : Tile_Op<"work_coords", [Pure]> {
  let summary = "the row block of this CTA, the head and the batch of a work item";
  let description = [{
    **Example** `%block, %head, %batch = tile.work_coords %w`
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$block, I32:$head, I32:$batch);
  let assemblyFormat = "$work attr-dict";
}

def Tile_BoundsOp : Tile_Op<"bounds", [Pure, SingleBlock]> {
  let summary = "the bounds of the ranges that the loop of a work item streams over";
  let description = [{
    Range r of the loop begins at result r and ends at result r + 1. The results are block
    numbers, highest first, or lowest first with `up`. Every role computes them for itself.
    They cover all rows of the item, or with `subtile` only the rows of that sub-tile of
    `of`; in the region, `tile.owned_rows` returns the rows that are covered.

    **Constraints**
    - C1: the region has the work item as its argument and yields one i32 per result
    - C2: only pure scalar ops, constants, reads of one element of a capture, and loops of these
    - C3: `subtile` and `of` occur together, and `of` is at least 1

    **Example**
    ```mlir
    %last, %first = tile.bounds %w : i32, i32 {
    ^bb0(%item: !tile.work):
      %row, %rows = tile.owned_rows %item
      %end = arith.addi %row, %rows : i32
      %c127 = arith.constant 127 : i32
      %c128 = arith.constant 128 : i32
      %up = arith.addi %end, %c127 : i32
      %blocks = arith.divui %up, %c128 : i32
      %zero = arith.constant 0 : i32
      tile.yield %blocks, %zero : i32, i32
    }
    ```
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
    /// The number of rows that `tile.owned_rows` returns in a kernel of `config`.
    int64_t countOwnedRows(::attn::ConfigAttr config);
  }];
}

def Tile_OwnedRowsOp : Tile_Op<"owned_rows", [Pure, HasParent<"BoundsOp">]> {
  let summary = "the first row that a `tile.bounds` covers, and the number of rows";
  let description = [{
    The rows of all CTAs of the cluster, or those of the sub-tile of this CTA that the
    `tile.bounds` names.

    **Example**
    ```mlir
    %first_row = tile.bounds %w : i32 {
    ^bb0(%item: !tile.work):
      %row, %rows = tile.owned_rows %item
      tile.yield %row : i32
    }
    ```
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$first, I32:$rows);
  let assemblyFormat = "$work attr-dict";
}

def Tile_ForOp : Tile_Op<"for", [SingleBlock, AttrSizedOperandSegments,
    RangedTypesMatchWith<"results have the types of 'inits'", "inits", "results_", "$_self">]> {
  let summary = "the one streaming loop, over ordered ranges of blocks";
  let description = [{
    The region's first argument is the block number (i32); the others are the carried values.

    **Constraints**
    - C1: there is one more bound than ranges; results of one `tile.bounds` are in its order,
      and its direction is that of the ranges
    - C2: the block arguments have the types i32 and those of `inits`; the results and
      the yielded values have the types of `inits`
    - C3: only `tile.step`s, pure scalar ops and constants in the body
    - C4: no range is skipped

    **Example**
    ```mlir
    %sum = tile.for ranges <down [masked at_most 1, full]> bounds(%hi, %mid, %lo) init(%l)
        : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%block: i32, %old: tensor<64xf32>):
      %new = tile.step @add(%old) : (tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%a: tensor<64xf32>):
        %doubled = arith.addf %a, %a : tensor<64xf32>
        tile.yield %doubled : tensor<64xf32>
      }
      tile.yield %new : tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<I32>:$bounds, Tile_RangesAttr:$ranges, Variadic<Tile_CarriedValue>:$inits);
  let results = (outs Variadic<Tile_CarriedValue>:$results_);
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
include "attn/dialect/TileTransferOps.td"

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllElementTypesMatch<["a", "b"]>,
    OptionalTypesMatchWith<"'acc' has the result's type", "result", "acc", "$_self">]> {
  let summary = "D = A * B (+ `acc`) in f32; `transpose_a` and `transpose_b` transpose an operand first";
  let description = [{
    **Constraints**
    - C1: ranks are 2, A and B have one 16-bit float type and agree in the
      contracted dimension
    - C2: the result is f32, M x N; `acc` has its type

    **Example**
    ```mlir
    %s = tile.mma %q, %k transpose_b : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    %d = tile.mma %p, %v acc(%acc : tensor<64x64xf32>) : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_HalfTile:$a, Tile_HalfTile:$b, Optional<Tile_F32Tile>:$acc,
    UnitAttr:$transpose_b, UnitAttr:$transpose_a);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = [{
    $a `,` $b (`acc` `(` $acc^ `:` type($acc) `)`)? (`transpose_a` $transpose_a^)?
    (`transpose_b` $transpose_b^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

// Of a tile: rows are dimension 0, columns 1.
def Tile_DimAttr : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>;

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, AllElementTypesMatch<["source", "result"]>]> {
  let summary = "reduces a tile along `dim` to a vector";
  let description = [{
    With `partial`, each lane that holds a share of a row keeps the sum of its share, and
    `tile.complete` adds them. `max_floored` is the maximum of the elements and 0. It compares
    the bits as integers: a NaN counts as more than infinity, or, if its sign is set, as less than 0.

    **Constraints**
    - C1: the source has rank 2, `dim` is 0 or 1, and the result is the source without that dimension
    - C2: only `add` may be partial

    **Example**
    ```mlir
    %max = tile.reduce max %s dim 1 : tensor<64x128xf32> -> tensor<64xf32>
    %sum = tile.reduce add %s dim 1 partial : tensor<64x128xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tile:$source, Tile_DimAttr:$dim, UnitAttr:$partial);
  let results = (outs Tile_Row:$result);
  let assemblyFormat = [{
    $kind $source `dim` $dim (`partial` $partial^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Tile_CompleteOp : Tile_Op<"complete", [Pure]> {
  let summary = "adds the shares of a partial row sum";
  let description = [{
    **Example** `%sum = tile.complete %l : tensor<64xf32> -> tensor<64xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}
def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure, AllElementTypesMatch<["source", "result"]>]> {
  let summary = "repeats a vector along `dim`";
  let description = [{
    **Constraints**
    - C1: the source is the result without dimension `dim`

    **Example** `%wide = tile.broadcast %l dim 1 : tensor<64xf32> -> tensor<64x128xf32>`
  }];
  let arguments = (ins Tile_Row:$source, Tile_DimAttr:$dim);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source `dim` $dim attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_CoordsOp : Tile_Op<"coords", [Pure]> {
  let summary = "`offset` + the coordinate of each element along `dim`";
  let description = [{
    **Constraints**
    - C1: the result is i32 and has dimension `dim`

    **Example** `%key = tile.coords %i dim 1 : tensor<64x128xi32>`
  }];
  let arguments = (ins I32:$offset, I64Attr:$dim);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$offset `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>]> {
  let summary = "reads elements of a captured tensor; an index out of bounds reads zero";
  let description = [{
    Each index is an i32 or an i32 tile of the result's shape. The compiler picks the load
    instructions from what the indices depend on. Elements lie in memory as torch stores
    them: an i1 is a byte, and true unless the byte is 0.

    **Constraints**
    - C1: one index for each dimension of the capture
    - C2: tile indices have the result's shape
    - C3: the result has the source's element type, except that f16 and bf16 become f32,
      which represents them exactly, and unsigned integers become signless

    **Example**
    ```mlir
    %id = tile.gather %ids[%batch, %keys : i32, tensor<64x128xi32>] : tensor<?x?xi32> -> tensor<64x128xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Tile_I32OrTile>:$indices);
  let results = (outs AnyTypeOf<[Tile_Scalar, AnyRankedTensor, AnyVectorOfNonZeroRank]>:$result);
  let assemblyFormat = [{
    $source `[` $indices `:` type($indices) `]` attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Tile_ScatterOp : Tile_Op<"scatter", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes the elements of a tile to a tensor; elements whose index is out of bounds are dropped";
  let description = [{
    Each index is an i32 or an i32 tile of the tile's shape. Elements are rounded to the tensor's type. Two
    elements of a launch with the same index are a race. With `add` they are added to what the tensor has there, in
    any order, except for zeros. `attn-verify-sync` does not follow indices: nothing checks that each element is written once.

    **Constraints**
    - C1: one index for each dimension of the destination
    - C2: tile indices have the tile's shape
    - C3: the elements of the tile are f32, those of the destination f32, f16 or bf16
    - C4: the tile has rank 2: each of its elements is in one thread
    - C5: with `add` the destination has elements f32

    **Example**
    ```mlir
    tile.scatter %t, %bias[%head, %queries, %keys : i32, tensor<64x128xi32>, tensor<64x128xi32>]
        : tensor<64x128xf32>, tensor<?x?x?xbf16>
    ```
  }];
  let arguments = (ins Tile_F32TileOrShare:$tile, AnyRankedTensor:$dest, Variadic<Tile_I32OrTile>:$indices, UnitAttr:$add);
  let assemblyFormat = [{
    $tile `,` $dest (`add` $add^)? `[` $indices `:` type($indices) `]` attr-dict `:` type($tile) `,` type($dest)
  }];
  let hasVerifier = 1;
}
def Tile_AccumulateOp : Tile_Op<"accumulate", [Pure, AllTypesMatch<["sum", "tile", "result"]>]> {
  let summary = "`sum` + `tile`, or `tile` alone where a sum begins";
  let description = [{
    Adds tiles that lie in several heads or batches, at the same rows and columns: to
    `attn-verify-sync` the result lies where `tile` does.

    **Example** `%next = tile.accumulate %sum, %t first(%begins) : tensor<64x128xf32>`
  }];
  let arguments = (ins Tile_F32TileOrShare:$sum, Tile_F32TileOrShare:$tile, I1:$first);
  let results = (outs Tile_F32TileOrShare:$result);
  let assemblyFormat = "$sum `,` $tile `first` `(` $first `)` attr-dict `:` type($sum)";
}
def Tile_RoundOp : Tile_Op<"round", [Pure, SameOperandsAndResultType]> {
  let summary = "rounds to the nearest value of a narrower float type, kept as f32";
  let description = [{
    Regions compute in f32, which represents every f16 and bf16 exactly.

    **Constraints**
    - C1: f32 or a tile of f32, rounded to f16 or bf16

    **Example** `%r = tile.round %s to bf16 : tensor<64x128xf32>`
  }];
  let arguments = (ins Tile_F32OrTile:$source, TypeAttrOf<AnyTypeOf<[F16, BF16], "", "::mlir::FloatType">>:$to);
  let results = (outs Tile_F32OrTile:$result);
  let assemblyFormat = "$source `to` $to attr-dict `:` type($source)";
}
def Tile_DropoutKeyOp : Tile_Op<"dropout_key", [Pure]> {
  let summary = "the key of the random numbers that dropout uses for a batch and head";
  let description = [{
    The first three words of Philox4x32-10, the counter of which is `offset`, `head` and `batch`, and the key `seed`.
    [`attn.attention`](attn.md#attnattention-attnattentionop) says how `tile.keep` uses them.

    **Example** `%w0, %w1, %w2 = tile.dropout_key %seed, %offset at(%batch, %head)`
  }];
  let arguments = (ins I64:$seed, I64:$offset, I32:$batch, I32:$head);
  let results = (outs I32:$word0, I32:$word1, I32:$word2);
  let assemblyFormat = "$seed `,` $offset `at` `(` $batch `,` $head `)` attr-dict";
}
def Tile_KeepOp : Tile_Op<"keep", [Pure, AllTypesMatch<["queries", "keys"]>]> {
  let summary = "whether dropout keeps each pair of a query and a key";
  let description = [{
    `key` is a `tile.dropout_key`. A pair is kept if its random number of 16 bits is at least `drop`, which is from 0 to 2^16 - 1.
    One number of 64 bits decides on the four pairs {i, i + 8} x {j, j + 8}, all of which one thread has. Queries are the
    rows of the tile, or with `transposed` its columns.

    **Requires** `queries` and `keys` are `tile.coords`, with offsets that are multiples of 16.

    **Constraints**
    - C1: `queries` and `keys` have rank 2, and elements i32
    - C2: the result has their shape, and elements i1

    **Example**
    ```mlir
    %kept = tile.keep %queries, %keys key(%w0, %w1, %w2) drop(%drop) : tensor<64x128xi32> -> tensor<64x128xi1>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$queries, RankedTensorOf<[I32]>:$keys, I32:$word0, I32:$word1,
    I32:$word2, I32:$drop, UnitAttr:$transposed);
  let results = (outs RankedTensorOf<[I1]>:$result);
  let assemblyFormat = [{
    $queries `,` $keys (`transposed` $transposed^)? `key` `(` $word0 `,` $word1 `,` $word2 `)` `drop` `(` $drop `)` attr-dict
    `:` type($queries) `->` type($result)
  }];
  let hasVerifier = 1;
}
def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "whether any row of this warp is true";
  let description = [{
    The result is uniform in the warp. It is also true for rows of the warp that are false,
    so it may only guard work that changes nothing for such rows.

    **Example** `%failed = tile.any %overflow : tensor<64xi1>`
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasFolder = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure, SameOperandsAndResultShape,
    SameOperandsAndResultElementType]> {
  let summary = "the same tile in another layout";
  let description = [{
    Between the layouts of the accumulator and of the A operand, on 16-bit elements, no
    element moves to another thread.

    **Constraints**
    - C1: shapes and element types agree

    **Example**
    ```mlir
    %a = tile.convert_layout %p16
        : tensor<64x128xbf16, #tile.layout<atom = wgmma_acc, repeats = 16>>
        -> tensor<64x128xbf16, #tile.layout<atom = wgmma_a, repeats = 8>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Tile_AttendOp : Tile_Op<"attend", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "the softmax-weighted sum of V over the whole row, as one abstract reduction";
  let description = [{
    Adds one block of scores and values to a state that stands for
    sum_j softmax(s)_j v_j over the whole row; `tile.attend_result` reads it out.
    `attn-fuse-online-softmax` replaces both by the (m, l, O) recurrence. The scores are
    multiplied by `scale` first. A key for which `keep` is false counts in the softmax, but its value is not added.

    **Example**
    ```mlir
    %next = tile.attend %s, %v state(%acc) scale(%scale) : tensor<64x128xf32>, tensor<128x64xbf16> -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$scores, AnyRankedTensor:$values, AnyRankedTensor:$state, F32:$scale,
    Optional<RankedTensorOf<[I1]>>:$keep);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $scores `,` $values `state` `(` $state `)` `scale` `(` $scale `)` (`keep` `(` $keep^ `:` type($keep) `)`)? attr-dict
    `:` type($scores) `,` type($values) `->` type($result)
  }];
}
def Tile_AttendResultOp : Tile_Op<"attend_result", [Pure]> {
  let summary = "O (normalized) and LSE of an attend state";
  let description = [{
    `sinks` are scores without values, one for each row: they count in the sum of the softmax and in the LSE.

    **Example** `%out, %rows = tile.attend_result %acc : tensor<64x64xf32> -> tensor<64x64xf32>, tensor<64xf32>`
  }];
  let arguments = (ins AnyRankedTensor:$state, Optional<RankedTensorOf<[F32]>>:$sinks);
  let results = (outs AnyRankedTensor:$o, AnyRankedTensor:$lse);
  let assemblyFormat = "$state (`sinks` `(` $sinks^ `:` type($sinks) `)`)? attr-dict `:` type($state) `->` type($o) `,` type($lse)";
}

def Tile_PieceOp : Tile_Op<"piece", [Pure]> {
  let summary = "the rows of one sub-tile of a whole tile, or its columns";
  let description = [{
    **Example** `%rows = tile.piece %t[%i] : tensor<128x64xbf16> -> tensor<64x64xbf16>`
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$subtile, UnitAttr:$columns);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `[` $subtile `]` (`columns` $columns^)? attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
}
def Tile_ShareOp : Tile_Op<"share", [Pure, AllElementTypesMatch<["source", "result"]>]> {
  let summary = "a tile in shared memory, to which each sub-tile gives its rows";
  let description = [{
    The result is for matrix products, which read the rows of all sub-tiles. A step that holds this op
    computes nothing else. Until `attn-subtile` the source is the whole tile.

    **Constraints**
    - C1: the result has the columns of the source, and a multiple of its rows

    **Example** `%whole = tile.share %rows : tensor<64x64xbf16> -> tensor<128x64xbf16>`
  }];
  let arguments = (ins Tile_HalfTile:$source);
  let results = (outs Tile_HalfTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_SubtileIdOp : Tile_Op<"subtile_id", [Pure]> {
  let summary = "the number of the sub-tile that this program computes";
  let description = [{
    **Example** `%subtile = tile.subtile_id`
  }];
  let results = (outs I32:$id);
  let assemblyFormat = "attr-dict";
}

include "attn/dialect/TileCutOps.td"

#endif // ATTN_DIALECT_TILEOPS_TD
