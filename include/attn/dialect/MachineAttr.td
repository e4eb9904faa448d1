// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.machine: what a schedule needs to know of a target, as data. The
// machines are the files of passes/schedule/data/machines.
#ifndef ATTN_DIALECT_MACHINEATTR_TD
#define ATTN_DIALECT_MACHINEATTR_TD

include "attn/dialect/AttnEnums.td"

class Attn_MachinePartAttr<string name, string part> : AttrDef<Attn_Dialect, name> {
  let mnemonic = "machine_" # part;
}

def Attn_SpaceInfoAttr : Attn_MachinePartAttr<"SpaceInfo", "space"> {
  let summary = "a memory: `capacity` units of `unit` bytes; private: each warp has its own";
  let parameters = (ins EnumParameter<Attn_Space>:$name, "int64_t":$capacity,
    "int64_t":$unit, "bool":$isPrivate);
  let assemblyFormat = "$name `capacity` $capacity `unit` $unit `private` $isPrivate";
}
def Attn_MmaInfoAttr : Attn_MachinePartAttr<"MmaInfo", "mma"> {
  let summary = "where an MMA's accumulator and operands may lie; whether its end can signal a barrier";
  let parameters = (ins EnumParameter<Attn_Space>:$accumulator,
    ArrayRefParameter<"::attn::Space">:$a, ArrayRefParameter<"::attn::Space">:$b,
    "bool":$signalsBarriers);
  let assemblyFormat = [{
    `acc` $accumulator `a` `[` $a `]` `b` `[` $b `]` `signals_barriers` $signalsBarriers
  }];
}
def Attn_RegisterInfoAttr : Attn_MachinePartAttr<"RegisterInfo", "registers"> {
  let summary = "the registers that a role may ask for";
  let description = [{
    A role asks for a multiple of `granule` in `lowest`..`highest`. Declared places cannot use `reserve` of these registers, or
    `reserve_small` in a role with at most `small`.
  }];
  let parameters = (ins "int64_t":$lowest, "int64_t":$highest,
    "int64_t":$granule, "int64_t":$reserve, "int64_t":$small, "int64_t":$reserve_small);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Attn_BarrierInfoAttr : Attn_MachinePartAttr<"BarrierInfo", "barriers"> {
  let summary = "barriers that a schedule may use: named ones (hardware ids), and barriers in memory";
  let parameters = (ins "int64_t":$named, "int64_t":$memory, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Attn_WarpInfoAttr : Attn_MachinePartAttr<"WarpInfo", "warps"> {
  let summary = "lanes of a warp, warps of the group that shares a register count, and the most warps of a CTA";
  let parameters = (ins "int64_t":$lanes, "int64_t":$group, "int64_t":$most);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Attn_TileInfoAttr : Attn_MachinePartAttr<"TileInfo", "tiles"> {
  let summary = "limits on the shapes of tiles: rows of a group, columns, contracted elements, and rows of a copy";
  let description = [{
    A group of warps computes tiles of `rows` rows, whose columns are a multiple of
    `columns`. A product sums up a multiple of `depth` elements. A copy brings at most
    `copied` rows.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "int64_t":$depth, "int64_t":$copied);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Attn_MachineAttr : AttrDef<Attn_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "a target: the limits that schedules must keep";
  let description = [{
    `chip`: the chip whose instructions it has; absent: the chip with its own name. `spaces`: the
    memory that one CTA can have; `smem` includes its barriers.
    `tiles`: the shapes that the compiler has lowerings for; absent: any.
    `lacks`: the features of schedules that the compiler has no lowering for on this machine.

    **Constraints**
    - C1: a space is described once; sizes are positive
    - C2: the spaces that `mma` names are described, and `reg` is
  }];
  let parameters = (ins "::mlir::StringAttr":$name, OptionalParameter<"::mlir::StringAttr">:$chip,
    ArrayRefParameter<"::attn::SpaceInfoAttr">:$spaces, "::attn::MmaInfoAttr":$mma,
    "::attn::RegisterInfoAttr":$registers, "::attn::BarrierInfoAttr":$barriers,
    "::attn::WarpInfoAttr":$warps,
    OptionalParameter<"::attn::TileInfoAttr">:$tiles,
    OptionalArrayRefParameter<"::attn::Mechanism">:$lacks);
  let assemblyFormat = [{
    `<` $name (`chip` $chip^)? `spaces` `[` $spaces `]` `mma` $mma `registers` $registers
    `barriers` $barriers `warps` $warps
    (`tiles` $tiles^)? (`lacks` `[` $lacks^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The description of a space; null where the machine has none.
    ::attn::SpaceInfoAttr findSpace(::attn::Space space) const;
    ::llvm::StringRef getChipName() const { return getChip() ? getChip() : getName(); }
    /// Registers of one CTA.
    int64_t getRegisterCount() const;
    /// Bytes of shared memory that one CTA can have, barriers included.
    int64_t getSmemLimit() const;
  }];
}

#endif // ATTN_DIALECT_MACHINEATTR_TD
