// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #attn.problem, #attn.config and #attn.schedule. The parts of a schedule are
// attributes of their own that only #attn.schedule prints.
#ifndef ATTN_DIALECT_SCHEDULEATTRS_TD
#define ATTN_DIALECT_SCHEDULEATTRS_TD

include "attn/dialect/AttnEnums.td"
include "attn/dialect/MachineAttr.td"
include "attn/dialect/ValuesAttr.td"

class Attn_Attr<string name, string attrMnemonic> : AttrDef<Attn_Dialect, name> {
  let mnemonic = attrMnemonic;
}
// A part of a schedule: never printed alone.
class Attn_PartAttr<string name> : AttrDef<Attn_Dialect, name> {
  let attrName = "attn.part." # name;
}

def Attn_ProblemAttr : Attn_Attr<"Problem", "problem"> {
  let summary = "what a kernel computes: the compile-time part of the problem";
  let parameters = (ins EnumParameter<Attn_KernelKind>:$kind, "::mlir::Type":$dtype,
    "int64_t":$head_dim, "int64_t":$head_dim_v, EnumParameter<Attn_LayoutKind>:$layout,
    EnumParameter<Attn_MaskKind>:$mask, EnumParameter<Attn_RegionKind>:$score_region,
    EnumParameter<Attn_RegionKind>:$mask_region,
    DefaultValuedParameter<"::attn::MaskBounds", "::attn::MaskBounds::None">:$bounds);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_ConfigAttr : Attn_Attr<"Config", "config"> {
  let summary = "the shape of one CTA's work";
  let description = [{
    `tile_m` x `tile_n`: rows of Q and of K/V in one step of a CTA. `tile_d`,
    `tile_dv`: columns of the tiles of Q and K, and of V and O (0: the head dims);
    columns past the head dim are zero. `work` and
    `order`: how work items reach CTAs. `section_mib`: the heads are worked
    through in sections of as many as have at most so many MiB of K and V, which
    then stay in the L2 cache (0: one section). `rescale_threshold` (log2 units): O is
    rescaled only when the running maximum of a row grew by more (0: always;
    the probabilities then reach 2^threshold, which fp32 sums and bf16 hold, and
    f16 up to 15).
    `row_max`: what the exponentials of a row are taken relative to: its `running`
    maximum; or that of its `first_block` with keys until its sum grows large; or
    its running maximum as an `integer`, which is at least 0. After the latter two the
    item is computed again from a running maximum where the sum overflowed or is small.
    `exp2_degree`: degree of the polynomial for the share of exponentials that
    the schedule moves off the exponential unit. `cta_group`: CTAs that share one
    MMA. `cluster`: CTAs of a cluster, whose row blocks follow one another in one head: they
    walk the same blocks of keys, those of all their rows together.
    `pack_gqa`: so many query heads, all of one head of K and V, share the rows of
    a tile: row r is query r / n of head r mod n. For few queries. Launches have to have
    as many query heads for one of K and V. `last_wave_parts`: items beyond the last that
    fill all SMs at once are cut along the keys in up to so many parts, where the launch
    then ends earlier; the last part of an item combines them (1: never). `rung`: of the
    ladder of entries that the problem has, the one that this is from (0: the first).

    **Constraints**
    - C1: tile sizes are at least 1
    - C2: `rescale_threshold` is in 0..64
    - C3: `exp2_degree` is in 3..5
    - C4: `cta_group` is 1 or 2
    - C5: `tile_d` and `tile_dv` are 0 or multiples of 16 up to 256
    - C6: `section_mib` is in 0..1024, and 0 unless `order` is `longest_first`
    - C7: `row_max` is `running` where `work` is `static`
    - C8: `pack_gqa` is a power of two up to 64 that divides `tile_m`
    - C9: `cluster` is 1 or 2
    - C10: `last_wave_parts` is in 1..16, and 1 unless `work` is `dynamic` and `cluster` 1
    - C11: `rung` is at least 0
  }];
  let parameters = (ins "int64_t":$tile_m, "int64_t":$tile_n,
    EnumParameter<Attn_WorkKind>:$work, DefaultValuedParameter<"::attn::WorkOrder", "::attn::WorkOrder::Linear">:$order,
    DefaultValuedParameter<"int64_t", "0">:$section_mib,
    DefaultValuedParameter<"int64_t", "0">:$rescale_threshold,
    DefaultValuedParameter<"::attn::RowMax", "::attn::RowMax::Running">:$row_max,
    DefaultValuedParameter<"int64_t", "3">:$exp2_degree,
    DefaultValuedParameter<"int64_t", "1">:$cta_group,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "0">:$tile_d,
    DefaultValuedParameter<"int64_t", "0">:$tile_dv,
    DefaultValuedParameter<"int64_t", "1">:$pack_gqa,
    DefaultValuedParameter<"int64_t", "1">:$last_wave_parts,
    DefaultValuedParameter<"int64_t", "0">:$rung);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_SplitAttr : Attn_PartAttr<"Split"> {
  let summary = "sub-tiles: values whose type has `axis` are cut in `count`";
  // also: a value that lacks the axis, and the axis it is cut along instead
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$count,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$whole,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$alsoValues,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$alsoAxes);
}
def Attn_RoleAttr : Attn_PartAttr<"Role"> {
  let summary = "a role: `replicas` (0: not replicated) x `warps` warps with `regs` registers a thread";
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$replicas, "int64_t":$warps,
    "int64_t":$regs, "bool":$onLeader);
}
def Attn_PlaceAttr : Attn_PartAttr<"Place"> {
  let summary = "storage for values: a channel (with barriers) or a hold (without)";
  // cycles: alternatives that take slots in turn; the values of one cycle share a slot and a barrier.
  // parts: numerators and denominators, flattened. over: host place, null where the place has storage
  // of its own; overCross: of the other sub-tile.
  let parameters = (ins "::mlir::StringAttr":$name, "bool":$channel,
    ArrayRefParameter<"::mlir::ArrayAttr">:$cycles, "::attn::Space":$space, "int64_t":$depth,
    OptionalArrayRefParameter<"int64_t">:$parts, "::mlir::StringAttr":$over, "bool":$overCross,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$only, "bool":$fullImplied, "bool":$freeImplied,
    "::attn::Granularity":$granularity, "::attn::Scope":$scope);
}
def Attn_EdgeAttr : Attn_PartAttr<"Edge"> {
  let summary = "order without data: the first `credits` waits pass; joinsPlace: null, or the channel it arrives on";
  let parameters = (ins "::mlir::StringAttr":$name, "bool":$split, "::mlir::StringAttr":$joinsPlace,
    "int64_t":$joinsPart, "int64_t":$credits, "::attn::Scope":$scope);
}
def Attn_TurnAttr : Attn_PartAttr<"Turn"> {
  let summary = "a ring of edges between the replicas of `ring`, primed at replica 0";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$ring, "bool":$unprimed);
}
def Attn_SyncAttr : Attn_PartAttr<"Sync"> {
  let summary = "a rendezvous of all replicas of `ring`";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$ring);
}
def Attn_EntryAttr : Attn_PartAttr<"Entry"> {
  let summary = "one entry of a body; subtile and part are -1 where not given";
  let parameters = (ins "::attn::Guard":$guard, "::attn::Act":$act, "::mlir::StringAttr":$target,
    "int64_t":$subtile, "int64_t":$part, "int64_t":$shift);
}
def Attn_BodyAttr : Attn_PartAttr<"Body"> {
  let summary = "the entries of one role (replica -1: of all its replicas), in issue order";
  let parameters = (ins "::mlir::StringAttr":$role, "int64_t":$replica,
    OptionalArrayRefParameter<"::attn::EntryAttr">:$before,
    OptionalArrayRefParameter<"::attn::EntryAttr">:$kv,
    OptionalArrayRefParameter<"::attn::EntryAttr">:$after);
}
def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "who does which step, in what order, how deep: one mapping as data";
  let description = [{
    ```
    schedule := `<` name `machine` name `{` item* `}` `>`
    item   := `split` axis n [`whole` `(` value,.. `)`] [`also` `(` value `:` axis,.. `)`]
            | `remat` `(` step,.. `)`
            | `role` name [`[` n `]`] `warps` n `regs` n [`on` `leader`]
            | `chan` name `=` cycle (`|` cycle)* `in` space option*   // cycle := value (`+` value)*
            | `hold` name `=` value `in` space option*
            | `turn` name `ring` role [`unprimed`]
            | `sync` name `ring` role
            | `edge` name [`split`] [`joins` chan `:` part] [`credits` n] [`scope` scope]
            | `knob` `exp2_soft` n `of` n | `knob` `peel` (`none` | `first` | `first_masked` | `first_branch`)
            | `knob` `skip` (`none` | `right`)
            | `knob` `launch` (`alone` | `dependent`)
            | `body` role [`[` n `]`] `{` [`before` list] [`kv` list] [`after` list] `}`
    option := in this order: `depth` n, `parts` `(` n `of` n,.. `)`, `over` place [`[` `cross` `]`],
              `for` `(` step,.. `)`, `full_implied`, `free_implied`, `gran` granularity, `scope` scope
    list   := `{` entry* `}`
    entry  := [guard `:`] (step [`[` n `]`] [`:` part] | act `(` name [`[` n `]`] `)`) [`+` shift]
    ```
    A channel of `scope cluster` is filled for all CTAs of the cluster at once, each of
    which loads a share of every tile, and is free when all of them have released it; an edge
    of that scope is signalled by all CTAs to all CTAs.
    With `skip right` a sub-tile leaves blocks without keys of its own rows at the right
    end to the others. With `launch dependent` CTAs may start before the launch ahead of
    them in the stream has ended, and wait for that before they touch global memory.
    `x[n]` is a sub-tile of x, `: n` a part, `+ n` a shift by n iterations (in `before` and
    `after`: work items). `over x[cross]` lies over the other sub-tile of x. A name that is
    a guard's word or no identifier is quoted.

    **Constraints** (what fits a kernel and a machine is judged by `attn-verify-schedule`)
    - C1: the names of roles, of places, of edges and turns, and of rendezvous are different
    - C2: one body a role and replica
    - C3: denominators are at least 1, `exp2_soft` is at most 1, a split has at least 1 sub-tile
    - C4: replicas, sub-tiles, depths, parts, credits and shifts are at most 64
    - C5: `skip right` goes with a split of at least 2 sub-tiles
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$machine,
    "::attn::SplitAttr":$split, // null: not cut
    OptionalArrayRefParameter<"::mlir::StringAttr">:$remat,
    ArrayRefParameter<"::attn::RoleAttr">:$roles,
    OptionalArrayRefParameter<"::attn::PlaceAttr">:$places,
    OptionalArrayRefParameter<"::attn::EdgeAttr">:$edges,
    OptionalArrayRefParameter<"::attn::TurnAttr">:$turns,
    OptionalArrayRefParameter<"::attn::SyncAttr">:$syncs,
    "int64_t":$exp2SoftNumerator, "int64_t":$exp2SoftDenominator, "::attn::Peel":$peel, "::attn::Skip":$skip,
    "::attn::Launch":$launch,
    OptionalArrayRefParameter<"::attn::BodyAttr">:$bodies);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Number of sub-tiles: 1 where nothing is cut.
    int64_t getSubtiles() const { return getSplit() ? getSplit().getCount() : 1; }
    /// The same schedule for another machine.
    ::attn::ScheduleAttr forMachine(::llvm::StringRef machine) const;
    ::attn::RoleAttr findRole(::llvm::StringRef name) const;
    ::attn::PlaceAttr findPlace(::llvm::StringRef name) const;
    /// The body of a replica, or the role's common one; null if there is none.
    ::attn::BodyAttr findBody(::llvm::StringRef role, int64_t replica = -1) const;
  }];
}

#endif // ATTN_DIALECT_SCHEDULEATTRS_TD
