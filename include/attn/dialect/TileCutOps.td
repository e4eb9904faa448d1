// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work items that are cut along the side that they stream into parts, the join of the parts, and
// loops that leave out keys.
#ifndef ATTN_DIALECT_TILECUTOPS_TD
#define ATTN_DIALECT_TILECUTOPS_TD

include "attn/dialect/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_CutOp : Tile_Op<"cut", [Pure]> {
  let summary = "which items the launch cuts along the side that they stream, and into how many parts";
  let description = [{
    Each item from number `whole` on is handed out as `parts` items in a row, at most `most`.
    If no item is cut, `whole` is the number of items. The launch plan decides, from the number
    of items of the launch and from the number of blocks of `block` positions in `length`.

    **Example** `%whole, %parts = tile.cut %length by 128 most 8`
  }];
  let arguments = (ins I32:$length, ConfinedAttr<I64Attr, [IntPositive]>:$block,
    ConfinedAttr<I64Attr, [IntMinValue<2>]>:$most);
  let results = (outs I32:$whole, I32:$parts);
  let assemblyFormat = "$length `by` $block `most` $most attr-dict";
}

def Tile_PartOfOp : Tile_Op<"part_of", [Pure]> {
  let summary = "the number of a part in its item, and of that item among those that are cut";
  let description = [{
    If `is_part` is false the item is not cut, and `part` and `item` are unspecified.

    **Example** `%part, %is_part, %item = tile.part_of %w`
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$part, I1:$is_part, I32:$item);
  let assemblyFormat = "$work attr-dict";
}

def Tile_JoinOp : Tile_Op<"join", [SingleBlock, MemoryEffects<[MemRead, MemWrite]>,
    RangedTypesMatchWith<"results have the types of 'values'", "values", "results_", "$_self">]> {
  let summary = "merges the values of all parts of an item in its last part";
  let description = [{
    The last part waits for the others and merges their values into its own, part 0
    first. The arguments of the region are the values merged so far and those of the next
    part. The other parts hand their values over. For them, and for an item that is not
    cut, the results are the operands.

    This cannot deadlock. A part waits only for parts with smaller numbers, and parts are
    handed out in the order of their numbers: a running CTA has taken every part that is
    waited for, and part 0 waits for none.

    **Constraints**
    - C1: results and yielded values have the types of `values`; the region has two arguments
      of each of these types
    - C2: `values` are tiles or vectors of f32
    - C3: in no loop except the one over work items

    **Example**
    ```mlir
    %sum = tile.join %w of %parts(%l) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%merged: tensor<64xf32>, %other: tensor<64xf32>):
      %both = arith.addf %merged, %other : tensor<64xf32>
      tile.yield %both : tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins Tile_WorkType:$work, I32:$parts, Variadic<Tile_JoinedValue>:$values);
  let results = (outs Variadic<Tile_JoinedValue>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $work `of` $parts `(` $values `)` attr-dict-with-keyword `:`
    functional-type($values, $results_) $body
  }];
  let hasRegionVerifier = 1;
}

def Tile_SkipOp : Tile_Op<"skip", [Pure, SameOperandsAndResultType]> {
  let summary = "the block of an iteration, in a loop over two runs of blocks";
  let description = [{
    `%iteration` itself before `%from`, and `%gap` more from there on. The gap is not negative:
    each iteration has its own block.

    **Example** `%block = tile.skip %iteration from %from by %gap`
  }];
  let arguments = (ins I32:$iteration, I32:$from, I32:$gap);
  let results = (outs I32:$block);
  let assemblyFormat = "$iteration `from` $from `by` $gap attr-dict";
}

#endif // ATTN_DIALECT_TILECUTOPS_TD
