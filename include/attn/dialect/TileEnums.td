// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_TILEENUMS_TD
#define ATTN_DIALECT_TILEENUMS_TD

include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::attn::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKind : Tile_Enum<"ReduceKind", "how a reduction combines elements", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"MaxFloored", 2, "max_floored">  // the maximum of the elements and 0
]>;
def Tile_RangeKind : Tile_Enum<"RangeKind", "what is done with the blocks of a range", [
  I32EnumAttrCase<"Masked", 0, "masked">, I32EnumAttrCase<"Full", 1, "full">,
  I32EnumAttrCase<"Skipped", 2, "skipped">]>;
def Tile_Direction : Tile_Enum<"Direction", "the order in which a loop runs over blocks", [
  I32EnumAttrCase<"Down", 0, "down">, I32EnumAttrCase<"Up", 1, "up">]>;
def Tile_Atom : Tile_Enum<"Atom", "register layout that an instruction fixes", [
  // wgmma's accumulator, 64 rows x 8 columns a repeat over 128 threads.
  I32EnumAttrCase<"WgmmaAcc", 0, "wgmma_acc">,
  // wgmma's A operand in registers, 64 rows x 16 columns a repeat, 16-bit elements.
  I32EnumAttrCase<"WgmmaA", 1, "wgmma_a">]>;

#endif // ATTN_DIALECT_TILEENUMS_TD
