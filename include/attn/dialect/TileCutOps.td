// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work items cut along the keys into parts, and the parts brought together.
#ifndef ATTN_DIALECT_TILECUTOPS_TD
#define ATTN_DIALECT_TILECUTOPS_TD

include "attn/dialect/TileTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_CutOp : Tile_Op<"cut", [Pure]> {
  let summary = "which items the launch cuts along the keys, and in how many parts";
  let description = [{
    Those from number `whole` on are handed out as `parts` items each, one after the
    other, `most` at most. Where none is cut, `whole` is the number of items. The launch
    plan decides: by how many items the launch has, and by how many blocks of `block`
    positions `length` has.
  }];
  let arguments = (ins I32:$length, ConfinedAttr<I64Attr, [IntPositive]>:$block,
    ConfinedAttr<I64Attr, [IntMinValue<2>]>:$most);
  let results = (outs I32:$whole, I32:$parts);
  let assemblyFormat = "$length `by` $block `most` $most attr-dict";
}

def Tile_PartOfOp : Tile_Op<"part_of", [Pure]> {
  let summary = "the number of a work item among the parts of its item";
  let description = [{
    `item` is the number of that item among those that are cut. Where `is_part` is false
    the item is not cut, and both numbers are any.
  }];
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs I32:$part, I1:$is_part, I32:$item);
  let assemblyFormat = "$work attr-dict";
}

def Tile_JoinOp : Tile_Op<"join", [SingleBlock, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "brings values of the parts of an item together in the last of them";
  let description = [{
    The last part waits for the others, and merges what they have into its own, part 0
    first. The region takes what has been merged so far and what another part has. The
    other parts hand over what they have, and, like items that are not cut, keep it.

    A part waits for parts of smaller numbers alone, and they are handed out in order: a
    part that is waited for has been taken by a CTA that runs, and the one of the smallest
    number waits for none.

    **Constraints**
    - C1: results and yielded values have the types of `values`; the region takes these twice
    - C2: `values` are tiles or vectors of f32
    - C3: in no loop but the one over work items
  }];
  let arguments = (ins Tile_WorkType:$work, I32:$parts, Variadic<AnyType>:$values);
  let results = (outs Variadic<AnyType>:$results_);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $work `of` $parts `(` $values `)` attr-dict-with-keyword `:`
    functional-type($values, $results_) $body
  }];
  let hasRegionVerifier = 1;
}

#endif // ATTN_DIALECT_TILECUTOPS_TD
